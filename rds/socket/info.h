// SPDX-License-Identifier: BSD-3-Clause
// All that RDS_INFO_* can tell of a process.
#ifndef SOFTDAT_RDS_SOCKET_INFO_H_
#define SOFTDAT_RDS_SOCKET_INFO_H_

#include <vector>

#include "rds/protocol/counters.h"
#include "rds/socket/info_items.h"

namespace softdat::rds {

struct Info {
  Counters counters;
  std::vector<ConnectionInfo> connections;
  std::vector<RdmaConnectionInfo> rdma_connections;  // the same, in the same order
  std::vector<SocketInfo> sockets;
  // Not yet sent on a connection that is up; sent, and not acknowledged; not yet received.
  std::vector<MessageInfo> unsent, unacknowledged, arrived;

  // Adds those of another process.
  Info& operator+=(const Info& other);
};

// What one option tells of it.
InfoItems EncodeInfo(const Info& info, const InfoOption& option);

}  // namespace softdat::rds

#endif  // SOFTDAT_RDS_SOCKET_INFO_H_
