// SPDX-License-Identifier: BSD-3-Clause
// The RDS of one process: its sockets, the peers that they speak to, and what goes between them. It
// has no thread and no clock, and never waits: a call that Linux would wait in returns what a
// non-blocking one returns.
//
// One thread at a time. Each call, and each event of the link, may leave sockets changed
// (TakeChanged) and frames to be sent (EndTurn).
#ifndef SOFTDAT_RDS_SOCKET_NODE_H_
#define SOFTDAT_RDS_SOCKET_NODE_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "rds/protocol/congestion_map.h"
#include "rds/socket/control_messages.h"
#include "rds/socket/directory.h"
#include "rds/socket/info.h"
#include "rds/socket/link.h"
#include "rds/socket/operations.h"
#include "rds/socket/peer.h"
#include "rds/socket/router.h"
#include "rds/socket/small_set.h"
#include "rds/socket/socket.h"

namespace softdat::rds {

class Node : public LinkEvents, private PeerHost, private RouterHost {
 public:
  // Pieces of memory that can be open at a time.
  static constexpr size_t kMostRegions = 1 << 16;

  // `self`: drawn at random, not 0. `link` and `directory` outlive the node.
  Node(Instance self, Link* link, const Directory* directory);
  ~Node() override;

  // ---- sockets ----

  Socket& Open();
  // Takes back what it has sent, and closes its memory to peers.
  void Close(Socket& socket, Time now);
  Socket* Find(SocketId id);
  // The socket has this name from now on. That it is the only one is the caller's business. It may
  // have messages at once.
  void Bind(Socket& socket, const SocketName& name);
  bool IsTaken(const SocketName& name) const { return by_name_.contains(name); }
  // This process has the service of RDS itself at an own address from now on. So it has the
  // connections to kernels, for all processes of that address (node_holder.cc).
  void Hold(const Address& own, Time now);
  bool holds(const Address& own) const { return holds_.contains(own); }
  // Kernels, by own address, of which other processes are to be told by the directory.
  std::vector<std::pair<Address, Address>> TakeNewKernels() {
    return std::exchange(new_kernels_, {});
  }

  // Sends `payload` to `to`, behind the operations of `requests`. 0; EAGAIN when the socket has no
  // room; ENOBUFS when the port at the other end is congested; or what opening memory fails with.
  // After a failure nothing was done, and `payload` is untouched. Who does not wait after ENOBUFS
  // calls Socket::MetCongestion.
  int Send(Socket& socket, const SocketName& to, SendRequests requests,
           std::vector<uint8_t>* payload, Time now);
  // TakeChanged() is to have this socket.
  void MarkChanged(const Socket& socket) { changed_.insert(socket.id()); }
  // Memory for a payload that is to be sent, perhaps of one that was received: empty.
  std::vector<uint8_t> TakePayload() {
    spare_payload_.clear();
    return std::exchange(spare_payload_, {});
  }
  // The socket's first message has been received.
  void Pop(Socket& socket, Time now);
  // Breaks the connections of an own address, to this peer or to all.
  void Reset(const Address& own, const std::optional<Address>& peer, Time now);
  // Takes back what this socket has sent to `to`, or to anyone, and was not acknowledged.
  void Cancel(Socket& socket, const std::optional<SocketName>& to, Time now);

  // Whether operations of this socket that were taken back are still at work on the program's
  // memory. Revoke() ends that; connections may break by it.
  bool IsAtWork(SocketId socket) const;
  void Revoke(SocketId socket);

  // Opens memory to peers. 0; ENOTCONN when the socket is not bound; EINVAL for no memory, or more
  // than 1 MiB; EFAULT for memory that cannot be written; EAGAIN when kMostRegions are open; or the
  // errno of the link.
  int OpenMemory(Socket& socket, const RegionRequest& request, rds_rdma_cookie_t* cookie);
  // Closes it. EINVAL when this socket has no such memory.
  int CloseMemory(Socket& socket, rds_rdma_cookie_t cookie);

  // ---- the link ----

  void SetNow(Time now) { now_ = now; }
  void OnRequest(ChannelId request, const Address& own, const Address& peer,
                 ByteSpan data) override;
  void OnEstablished(ChannelId channel, ByteSpan data) override;
  void OnRejected(ChannelId channel, ByteSpan data) override;
  void OnBroken(ChannelId channel, bool refused) override;
  void OnFrame(ChannelId channel, ByteSpan frame) override;
  void OnRoom(ChannelId channel) override;
  void OnOperation(ChannelId channel, uint64_t id, int status) override;

