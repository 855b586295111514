// SPDX-License-Identifier: BSD-3-Clause
// The process's limit of descriptors: many hosts set a low soft limit below a high hard one.
#ifndef SOFTDAT_PROVIDER_SOFTNET_DRIVER_DESCRIPTOR_LIMIT_H_
#define SOFTDAT_PROVIDER_SOFTNET_DRIVER_DESCRIPTOR_LIMIT_H_

namespace softdat::softnet {

// After EMFILE: doubles the soft limit, up to the hard one (logged). True when it is worth trying
// again.
bool RaiseDescriptorLimit();

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_DRIVER_DESCRIPTOR_LIMIT_H_
