// SPDX-License-Identifier: BSD-3-Clause
#ifndef SOFTDAT_PROVIDER_SOFTNET_DRIVER_BUSY_POLLING_H_
#define SOFTDAT_PROVIDER_SOFTNET_DRIVER_BUSY_POLLING_H_

namespace softdat::softnet {

// SOFTDAT_BUSY_POLL_US: lets a look at the socket poll the network device, so that a message need
// not wait for the device's interrupt (SO_BUSY_POLL), and asks the device to hold its interrupts
// back meanwhile (SO_PREFER_BUSY_POLL). Connections inherit it from the socket that they were
// accepted from. The first refusal of each in the process is logged, with the remedy.
void AllowBusyPolling(int fd);

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_DRIVER_BUSY_POLLING_H_
