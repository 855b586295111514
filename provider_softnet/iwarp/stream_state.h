// SPDX-License-Identifier: BSD-3-Clause
// What the parts of one stream share. A part that finds the connection impossible does not end it.
// It leaves a Failure here and stops, and the stream acts on it. So no part calls upwards.
#ifndef SOFTDAT_PROVIDER_SOFTNET_IWARP_STREAM_STATE_H_
#define SOFTDAT_PROVIDER_SOFTNET_IWARP_STREAM_STATE_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "provider_softnet/iwarp/stream_config.h"
#include "provider_softnet/memory/memory_table.h"
#include "wire/bytes.h"

namespace softdat::softnet {

enum class Phase : uint8_t {
  kOpen,
  kDraining,     // graceful disconnect requested: no new sends
  kTerminating,  // broken: answers that were due leave, then the Terminate
  kEnded,        // flushed; at most a Terminate or the rest of an FPDU must still be sent
};

// Why the connection cannot go on.
struct Failure {
  iwarp::TerminateCode code = iwarp::kAccept;  // what the peer is told; kAccept: nothing
  std::vector<uint8_t> ulpdu;                  // front of the offending segment; may be empty
  size_t ulpdu_size = 0;                       // the whole length of that segment
  Blame blame;
  std::string what;
  bool abort = false;  // nothing can be said any more, so reset
};

struct StreamState {
  StreamState(const StreamConfig& c, size_t segment) : config(c), mulpdu(segment) {}

  bool open() const { return phase <= Phase::kDraining; }
  MemoryTable& memory() const { return *config.work.memory; }
  // An access of the queue pair's own domain.
  AccessRequest Access(uint32_t key, Access kind, uint64_t offset, uint64_t length) const {
    return {key, config.work.pd, config.work.qp, kind, offset, length};
  }

  // The text is `what` and `detail`. They are views, because a string that is made for the call
  // would cost the caller a guarded stack frame even where nothing fails.
  [[gnu::cold]] void Fail(iwarp::TerminateCode code, ByteSpan ulpdu, size_t ulpdu_size,
                          const Blame& blame, std::string_view what, std::string_view detail = {}) {
    if (failure != nullptr) return;
    failure = std::make_unique<Failure>();
    failure->code = code;
    failure->ulpdu.assign(ulpdu.begin(), ulpdu.end());
    failure->ulpdu_size = ulpdu_size;
    failure->blame = blame;
    failure->what.append(what).append(detail);
    unsettled = true;
  }
  [[gnu::cold]] void FailWithReset(const Blame& blame, std::string_view what) {
    Fail(iwarp::kAccept, {}, 0, blame, what);
    failure->abort = true;
  }

  const StreamConfig config;
  const size_t mulpdu;
  Phase phase = Phase::kOpen;
  bool first_fpdu_seen = false;  // of the peer
  bool established_due = false;  // StreamActions::established
  bool peer_closing = false;     // its FIN has been seen although data are left
  // Work was confirmed or answered, or there is a failure or a Terminate. Stream::Settle() must
  // act.
  bool unsettled = false;
  std::unique_ptr<Failure> failure;
  StreamCounters counters;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_IWARP_STREAM_STATE_H_
