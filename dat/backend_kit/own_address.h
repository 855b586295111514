// SPDX-License-Identifier: BSD-3-Clause
// Addresses of this host.
#ifndef SOFTDAT_DAT_BACKEND_KIT_OWN_ADDRESS_H_
#define SOFTDAT_DAT_BACKEND_KIT_OWN_ADDRESS_H_

#include <sys/socket.h>

namespace softdat {

// Whether one of the interfaces, up or down, has the address now. Also false when the kernel does
// not tell.
bool IsOwnAddress(const sockaddr_storage& address);

}  // namespace softdat

#endif  // SOFTDAT_DAT_BACKEND_KIT_OWN_ADDRESS_H_
