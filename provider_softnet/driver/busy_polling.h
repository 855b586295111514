// SPDX-License-Identifier: BSD-3-Clause
#ifndef SOFTDAT_PROVIDER_SOFTNET_DRIVER_BUSY_POLLING_H_
#define SOFTDAT_PROVIDER_SOFTNET_DRIVER_BUSY_POLLING_H_

namespace softdat::softnet {

// SOFTDAT_BUSY_POLL_US: lets a look at the socket poll the network device, so that a message need
// not wait for the device's interrupt (SO_BUSY_POLL, SO_PREFER_BUSY_POLL). Connections inherit it
// from the socket that they were accepted from. When the kernel refuses, the first refusal in the
// process is logged, with the remedy, and the socket is as it was.
void AllowBusyPolling(int fd);

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_DRIVER_BUSY_POLLING_H_
