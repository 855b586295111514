// SPDX-License-Identifier: BSD-3-Clause
// One IA name that this library has registered as a provider: its table, its key, its parameters.
#ifndef SOFTDAT_DAT_ENGINE_REGISTRATION_H_
#define SOFTDAT_DAT_ENGINE_REGISTRATION_H_

#include <string>

#include "dat2/dat_registry.h"
#include "dat2/udat.h"

namespace softdat::engine {

struct Registration {
  DAT_PROVIDER table{};      // the registry and every handle of this IA point to it
  DAT_PROVIDER_INFO info{};  // the registry key: IA attributes must repeat it (semantics 2.1)
  std::string ia_name;
  std::string parameters;  // of dat.conf: the device to open when it differs from the IA name
};

// Fills in every slot of `table` (provider_table.cc), for a registry entry that is "thread-safe" or
// not. If failed calls are logged when this is called, the slots are functions that log them.
void FillProviderTable(DAT_PROVIDER* table, bool thread_safe);

// The registration of this IA name and thread-safety flag, or null (provider.cc).
const Registration* FindRegistration(const std::string& ia_name, bool thread_safe);

}  // namespace softdat::engine

#endif  // SOFTDAT_DAT_ENGINE_REGISTRATION_H_
