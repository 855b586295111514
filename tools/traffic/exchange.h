// SPDX-License-Identifier: BSD-3-Clause
// The transfers of one job at one end of a link: the loops that are timed. exchange_latency.cc has
// those that go one by one, exchange_stream.cc those with several outstanding; what both need is
// in exchange.cc.
#ifndef SOFTDAT_TOOLS_TRAFFIC_EXCHANGE_H_
#define SOFTDAT_TOOLS_TRAFFIC_EXCHANGE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dat/client/memory.h"
#include "tools/common/outcome.h"
#include "tools/traffic/job.h"
#include "tools/traffic/latency_log.h"
#include "tools/traffic/link.h"
#include "tools/traffic/receive_feed.h"

namespace softdat::tools {

// Where data lie in the memory of an end: what it sends, then what it receives, `size` bytes each.
inline size_t SourceOffset() { return 0; }
inline size_t LandingOffset(const Job& job) { return job.size; }
inline size_t MemoryBytes(const Job& job) { return job.size > 0 ? 2 * size_t{job.size} : 1; }

// A stream's data, and what reads find, are those of one transfer.
inline constexpr uint64_t kStreamSequence = 0;

class Exchange {
 public:
  struct Ends {
    bool is_server = false;
    WaitMode wait = WaitMode::kPoll;
    RemoteMemory remote;      // the peer's whole memory
    DAT_LMR_TRIPLET control;  // where the message that ends the job is to go
    uint64_t receives = 0;    // that this end keeps posted on each connection
    uint64_t peer_receives = 0;
    LatencyLog* log = nullptr;  // of the client: each transfer, or completion of a stream
  };
  Exchange(Link* link, client::Memory* memory, const Job& job, const Ends& ends);

  // Before the peer may begin.
  Outcome Prepare();
  Outcome Run();
  // Does the server take no part in the transfers?
  bool IsPassive() const { return !job_.IsPingPong() && !is_two_sided_ && !job_.both_ways; }
  // The message that ends the job, if it came before data on other connections did.
  const std::optional<Completion>& early_end() const { return early_end_; }
  // After it is over: what was wrong with the data that came here; "" if nothing.
  std::string DataProblem();

 private:
  // What one connection has of a stream.
  struct Lane {
    uint64_t to_send = 0;
    uint64_t posted = 0;
    uint64_t done = 0;
    uint64_t credits = 0;  // messages that the peer has receives for
    uint64_t to_take = 0;
    uint64_t taken = 0;
    uint64_t to_grant = 0;  // messages of credit that go out
    uint64_t to_be_granted = 0;
  };

  Outcome SendPingPong();
  Outcome WritePingPong();
  Outcome OneByOne();
  Outcome Give(uint64_t sequence);
  Outcome Take(uint64_t sequence);
  Outcome AwaitMark(uint64_t sequence);

  void MakeLanes();
  Outcome StreamOut();
  Outcome StreamIn();
  Outcome StreamBothWays();
  // Posts what the window and the credit of a connection allow.
  Outcome Fill(uint32_t connection);
  Outcome OnRequest(const Completion& completion);
  // A message of data, or a grant.
  Outcome OnReceive(const Completion& completion);
  Outcome OnGrant(const Completion& completion);
  Outcome OnData(const Completion& completion);

  // A request without completion event, except every so many.
  Outcome PostSuppressed(Outcome (Exchange::*post)(DAT_COMPLETION_FLAGS));
  // Takes the events of signalled requests until `leave` are left to come.
  Outcome TakeSignalled(uint32_t leave);
  Outcome PostNotice(DAT_COMPLETION_FLAGS flags);
  Outcome PostTransfer(DAT_COMPLETION_FLAGS flags) { return PostTransferOn(0, flags); }
  Outcome PostTransferOn(uint32_t connection, DAT_COMPLETION_FLAGS flags);

  void Verify(uint64_t sequence, size_t bytes);
  // Who waits for a write is told by an empty message behind it.
  bool NoticesUsed() const {
    return job_.IsPingPong() && job_.operation == Operation::kWrite && wait_ != WaitMode::kPoll &&
           wait_ != WaitMode::kMemory;
  }
  bool Sends() const { return job_.both_ways || job_.IsPingPong() || !ends_.is_server; }
  bool Takes() const { return job_.both_ways || job_.IsPingPong() || ends_.is_server; }
  // How many messages a peer with so many receives may be sent before it grants more; how many it
  // grants at once; how often it must, for so many messages. Three receives stay for the grants
  // themselves, of which two can be under way.
  static uint64_t Credit(uint64_t receives) { return receives > 4 ? receives - 3 : 1; }
  static uint64_t Grant(uint64_t receives) { return (Credit(receives) + 1) / 2; }
  static uint64_t Grants(uint64_t receives, uint64_t messages) {
    const uint64_t credit = Credit(receives);
    return messages > credit ? (messages - credit + Grant(receives) - 1) / Grant(receives) : 0;
  }
  std::span<uint8_t> Source() { return {memory_.data() + SourceOffset(), job_.size}; }
  std::span<uint8_t> Landing() { return {memory_.data() + LandingOffset(job_), job_.size}; }

  Link& link_;
  client::Memory& memory_;
  const Job job_;
  const Ends ends_;
  const WaitMode wait_;
  const bool is_two_sided_;  // every transfer takes a receive
  const RemoteMemory remote_source_;
  const RemoteMemory remote_landing_;
  const DAT_LMR_TRIPLET source_;
  const DAT_LMR_TRIPLET landing_;
  std::vector<Lane> lanes_;  // by connection; of jobs that are no streams one
  std::vector<ReceiveFeed> feeds_;
  uint64_t window_ = 1;
  uint64_t every_ = 1;         // completions of a stream: one for so many
  uint64_t left_to_send_ = 0;  // of a stream, over all connections
  uint64_t left_to_take_ = 0;
  const uint32_t signal_every_;
  uint32_t since_signalled_ = 0;
  uint32_t signalled_ = 0;  // requests with an event that was not taken yet
  std::optional<Completion> early_end_;
  std::string problem_;  // the first wrong data
};

}  // namespace softdat::tools

#endif  // SOFTDAT_TOOLS_TRAFFIC_EXCHANGE_H_
