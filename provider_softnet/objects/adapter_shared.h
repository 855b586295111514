// SPDX-License-Identifier: BSD-3-Clause
// What all objects of one adapter share, whatever its wire.
#ifndef SOFTDAT_PROVIDER_SOFTNET_OBJECTS_ADAPTER_SHARED_H_
#define SOFTDAT_PROVIDER_SOFTNET_OBJECTS_ADAPTER_SHARED_H_

#include <cstdint>
#include <functional>

#include "dat/transport/transport.h"
#include "provider_softnet/driver/driver.h"
#include "provider_softnet/memory/memory_table.h"

namespace softdat::softnet {

// Choices that settings and tests make, for any wire.
struct AdapterOptions {
  DriverOptions driver;
  bool check_memory = false;  // asks the kernel about registered memory before each access

  static AdapterOptions FromSettings();
};

// Every object of the adapter holds this, so the driver dies last.
struct AdapterShared {
  // `random` is for the keys of memory (MemoryTable).
  AdapterShared(const AdapterOptions& options, const transport::AdapterAttributes& a,
                uint32_t interface, bool chosen, std::function<uint64_t()> random);
  ~AdapterShared();
  AdapterShared(const AdapterShared&) = delete;
  AdapterShared& operator=(const AdapterShared&) = delete;

  const transport::AdapterAttributes attributes;
  const uint32_t interface_index;  // for link-local destinations without a scope
  const bool address_chosen;       // its address was asked for
  MemoryTable memory;
  Driver driver;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_OBJECTS_ADAPTER_SHARED_H_
