// SPDX-License-Identifier: BSD-3-Clause
// Version of SoftDAT.
#ifndef SOFTDAT_DAT_REGISTRY_VERSION_H_
#define SOFTDAT_DAT_REGISTRY_VERSION_H_

namespace softdat::registry {

inline constexpr char kVersion[] = "0.1.0";

}  // namespace softdat::registry

#endif  // SOFTDAT_DAT_REGISTRY_VERSION_H_