  // Posts receives again, before whoever drives the link waits. Returns whether EndTurn() is to be
  // called, too.
  bool PostReceives();
  // Sends what has become due, and forgets peers that have gone. To be called after calls and
  // events, and at deadline().
  void EndTurn(Time now);
  // Whether that would do anything now.
  bool NeedsTurn(Time now) const {
    if (!due_.empty() || !gone_.empty()) return true;
    const std::optional<Time> at = deadline();
    return at && *at <= now;
  }
  std::optional<Time> deadline() const;
  // Sockets that may have become ready for something, or not ready any more. Valid until the next
  // call.
  const SmallSet<SocketId>& TakeChanged() {
    told_.clear();
    told_.swap(changed_);
    return told_;
  }

  // ---- for those who look ----
  // The program has received so many octets of a message.
  void CountDelivered(size_t octets) {
    counters_.Count(Counter::kRecvDelivered);
    counters_.Count(Counter::kCopyToUser, octets);
  }
  // `inode_of`: that of a socket's descriptor.
  Info CollectInfo(const std::function<uint64_t(SocketId)>& inode_of) const;
  const std::map<PeerName, std::unique_ptr<Peer>>& peers() const { return peers_; }
  const std::unordered_map<SocketId, std::unique_ptr<Socket>>& sockets() const { return sockets_; }

 private:
  // Something on its way from a socket of this process.
  struct Outgoing {
    SocketId socket = 0;
    SocketName to;
    size_t octets = 0;
    Operations operations;
    std::optional<uint32_t> zero_copy_cookie;
  };

  // A kernel, as it is known at an own address.
  struct Kernel {
    Peer* holder = nullptr;        // who speaks to it for this process
    std::optional<Time> leave_at;  // somebody else does, and the holder has had its last word
    CongestionMap of_kernel;       // for those for whom this process speaks to it
    CongestionMap of_address;      // what it is told: ports of this process and of those
    uint32_t seen = 0;             // the last of its messages that a socket of this process has had
  };
  using Pair = std::pair<Address, Address>;  // own, kernel
  // A message that goes on to somebody. Who has sent it hears when it has arrived there.
  struct Forwarded {
    PeerName from;
    uint64_t sequence = 0;
  };

  using Way = std::pair<Address, SocketName>;  // own, to
  // A port that has left a process (node_moves.cc).
  struct PortMove {
    Peer* old = nullptr;
    std::deque<OutgoingMessage> returned;  // by the process that had it, or left by it
    std::deque<OutgoingMessage> held;      // sent since
  };

  void OnEvent(Peer& peer, Event&& event) override;
  void PostOperations(ChannelId channel, uint64_t id) override;
  void OnChannel(ChannelId channel, Peer* peer) override;
  void OnGone(Peer& peer) override;
  void OnLocated(const Address& own, const SocketName& to, const Location& location,
                 std::deque<OutgoingMessage> waiting) override;
  void OnKernel(const Address& own, const Address& peer, ChannelId channel,
                const Introduction& introduction) override;
  bool IsKernel(const Address& own, const Address& peer) override;
  bool ReachKernel(const Address& own, const Address& peer) override;

  Kernel& KnowKernel(const Pair& pair);
  Peer* PeerForKernel(const Pair& pair);
  Peer& HolderAt(const Pair& pair, const Location& location);
  Peer& ServedAt(const Pair& pair, const Location& location);
  Peer* JoinedForKernel(const Address& own, const Introduction& introduction);
  bool IsHeldElsewhere(const Address& own, const SocketName& to);
  void SendTo(Peer& peer, OutgoingMessage&& message);
  bool TakeForOthers(Peer& peer, Message& message);
  void Forward(Peer& peer, Message& message, const Address& own, const Address& to);
  bool IsNew(const Peer& peer, const Message& message);
  void EndForwarded(uint64_t id);
  bool WasSent(const Peer& kernel, const OutgoingMessage& message) const;
  void TellNumber(uint64_t id, uint64_t sequence);
  void MeetKernel(Peer& kernel);
  void TakeMapOf(Peer& peer);
  void MergeMaps(const Pair& pair, Kernel& kernel);
  void MergeMaps(const Address& own);
  void ForgetKernelsOf(const Peer& peer);
  void LeaveHolders(Time now);

