// SPDX-License-Identifier: BSD-3-Clause
// The softnet back end: iWARP in user space over TCP, on any network interface.
#ifndef SOFTDAT_PROVIDER_SOFTNET_DRIVER_BACKEND_H_
#define SOFTDAT_PROVIDER_SOFTNET_DRIVER_BACKEND_H_

#include <memory>

#include "dat/transport/transport.h"

namespace softdat::softnet {

// IA names are "softnet-" and an interface's name. Open() takes the IA name or just the
// interface's.
std::unique_ptr<transport::Backend> MakeBackend();

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_DRIVER_BACKEND_H_
