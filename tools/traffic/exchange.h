// SPDX-License-Identifier: BSD-3-Clause
// The transfers of one job at one end of a link: the loops that are timed. Client and server have
// one loop for each kind of job; what both do is here once.
#ifndef SOFTDAT_TOOLS_TRAFFIC_EXCHANGE_H_
#define SOFTDAT_TOOLS_TRAFFIC_EXCHANGE_H_

#include <cstdint>
#include <span>
#include <string>

#include "tools/common/objects.h"
#include "tools/common/outcome.h"
#include "tools/traffic/job.h"
#include "tools/traffic/link.h"

namespace softdat::tools {

// Where data lie in the memory of an end: what it sends, then what it receives, `size` bytes each.
inline size_t SourceOffset() { return 0; }
inline size_t LandingOffset(const Job& job) { return job.size; }
inline size_t MemoryBytes(const Job& job) { return job.size > 0 ? 2 * size_t{job.size} : 1; }

// Receives of a job, in the order of the messages: data first, then the control message that ends
// it. Keeps at most `depth` posted.
class ReceiveFeed {
 public:
  ReceiveFeed(Link* link, DAT_LMR_TRIPLET data, uint64_t data_count, DAT_LMR_TRIPLET control)
      : link_(*link), data_(data), data_count_(data_count), control_(control) {}

  Outcome Prime(uint64_t depth);
  // After each receive completion.
  Outcome PostNext();

 private:
  Link& link_;
  const DAT_LMR_TRIPLET data_;
  const uint64_t data_count_;
  const DAT_LMR_TRIPLET control_;
  uint64_t posted_ = 0;
};

class Exchange {
 public:
  // `remote` is the peer's whole memory. `depth`: receives to keep posted.
  Exchange(Link* link, Memory* memory, const Job& job, WaitMode mode, const RemoteMemory& remote,
           DAT_LMR_TRIPLET control, uint64_t depth);

  // Before the peer may begin.
  Outcome Prepare(bool is_server);
  Outcome RunClient();
  Outcome RunServer();
  // Does the server take no part in the transfers?
  bool IsPassive() const {
    return job_.kind != JobKind::kSendPingPong && job_.kind != JobKind::kWritePingPong;
  }
  // After it is over: what was wrong with the data that came here; "" if nothing.
  std::string DataProblem(bool is_server);

 private:
  Outcome SendPingPong(bool is_server);
  Outcome WritePingPong(bool is_server);
  Outcome ReadPingPong();
  Outcome Stream();

  // A request without completion event, except every so many.
  Outcome PostSuppressed(Outcome (Exchange::*post)(DAT_COMPLETION_FLAGS));
  // Takes the events of signalled requests until `leave` are left to come.
  Outcome TakeSignalled(uint32_t leave);
  Outcome PostMessage(DAT_COMPLETION_FLAGS flags);
  Outcome PostWrite(DAT_COMPLETION_FLAGS flags);
  Outcome PostNotice(DAT_COMPLETION_FLAGS flags);
  Outcome PostTransfer();

  Outcome Give(uint64_t sequence);
  Outcome Take(uint64_t sequence);
  Outcome AwaitMark(uint64_t sequence);
  void Verify(uint64_t sequence, size_t bytes);

  bool NoticesUsed() const {
    return job_.kind == JobKind::kWritePingPong && mode_ == WaitMode::kWait;
  }
  uint64_t DataReceives() const;
  std::span<uint8_t> Source() { return {memory_.data() + SourceOffset(), job_.size}; }
  std::span<uint8_t> Landing() { return {memory_.data() + LandingOffset(job_), job_.size}; }

  Link& link_;
  Memory& memory_;
  const Job job_;
  const WaitMode mode_;
  const RemoteMemory remote_source_;
  const RemoteMemory remote_landing_;
  const DAT_LMR_TRIPLET source_;
  const DAT_LMR_TRIPLET landing_;
  ReceiveFeed feed_;
  const uint64_t depth_;
  const uint32_t signal_every_;
  uint32_t since_signalled_ = 0;
  uint32_t signalled_ = 0;  // requests with an event that was not taken yet
  std::string problem_;     // the first wrong data
};

}  // namespace softdat::tools

#endif  // SOFTDAT_TOOLS_TRAFFIC_EXCHANGE_H_
