// SPDX-License-Identifier: BSD-3-Clause
// What a task of rds-softstress sends next, and whether what comes is what must come: in order,
// once, with an ack for each request. Pure: no socket, no clock.
#ifndef SOFTDAT_TOOLS_RDS_STRESS_EXCHANGE_H_
#define SOFTDAT_TOOLS_RDS_STRESS_EXCHANGE_H_

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "tools/rds/stress_job.h"
#include "tools/rds/stress_message.h"

namespace softdat::tools {

class StressExchange {
 public:
  // `requests`: whether this end sends requests. `first_port`: that of the peer's task 0, which
  // decides about groups of congestion.
  StressExchange(const StressJob& job, bool requests, uint16_t task, uint16_t first_port);

  struct Outgoing {
    uint32_t peer = 0;
    StressMessage message;
    uint32_t slot = 0;  // of RDMA: its memory, below slots()
    bool after_congestion = false;
  };
  // The next message that can be sent now, acks before requests and the peer's tasks in turn.
  // Nothing if all wait for something.
  std::optional<Outgoing> Next();
  // It is on its way. `now` in nanoseconds.
  void Sent(const Outgoing& outgoing, int64_t now);
  // It was refused, because the peer's port is congested.
  void Congested(const Outgoing& outgoing, int64_t now);
  // Ports with these numbers modulo 64 may have become free.
  void Freed(uint64_t groups);
  // Tries those again that have been congested for `patience` nanoseconds. Returns when, in
  // nanoseconds of `now`, the next one will have been; nothing if none is congested.
  std::optional<int64_t> Retry(int64_t now, int64_t patience);

  struct Incoming {
    std::string problem;  // not "": it must not have come
    int64_t rtt_ns = -1;  // of an ack
    uint32_t slot = 0;    // of a message with RDMA: the memory of its request at the end that asked
  };
  Incoming Received(uint32_t peer, const StressMessage& message, int64_t now);

  // The memory from or to which this end carries the data of a request while it answers it. The ack
  // of the slot's next request waits until it is done.
  void RdmaStarted(uint32_t slot) { busy_.at(slot) = true; }
  // The message whose RDMA has ended: its status has come. Returns false if there was none.
  bool RdmaDone(uint32_t slot);

  // No further requests.
  void Stop() { requests_ = false; }
  // Gives up what has no ack yet. Returns how many these were.
  uint64_t GiveUp();
  uint64_t outstanding() const;
  // Nothing is outstanding, and every request that came was answered.
  bool Idle() const;

  // Slots are those of each of the peer's tasks, in a row.
  uint32_t slots() const { return job_.tasks * job_.depth; }

 private:
  struct Peer {
    uint64_t next_request = 0;       // of ours to it
    uint64_t next_acked = 0;         // the request whose ack is next
    uint64_t next_incoming = 0;      // the request of it that is next
    std::vector<int64_t> sent_at;    // by slot
    std::deque<StressMessage> acks;  // to be sent
    bool acquainted = false;         // an ack has come
    bool congested = false;
    bool retried = false;  // without news that it is free
    int64_t congested_since = 0;
  };

  uint32_t SlotOf(uint32_t peer, uint64_t sequence) const {
    return peer * job_.depth + static_cast<uint32_t>(sequence % job_.depth);
  }
  std::optional<Outgoing> NextAck(uint32_t index) const;
  std::optional<Outgoing> NextRequest(uint32_t index) const;
  RdmaWay WayOf(const Peer& peer) const;
  void ReceivedRequest(uint32_t index, const StressMessage& message, Incoming* incoming);
  void ReceivedAck(uint32_t index, const StressMessage& message, int64_t now, Incoming* incoming);

  const StressJob job_;
  bool requests_;
  const uint16_t task_;
  const uint16_t first_port_;
  uint32_t turn_ = 0;  // the peer that is looked at first
  std::vector<Peer> peers_;
  std::vector<bool> busy_;  // by slot
};

}  // namespace softdat::tools

#endif  // SOFTDAT_TOOLS_RDS_STRESS_EXCHANGE_H_
