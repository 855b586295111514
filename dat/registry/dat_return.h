// SPDX-License-Identifier: BSD-3-Clause
// Return values for libdat2's own checks, with their reason.
#ifndef SOFTDAT_DAT_REGISTRY_DAT_RETURN_H_
#define SOFTDAT_DAT_REGISTRY_DAT_RETURN_H_

#include <dat2/udat.h>

#include <string>

namespace softdat::registry {

// Class error, type and subtype in one word.
constexpr DAT_RETURN DatError(DAT_RETURN_TYPE type, DAT_RETURN_SUBTYPE subtype) {
  return DAT_CLASS_ERROR | static_cast<DAT_RETURN>(type) | static_cast<DAT_RETURN>(subtype);
}

// What a call of the C API returns when an allocation in it fails.
inline constexpr DAT_RETURN kNoMemory = DatError(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY);

// Starts a new reason chain for the calling thread and returns the error.
DAT_RETURN Refuse(DAT_RETURN_TYPE type, DAT_RETURN_SUBTYPE subtype, std::string reason);

// The same, with the chain that the thread has already built.
DAT_RETURN RefuseWithChain(DAT_RETURN_TYPE type, DAT_RETURN_SUBTYPE subtype);

}  // namespace softdat::registry

#endif  // SOFTDAT_DAT_REGISTRY_DAT_RETURN_H_
