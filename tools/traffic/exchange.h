// SPDX-License-Identifier: BSD-3-Clause
// The transfers of one job at one end of a link. These are the loops that are timed.
// exchange_latency.cc has those that go one by one, exchange_stream.cc those with several
// outstanding, and exchange.cc the common parts.
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
#include "tools/traffic/message_layer.h"
#include "tools/traffic/receive_feed.h"

namespace softdat::tools {

// The layout of an end's memory: the data to send, then the data to receive, `size` bytes each.
inline size_t SourceOffset() { return 0; }
inline size_t LandingOffset(const Job& job) { return job.size; }
inline size_t MemoryBytes(const Job& job) { return job.size > 0 ? 2 * size_t{job.size} : 1; }

// All transfers of a stream have the data of one transfer, and so have reads.
inline constexpr uint64_t kStreamSequence = 0;

class Exchange {
 public:
  struct Ends {
    bool is_server = false;
    WaitMode wait = WaitMode::kPoll;
    RemoteMemory remote;      // the peer's whole memory
    DAT_LMR_TRIPLET control;  // the place for the message that ends the job
    uint64_t receives = 0;    // that this end keeps posted on each connection
    uint64_t peer_receives = 0;
    LatencyLog* log = nullptr;  // of the client: notes each transfer, or completion of a stream
  };
  Exchange(Link* link, client::Memory* memory, const Job& job, const Ends& ends);

  // To be called before the peer may begin.
  Outcome Prepare();
  Outcome Run();
  // Whether the server takes no part in the transfers.
  bool IsPassive() const { return !job_.IsPingPong() && !is_two_sided_ && !job_.both_ways; }
  // The message that ends the job, if it came before data on other connections.
  const std::optional<Completion>& early_end() const { return early_end_; }
  // To be called after the end. Returns what was wrong with the data that came here, or "".
  std::string DataProblem();

 private:
  // One connection's part of a stream.
  struct Lane {
    uint64_t to_send = 0;
    uint64_t posted = 0;
    uint64_t done = 0;
    uint64_t credits = 0;  // messages for which the peer has receives
    uint64_t to_take = 0;
    uint64_t taken = 0;
    uint64_t to_grant = 0;  // messages of credit that go out
    uint64_t to_be_granted = 0;
  };

  Outcome SendPingPong();
  Outcome WritePingPong();
  Outcome LayerPingPong();
  Outcome OneByOne();
  Outcome Give(uint64_t sequence);
  Outcome Take(uint64_t sequence);
  Outcome AwaitMark(uint64_t sequence);

  void MakeFeeds();
  void MakeLayer();
  void MakeLanes();
  Outcome StreamOut();
  Outcome StreamIn();
  Outcome StreamBothWays();
  // Posts as many transfers as the window and the credit of a connection allow.
  Outcome Fill(uint32_t connection);
  Outcome OnRequest(const Completion& completion);
  // A message with data, or a grant.
  Outcome OnReceive(const Completion& completion);
  Outcome OnGrant(const Completion& completion);
  Outcome OnData(const Completion& completion);

  // Posts a request without a completion event, except for every signal_every_-th one.
  Outcome PostSuppressed(Outcome (Exchange::*post)(DAT_COMPLETION_FLAGS));
  // Takes the events of signalled requests until only `leave` are still to come.
  Outcome TakeSignalled(uint32_t leave);
  Outcome PostNotice(DAT_COMPLETION_FLAGS flags);
  Outcome PostTransfer(DAT_COMPLETION_FLAGS flags) { return PostTransferOn(0, flags); }
  Outcome PostTransferOn(uint32_t connection, DAT_COMPLETION_FLAGS flags);

  void Verify(uint64_t sequence, size_t bytes);
  bool NoticesUsed() const { return job_.HasNotices(wait_); }
  bool Sends() const { return job_.both_ways || job_.IsPingPong() || !ends_.is_server; }
  bool Takes() const { return job_.both_ways || job_.IsPingPong() || ends_.is_server; }
  // Credit: how many messages may be sent to a peer with this number of receives before it grants
  // more. Grant: how many it grants at once. Grants: how often it must, for this number of
  // messages. Three receives stay for the grants themselves, of which two can be under way.
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
  std::vector<Lane> lanes_;  // by connection; jobs other than streams have one
  std::vector<ReceiveFeed> feeds_;
  std::optional<MessageLayer> layer_;  // of jobs that have one, and then there are no feeds
  uint64_t window_ = 1;
  uint64_t every_ = 1;         // a stream has one completion for this many transfers
  uint64_t left_to_send_ = 0;  // for a stream, over all connections
  uint64_t left_to_take_ = 0;
  const uint32_t signal_every_;
  uint32_t since_signalled_ = 0;
  uint32_t signalled_ = 0;  // requests with an event that was not taken yet
  std::optional<Completion> early_end_;
  std::string problem_;  // the first wrong data
};

}  // namespace softdat::tools

#endif  // SOFTDAT_TOOLS_TRAFFIC_EXCHANGE_H_
