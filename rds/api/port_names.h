// SPDX-License-Identifier: BSD-3-Clause
// The ports that the processes of this host have bound. Their table is the kernel's table of unix
// sockets with abstract names, one for each network namespace: nobody has to keep it, and when a
// process ends, however it ends, its ports are free.
//
//   softdat-rds/ADDRESS/PORT                          taken: one socket only can have the name
//   softdat-rds/ADDRESS/PORT/at/INSTANCE/SERVICE      where it is
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

// Reads the kernel's table.
class PortTable : public Directory {
 public:
  Location Find(const SocketName& name) const override;
};

// The location in a line of /proc/net/unix, if it is about that port; else a service of 0.
Location LocationIn(const std::string& line, const SocketName& name);

}  // namespace softdat::rds

#endif  // SOFTDAT_RDS_API_PORT_NAMES_H_
