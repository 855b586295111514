// SPDX-License-Identifier: BSD-3-Clause
// A connection of RdsNetwork, and what is posted on it.
#ifndef SOFTDAT_TESTS_SIM_RDS_WIRE_H_
#define SOFTDAT_TESTS_SIM_RDS_WIRE_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "rds/socket/address.h"
#include "rds/socket/control_messages.h"
#include "rds/socket/link.h"

namespace softdat::sim {

class RdsLink;

// A frame or an operation.
struct RdsWork {
  std::vector<uint8_t> frame{};
  bool fence = false;
  uint64_t id = 0;  // of an operation
  std::optional<rds::RdmaOperation> rdma{};
  std::optional<rds::AtomicOperation> atomic{};
  std::vector<uint8_t> data{};  // of a write that has left

  bool is_operation() const { return rdma || atomic; }
  // Whether a fence waits for it.
  bool is_read() const { return atomic || (rdma && !rdma->write); }
};

struct RdsEnd {
  rds::Address address;
  RdsLink* link = nullptr;  // of an acceptor: since the request has come
  rds::ChannelId id = 0;
  bool closed = false;
  uint64_t last_arrival = 0;      // of what was sent to this end
  uint64_t cut_at = UINT64_MAX;   // nothing arrives here after that
  uint32_t receives = 0;          // that are posted
  uint32_t used_receives = 0;     // whose frames were told, and which are not posted again
  size_t ring = 0;                // what was posted and has not completed
  size_t reads = 0;               // that are under way
  std::deque<RdsWork> held;       // behind a fence
  std::set<uint64_t> operations;  // that were posted and have not ended
};

// End 0 is the initiator's.
struct RdsWire {
  uint64_t number = 0;
  RdsEnd ends[2];
  bool broken = false;
};
using RdsWirePtr = std::shared_ptr<RdsWire>;

}  // namespace softdat::sim

#endif  // SOFTDAT_TESTS_SIM_RDS_WIRE_H_
