// SPDX-License-Identifier: BSD-3-Clause
// The bell: a byte on the local socket of two processes tells the other one to look at the memory.
#ifndef SOFTDAT_PROVIDER_SOFTNET_SHM_BELL_H_
#define SOFTDAT_PROVIDER_SOFTNET_SHM_BELL_H_

namespace softdat::softnet {

// Rings the bell at the other end. Errors are left to those who read the socket.
void RingBell(int fd);
// Takes what was rung. Returns false at the end of the socket.
bool SilenceBell(int fd);

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_SHM_BELL_H_
