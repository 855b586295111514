// SPDX-License-Identifier: BSD-3-Clause
// What the parts of one reliable connection have in common. A part that finds the connection
// impossible does not end it: it leaves a Failure here and stops, and the connection acts on it. So
// no part calls upwards.
#ifndef SOFTDAT_PROVIDER_SOFTNET_ROCE_RC_STATE_H_
#define SOFTDAT_PROVIDER_SOFTNET_ROCE_RC_STATE_H_

#include <memory>
#include <string>
#include <utility>

#include "provider_softnet/memory/memory_table.h"
#include "provider_softnet/roce/rc_config.h"

namespace softdat::softnet {

enum class RcPhase : uint8_t {
  kOpen,
  kDraining,     // graceful disconnect asked for: no new sends
  kTerminating,  // the peer is refused something: what it read before is sent, then the NAK
  kEnded,        // flushed; what the peer asks again is answered again
};

// Why the connection cannot go on.
struct RcFailure {
  Blame blame;
  std::string why;
  bool by_peer = false;
};

struct RcState {
  explicit RcState(const RcConfig& c) : config(c) {}

  bool open() const { return phase <= RcPhase::kDraining; }
  MemoryTable& memory() const { return *config.work.memory; }
  // An access of the queue pair's own domain.
  AccessRequest Access(uint32_t key, Access kind, uint64_t offset, uint64_t length) const {
    return {key, config.work.pd, config.work.qp, kind, offset, length};
  }
  [[gnu::cold]] void Fail(Blame blame, std::string why, bool by_peer) {
    if (failure == nullptr) failure.reset(new RcFailure{blame, std::move(why), by_peer});
    unsettled = true;
  }

  const RcConfig config;
  RcPhase phase = RcPhase::kOpen;
  bool request_seen = false;     // of the peer
  bool established_due = false;  // RcActions::established
  // Work is over, or a failure is there: ReliableConnection::Settle().
  bool unsettled = false;
  std::unique_ptr<RcFailure> failure;
  RcCounters counters;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_ROCE_RC_STATE_H_
