// SPDX-License-Identifier: BSD-3-Clause
// The process's limit of descriptors. Many hosts set a low soft limit below a high hard one.
#ifndef SOFTDAT_PROVIDER_SOFTNET_DRIVER_DESCRIPTOR_LIMIT_H_
#define SOFTDAT_PROVIDER_SOFTNET_DRIVER_DESCRIPTOR_LIMIT_H_

namespace softdat::softnet {

// To be called after EMFILE: doubles the soft limit, up to the hard one, and logs that. Returns
// true when another try is worth it.
bool RaiseDescriptorLimit();

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_DRIVER_DESCRIPTOR_LIMIT_H_
