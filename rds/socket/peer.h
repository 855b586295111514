// SPDX-License-Identifier: BSD-3-Clause
// Another process that has RDS sockets, or a kernel, seen from one own address: what is said to it,
// and the transport connection that is made anew whenever it is needed and has gone.
#ifndef SOFTDAT_RDS_SOCKET_PEER_H_
#define SOFTDAT_RDS_SOCKET_PEER_H_

#include <chrono>
#include <compare>
#include <cstdint>
#include <optional>
#include <vector>

#include "rds/protocol/connection.h"
#include "rds/socket/introduction.h"
#include "rds/socket/link.h"
#include "rds/socket/small_set.h"
#include "rds/socket/time.h"

namespace softdat::rds {

// Waits longer from attempt to attempt: 1 ms, then twice as much each time, up to a second.
class Backoff {
 public:
  Time Next() {
    const Time now = delay_;
    delay_ = std::min<Time>(2 * delay_, std::chrono::seconds(1));
    return now;
  }
  void Reset() { delay_ = std::chrono::milliseconds(1); }

 private:
  Time delay_ = std::chrono::milliseconds(1);
};

struct PeerName {
  Address own, peer;
  Instance instance = kKernelInstance;

  auto operator<=>(const PeerName&) const = default;
};

class Peer;
struct PeerOrder {
  bool operator()(const Peer* a, const Peer* b) const;
};
using PeerSet = SmallSet<Peer*, PeerOrder>;  // what happens does not depend on where a peer lies

// What a peer needs from the node.
class PeerHost {
 public:
  virtual ~PeerHost() = default;

  virtual void OnEvent(Peer& peer, Event&& event) = 0;
  // The operations of message `id` are to be posted on this channel, now.
  virtual void PostOperations(ChannelId channel, uint64_t id) = 0;
  // A channel is this peer's, or nobody's any more.
  virtual void OnChannel(ChannelId channel, Peer* peer) = 0;
  // The process does not exist any more, or cannot be found where it was. The peer is to be
  // forgotten after that.
  virtual void OnGone(Peer& peer) = 0;
};

class Peer {
 public:
  // `self`: the instance of this process. `service`: where the peer takes connections; 0 when that
  // is not known. `meeting_at`: the peer is a process of this address of this host, and one of the
  // two speaks for a kernel, whose address the other one in the name is.
  Peer(const PeerName& name, Instance self, uint16_t service, const CongestionMap* own_map,
       Link* link, PeerHost* host, std::optional<Address> meeting_at = {})
      : name_(name),
        meeting_at_(std::move(meeting_at)),
        self_(self),
        service_(service),
        connection_(own_map, name.instance == kKernelInstance ? kLinuxManner : kOwnManner),
        link_(*link),
        host_(*host) {}
  ~Peer();
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  const PeerName& name() const { return name_; }
  Connection& connection() { return connection_; }
  const Connection& connection() const { return connection_; }
  // It holds the connection to a kernel for this process; this process holds it for the peer.
  bool is_holder() const { return meeting_at_ == name_.own; }
  bool is_served() const { return meeting_at_ && meeting_at_ != name_.own; }
  bool up() const { return connection_.up(); }
  bool connecting() const { return state_ == State::kConnecting || state_ == State::kAccepting; }

  // Sends, and connects if that is needed.
  void Send(OutgoingMessage message, Time now);
  // Sends what is due. Also connects, when there is no connection: to a kernel when messages wait,
  // to another process always. Whether that still exists is found out no other way, nor which of
  // its ports are congested.
  void Pump(Time now);

  // A request of the peer to join. Returns false when it is to be told that this end is busy.
  bool OnJoin(ChannelId request, const Introduction& introduction, Time now);
  void OnEstablished(ByteSpan data, Time now);
  void OnRejected(const Refusal& refusal, Time now);
  void OnBroken(bool refused, Time now);
  void OnFrame(ByteSpan frame, Time now);
  void OnTimer(Time now);
  // Posts receives again whose frames have come. Frames may be due by it.
  void PostReceives();
  // When OnTimer() is to be called.
  std::optional<Time> deadline() const { return retry_at_ ? retry_at_ : tell_at_; }
  // When the first fragment of the message that came last has come.
  Time began() const { return began_; }
  // Breaks the connection, as the network may. What is to be sent makes a new one.
  void Reset(Time now);
  // Tells the peer at once what has come, for the sake of those who might be gone soon.
  void TellNews(Time now);

  // A channel on which the peer, a kernel, has answered the question where a port is.
  void Adopt(ChannelId channel, const Introduction& introduction, Time now);
  // What was not acknowledged, in order.
  std::vector<SendQueue::Taken> TakeMessages() { return connection_.TakeMessages(); }

 private:
  enum class State : uint8_t { kIdle, kConnecting, kAccepting, kUp };

  // Whether this end's attempt goes first when both connect.
  bool GoesFirst() const;
  Introduction Self() const;
  // The addresses between which the transport connection is.
  const Address& here() const { return meeting_at_ ? *meeting_at_ : name_.own; }
  const Address& there() const { return meeting_at_ ? *meeting_at_ : name_.peer; }
  void Connect(Time now);
  void RetryLater(Time now);
  void Use(ChannelId channel);
  void Drop();
  void Up(const Introduction& introduction, Time now);
  void Settle();

  const PeerName name_;
  const std::optional<Address> meeting_at_;
  const Instance self_;
  uint16_t service_;
  Connection connection_;
  Link& link_;
  PeerHost& host_;
  State state_ = State::kIdle;
  ChannelId channel_ = 0;
  Introduction accepted_;  // in kAccepting: what the peer has said
  uint32_t own_credit_ = 0;
  bool heard_ = false;          // anything on this channel
  uint32_t used_receives_ = 0;  // that are to be posted again
  Backoff backoff_;
  std::optional<Time> retry_at_;  // while there is no connection
  std::optional<Time> tell_at_;   // while there is one, and it has news
  Time began_{};
};

inline bool PeerOrder::operator()(const Peer* a, const Peer* b) const {
  return a->name() < b->name();
}

}  // namespace softdat::rds

#endif  // SOFTDAT_RDS_SOCKET_PEER_H_
