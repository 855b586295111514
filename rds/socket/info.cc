// SPDX-License-Identifier: BSD-3-Clause
#include "rds/socket/info.h"

namespace softdat::rds {

Info& Info::operator+=(const Info& other) {
  const auto append = [](auto* all, const auto& more) {
    all->insert(all->end(), more.begin(), more.end());
  };
  counters += other.counters;
  append(&connections, other.connections);
  append(&rdma_connections, other.rdma_connections);
  append(&sockets, other.sockets);
  append(&unsent, other.unsent);
  append(&unacknowledged, other.unacknowledged);
  append(&arrived, other.arrived);
  return *this;
}

InfoItems EncodeInfo(const Info& info, const InfoOption& option) {
  const InfoForm form = option.form;
  switch (option.kind) {
    case InfoKind::kCounters:
      return EncodeInfo(info.counters);
    case InfoKind::kConnections:
      return EncodeInfo(info.connections, form);
    case InfoKind::kSendMessages:
      return EncodeInfo(info.unsent, form);
    case InfoKind::kRetransmitMessages:
      return EncodeInfo(info.unacknowledged, form);
    case InfoKind::kReceiveMessages:
      return EncodeInfo(info.arrived, form);
    case InfoKind::kSockets:
      return EncodeInfo(info.sockets, form);
    case InfoKind::kRdmaConnections:
      return EncodeInfo(info.rdma_connections, form);
  }
  return {};
}

}  // namespace softdat::rds
