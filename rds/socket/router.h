// SPDX-License-Identifier: BSD-3-Clause
// Where each port of each peer is. Messages wait here until that is known.
#ifndef SOFTDAT_RDS_SOCKET_ROUTER_H_
#define SOFTDAT_RDS_SOCKET_ROUTER_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "rds/protocol/message.h"
#include "rds/socket/introduction.h"
#include "rds/socket/link.h"
#include "rds/socket/peer.h"

namespace softdat::rds {

// What the router needs from the node.
class RouterHost {
 public:
  virtual ~RouterHost() = default;

  // The port is there (`service` is not 0), or nowhere. Messages that waited are `waiting`, in
  // order. The router knows the port no more, unless it is nowhere and messages came after the
  // question.
  virtual void OnLocated(const Address& own, const SocketName& to, const Location& location,
                         std::deque<OutgoingMessage> waiting) = 0;
  // A kernel is at that address, and has accepted a connection.
  virtual void OnKernel(const Address& own, const Address& peer, ChannelId channel,
                        const Introduction& introduction) = 0;
  // Whether a kernel is known to be at that address. It is asked nothing: it would take the
  // question for a new connection, which ends the one that it has.
  virtual bool IsKernel(const Address& own, const Address& peer) = 0;
  // Finds the way to that kernel: OnLocated may say from now on that a port is there. False: nobody
  // speaks to it, for the moment.
  virtual bool ReachKernel(const Address& own, const Address& peer) = 0;
};

class Router {
 public:
  Router(Instance self, Link* link, RouterHost* host) : self_(self), link_(*link), host_(*host) {}

  // Keeps a message, and asks where `to` is unless that is being asked already.
  void Keep(const Address& own, const SocketName& to, OutgoingMessage message, Time now);
  bool IsAsking(const Address& own, const SocketName& to) const;
  // Gives back what is kept for a port, from which own address, and in order.
  std::deque<std::pair<Address, OutgoingMessage>> Take(const SocketName& to);
  // Calls `visit(own, to, message)` for each that is kept.
  template <typename Visit>
  void ForEach(Visit visit) const {
    for (const auto& [way, asking] : asking_) {
      for (const auto& [port, waiting] : asking.waiting) {
        for (const OutgoingMessage& message : waiting) {
          visit(way.first, SocketName{way.second, port}, message);
        }
      }
    }
  }
  // Takes back kept messages.
  std::vector<uint64_t> Cancel(const std::function<bool(const OutgoingMessage&)>& unwanted);

  // Events of channels. False: it is none of the router's.
  bool OnEstablished(ChannelId channel, ByteSpan data, Time now);
  bool OnRejected(ChannelId channel, const Refusal& refusal, Time now);
  bool OnBroken(ChannelId channel, Time now);
  void OnTimer(Time now);
  std::optional<Time> deadline() const;

  // What could not be done at this own address may be possible now.
  void Hurry(const Address& own, Time now);

  // A kernel is at that address now: nobody needs to be asked for its ports.
  void StopAsking(const Address& own, const Address& peer);

 private:
  using Way = std::pair<Address, Address>;  // own, peer
  // One question at a time: a kernel would take a second one for a new connection.
  struct Asking {
    std::map<uint16_t, std::deque<OutgoingMessage>> waiting;  // by port
    std::deque<uint16_t> ports;                               // in the order of the questions
    size_t asked = 0;  // messages that waited when the question that is open was asked
    ChannelId channel = 0;
    Backoff backoff;
    std::optional<Time> retry_at;
  };

  Asking* Of(ChannelId channel, Way* way);
  void Next(const Way& way, Asking& asking, Time now);
  // The way to this one may be gone then.
  void NextAtKernel(const Way& way, Asking& asking, Time now);
  void RetryLater(Asking& asking, Time now);
  void Located(const Way& way, const Location& location, Time now);

  const Instance self_;
  Link& link_;
  RouterHost& host_;
  std::map<Way, Asking> asking_;
};

}  // namespace softdat::rds

#endif  // SOFTDAT_RDS_SOCKET_ROUTER_H_
