// SPDX-License-Identifier: BSD-3-Clause
// Jobs over a connected link. The client asks and measures, and the server takes part until the
// client disconnects.
#ifndef SOFTDAT_TOOLS_TRAFFIC_SESSION_H_
#define SOFTDAT_TOOLS_TRAFFIC_SESSION_H_

#include <barrier>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "dat/client/memory.h"
#include "tools/common/outcome.h"
#include "tools/traffic/exchange.h"
#include "tools/traffic/job.h"
#include "tools/traffic/latency_log.h"
#include "tools/traffic/link.h"

namespace softdat::tools {

class Session {
 public:
  // `link` must be connected before the first job, and stays with the caller. `receive_depth` is
  // the number of receives to keep posted.
  Session(Link* link, uint64_t receive_depth) : link_(*link), receive_depth_(receive_depth) {}

  // To be called before Connect() or Accept(). Makes memory for control messages.
  Outcome Prepare();

  // For the client. Wrong data at either end are a failure with kExitBadData. `log`, if given,
  // notes how long each transfer took. For a stream it notes how long after the previous one each
  // completion came. Sessions of several threads arrive at a common `gate` before their transfers
  // begin and after these have ended. So each measures the time of all, at both ends. A session
  // that fails does not arrive any more.
  Outcome Run(const Job& job, JobResult* result, LatencyLog* log = nullptr,
              std::barrier<>* gate = nullptr);

  // For the server, after Accept(). `wait` is its own way to wait, for clients that leave it the
  // choice. `examine` returns why a job is refused, or "". `report` is told of each job that is
  // done.
  struct Hooks {
    WaitMode wait = WaitMode::kPoll;
    std::function<std::string(const Job&)> examine;
    std::function<void(const Job&, const JobResult&)> report;
  };
  // Returns when the client has disconnected. Fails in the middle of a job.
  Outcome Serve(const Hooks& hooks);

 private:
  Outcome PostControlReceive();
  Outcome SendControl(const ControlMessage& message);
  // Takes the next message, without limit. Nothing if the client has disconnected.
  Outcome NextControl(bool* over);
  Outcome NextReply(Reply* reply);
  Outcome ServeJob(const Request& request, const Hooks& hooks);
  Outcome EnsureMemory(const Job& job);
  RemoteMemory OwnMemory() const;
  Exchange::Ends Ends(WaitMode wait, const RemoteMemory& remote, uint64_t peer_receives);
  std::span<const uint8_t> Received() const;

  Link& link_;
  const uint64_t receive_depth_;
  client::Memory control_;  // a message to send, then a message received
  client::Memory data_;
  uint32_t received_bytes_ = 0;
};

}  // namespace softdat::tools

#endif  // SOFTDAT_TOOLS_TRAFFIC_SESSION_H_