  Refusal Locate(const Address& own, const Address& peer, const Introduction& question) const;
  void Complete(ChannelId channel, uint64_t id);
  bool IsTakenBack(uint64_t operation) const { return !outgoing_.contains(operation / 2); }
  Peer& PeerAt(const PeerName& name, uint16_t service);
  Peer* PeerFor(const Address& own, const SocketName& to);
  void Forget(Peer& peer);
  int Open(Socket& socket, const SendRequests& requests, std::optional<RdmaDestination>* out);

  void SendBack(Peer& peer, const Message& message);
  void EndReturn(Peer& peer, uint64_t id);
  bool ReturnIfMoved(Peer& peer, const Message& message);
  void MoveFrom(Peer& old, const SocketName& to);
  void TakeReturned(Peer& peer, const Message& message);
  void ForgetOperations(OutgoingMessage& message);
  void EndMove(std::map<Way, PortMove>::iterator at);
  bool HoldIfMoving(const Address& own, const SocketName& to, OutgoingMessage& message);
  bool TakeMoved(Peer& peer, const Message& message);
  void HearFrom(Peer& peer, const SocketName& from);
  void MoveHere(const SocketName& name);
  bool KeepOfGone(const Peer& peer, OutgoingMessage& message);
  void EndMovesOf(Peer& peer);

  // Who has a port, as far as is known: a socket of this process, or a peer.
  struct Target {
    Socket* here = nullptr;
    Peer* peer = nullptr;
  };
  Target TargetOf(const Address& own, const SocketName& to);
  bool IsCongested(const SocketName& to, const Target& target) const;
  void Dispatch(const Address& own, const SocketName& to, OutgoingMessage&& message);
  void Dispatch(const Address& own, const SocketName& to, const Target& target,
                OutgoingMessage&& message);
  void DispatchHere(Socket& target, const SocketName& from, OutgoingMessage&& message);
  // `began`: when its first fragment came.
  void Deliver(const Address& own, const SocketName& from, Message&& message, Time began);
  void Pong(const Address& own, const SocketName& to);

  void End(uint64_t id, int status);
  void Tell(const Outgoing& outgoing, const std::vector<Notification>& notifications);
  void SetCongested(const SocketName& name, bool congested);
  void TellFreed(uint64_t groups);
  void CloseMemory(Socket& socket, std::map<uint32_t, OwnRegion>::iterator region);
  void AddOutgoing(uint64_t id, Outgoing&& outgoing);
  void CountOperations(const Operations& operations);
  void TellOf(const Peer& peer, Info* out) const;
  const OwnRegion* RegionOf(const Address& own, uint32_t rkey);

  const Instance self_;
  Link& link_;
  const Directory& directory_;
  Router router_;
  Time now_{};

  SocketId last_socket_ = 0;
  size_t regions_ = 0;  // that are open, of all sockets
  std::unordered_map<SocketId, std::unique_ptr<Socket>> sockets_;
  std::unordered_map<SocketName, Socket*> by_name_;
  std::map<Address, CongestionMap> own_;  // which ports of this process are congested

  std::map<PeerName, std::unique_ptr<Peer>> peers_;
  std::unordered_map<ChannelId, Peer*> channels_;
  std::map<Way, Peer*> routes_;
  std::map<Way, PortMove> moves_;
  std::set<Address> holds_;
  std::map<Pair, Kernel> kernels_;
  std::vector<Pair> new_kernels_;
  std::unordered_map<uint64_t, Forwarded> forwarded_;  // by id
  // Ports of which messages are returned to whom.
  std::set<std::pair<PeerName, uint16_t>> refusing_;
  std::unordered_map<uint64_t, uint64_t> returns_;  // by id: the sequence of what it returns
  PeerSet due_;                                     // to be pumped
  PeerSet gone_;                                    // to be forgotten
  PeerSet used_;                                    // have receives that are to be posted again

  // Operations that the link carries out, and whose.
  std::unordered_map<ChannelId, std::unordered_map<uint64_t, SocketId>> posted_;

  Counters counters_;  // without those of connections to peers that there are

  uint64_t last_id_ = 0;
  std::unordered_map<uint64_t, Outgoing> outgoing_;
  std::unordered_map<uint64_t, Outgoing>::node_type
      spare_;  // of one that was in outgoing_, or none
  std::vector<uint8_t> spare_payload_;
  SmallSet<SocketId> changed_;
  SmallSet<SocketId> told_;  // by TakeChanged()
};

}  // namespace softdat::rds

#endif  // SOFTDAT_RDS_SOCKET_NODE_H_
