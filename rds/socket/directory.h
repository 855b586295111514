// SPDX-License-Identifier: BSD-3-Clause
// Which process of this host has a port.
#ifndef SOFTDAT_RDS_SOCKET_DIRECTORY_H_
#define SOFTDAT_RDS_SOCKET_DIRECTORY_H_

#include "rds/socket/address.h"
#include "rds/socket/introduction.h"

namespace softdat::rds {

class Directory {
 public:
  virtual ~Directory() = default;

  // A service of 0 when nobody has it. kPingPort: any process that has the address. A link-local
  // address without a scope: of any link.
  virtual Location Find(const SocketName& name) const = 0;
  // Which process answers for an own address where RDS itself listens.
  Location Holder(const Address& own) const { return Find({own, kReservedPort}); }
  // Whether a process of this host knows that a kernel is at that address.
  virtual bool IsKernel(const Address& /*own*/, const Address& /*peer*/) const { return false; }
};

}  // namespace softdat::rds

#endif  // SOFTDAT_RDS_SOCKET_DIRECTORY_H_
