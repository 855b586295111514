// SPDX-License-Identifier: BSD-3-Clause
// The ports that the processes of this host have bound. Their table is the kernel's table of unix
// sockets with abstract names, one for each network namespace: nobody has to keep it, and when a
// process ends, however it ends, its ports are free.
//
//   softdat-rds/ADDRESS/PORT                          taken: one socket only can have the name
//   softdat-rds/ADDRESS/PORT/at/INSTANCE/SERVICE      where it is
//   softdat-rds/ADDRESS/1/at/INSTANCE/SERVICE         who has RDS's own service there
//   softdat-rds/ADDRESS/kernel/ADDRESS                a kernel is at the second one
#ifndef SOFTDAT_RDS_API_PORT_NAMES_H_
#define SOFTDAT_RDS_API_PORT_NAMES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "rds/socket/address.h"
#include "rds/socket/directory.h"
#include "rds/socket/introduction.h"

namespace softdat::rds {

// Gives the name of a port to a unix socket. 0 or an errno: EADDRINUSE.
int TakePort(int unix_socket, const SocketName& name);
// Says where the port is, for as long as this unix socket is open. 0 or an errno.
int PublishPort(int unix_socket, const SocketName& name, const Location& location);

// Say that this process has RDS's own service at an address, and that a kernel is at a peer's. That
// holds for as long as the process lives, and not for a child of fork that has called CloseNames().
// The names are of use to others only: when there is none to be had, nothing more can be done.
void PublishHolder(const Address& own, const Location& here);
void PublishKernel(const Address& own, const Address& peer);
void CloseNames();

// Reads the kernel's table.
class PortTable : public Directory {
 public:
  Location Find(const SocketName& name) const override;
  bool IsKernel(const Address& own, const Address& peer) const override;
};

// The location in a line of /proc/net/unix, if it is about that port, or for kPingPort about any of
// the address; else a service of 0. A link-local address without a scope is that of any link.
Location LocationIn(const std::string& line, const SocketName& name);

}  // namespace softdat::rds

#endif  // SOFTDAT_RDS_API_PORT_NAMES_H_
