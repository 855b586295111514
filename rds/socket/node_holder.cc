// SPDX-License-Identifier: BSD-3-Clause
// Kernels as peers. Between two addresses a kernel has one connection, and a new one ends the old
// one. So of the processes of an address one has the connections to kernels, for all of them: the
// holder, who has the service of RDS itself, where kernels connect.
//
// Between the holder and another process there is a connection for each kernel, on which the holder
// says what the kernel says and hears what the kernel is to hear. Both are at the same address of
// this host, but for RDS it is a connection between that address and the kernel's, with sequences,
// acknowledgements and congestion maps of its own. So at both ends it is a peer as any other.
//
// Whoever receives something that goes on to somebody else acknowledges it when that one has. So
// when the holder ends, each message is still with the one who has sent it. The next holder hears
// from the kernel what that has not acknowledged, and from the others what they have not seen
// acknowledged. The kernel's messages have their sequences with them, so that nobody takes one
// twice. And the holder says which sequence it gives to a message for the kernel (kNumbered),
// before it sends that: a kernel that says how far it has come, to the next one, has each message
// once.
//
// Memory is that of one process: nothing that reads or writes it goes through another one.
#include <algorithm>
#include <utility>

#include "rds/socket/node.h"

namespace softdat::rds {
namespace {

// A holder has ended, perhaps unnoticed. What it has said last may still be on its way: it says
// which messages the kernel has. So it is left only then, and what is to be sent waits.
constexpr Time kLastWords = std::chrono::milliseconds(20);

}  // namespace

// ---- who speaks to a kernel ----

void Node::Hold(const Address& own, Time now) {
  now_ = now;
  if (!holds_.insert(own).second) return;
  for (auto& [pair, kernel] : kernels_) {
    if (pair.first != own) continue;
    new_kernels_.push_back(pair);
    if (kernel.holder != nullptr) kernel.leave_at = now + kLastWords;
  }
  router_.Hurry(own, now);
}

Node::Kernel& Node::KnowKernel(const Pair& pair) {
  const auto [kernel, fresh] = kernels_.try_emplace(pair);
  if (fresh && holds_.contains(pair.first)) new_kernels_.push_back(pair);
  return kernel->second;
}

bool Node::IsKernel(const Address& own, const Address& peer) {
  if (kernels_.contains({own, peer})) return true;
  if (holds_.contains(own) || !directory_.IsKernel(own, peer)) return false;
  KnowKernel({own, peer});
  return true;
}

bool Node::ReachKernel(const Address& own, const Address& peer) {
  const Pair pair{own, peer};
  if (PeerForKernel(pair) != nullptr) return true;
  if (holds_.contains(own)) {
    PeerAt({own, peer, kKernelInstance}, peer.ipv6 ? kPort6 : kPort);
    return true;
  }
  const Location holder = directory_.Holder(own);
  if (holder.service == 0 || holder.instance == self_) return false;
  HolderAt(pair, holder);
  return true;
}

// A holder that has ended comes first, until its messages have been taken from it.
Peer* Node::PeerForKernel(const Pair& pair) {
  const auto kernel = kernels_.find(pair);
  if (kernel == kernels_.end()) return nullptr;
  if (kernel->second.holder != nullptr) return kernel->second.holder;
  const auto peer = peers_.find({pair.first, pair.second, kKernelInstance});
  return peer == peers_.end() ? nullptr : peer->second.get();
}

// The one who holds for this process.
Peer& Node::HolderAt(const Pair& pair, const Location& location) {
  const auto& [own, address] = pair;
  Kernel& kernel = KnowKernel(pair);
  auto& place = peers_[{own, address, location.instance}];
  if (!place) {
    PeerHost* const host = this;
    place = std::make_unique<Peer>(PeerName{own, address, location.instance}, self_,
                                   location.service, &own_[own], &link_, host, own);
  }
  if (kernel.holder != nullptr && kernel.holder != place.get()) {
    kernel.leave_at = now_ + kLastWords;
    return *place;
  }
  kernel.holder = place.get();
  due_.insert(place.get());
  return *place;
}

// One for whom this process holds. Its peer has, as it sees it, the kernel's address.
Peer& Node::ServedAt(const Pair& pair, const Location& location) {
  const auto& [own, address] = pair;
  Kernel& kernel = KnowKernel(pair);
  auto& place = peers_[{address, own, location.instance}];
  if (!place) {
    PeerHost* const host = this;
    place = std::make_unique<Peer>(PeerName{address, own, location.instance}, self_,
                                   location.service, &kernel.of_kernel, &link_, host, own);
  }
  return *place;
}

// Nothing when that cannot be.
Peer* Node::JoinedForKernel(const Address& own, const Introduction& introduction) {
  if (introduction.for_instance != kKernelInstance && introduction.for_instance != self_) {
    return nullptr;
  }
  const bool from_holder = introduction.peer.octets == own.octets;
  Address address = from_holder ? introduction.own : introduction.peer;
  address.scope = own.scope;
  const Address& other = from_holder ? introduction.peer : introduction.own;
  if (other.octets != own.octets || address == own) return nullptr;
  const Location location{introduction.instance, introduction.port};
  if (from_holder) {
    if (holds_.contains(own) || directory_.Holder(own).instance != location.instance)
      return nullptr;
    Peer& holder = HolderAt({own, address}, location);
    // What waits goes in front of what is sent from now on.
    router_.StopAsking(own, address);
    return &holder;
  }
  return holds_.contains(own) ? &ServedAt({own, address}, location) : nullptr;
}

bool Node::IsHeldElsewhere(const Address& own, const SocketName& to) {
  if (const Peer* const peer = PeerFor(own, to)) return peer->is_holder();
  if (holds_.contains(own) || by_name_.contains(to) || own_.contains(to.address)) return false;
  return IsKernel(own, to.address);
}

void Node::SendTo(Peer& peer, OutgoingMessage&& message) {
  // Sent before it was known that a kernel is there.
  if (peer.is_holder() && (message.behind_rdma || message.behind_atomic || message.silent ||
                           message.message.extensions.rdma_destination)) {
    End(message.id, RDS_RDMA_OTHER_ERROR);
    return;
  }
  if (peer.name().instance != kKernelInstance) {
    peer.connection().Send(std::move(message));
  } else {
    // It is the lower half of a sequence at this kernel, and not for it.
    message.had_sequence = std::exchange(message.message.extensions.carried, std::nullopt);
    if (peer.connection().met() && WasSent(peer, message)) {
      End(message.id, RDS_RDMA_SUCCESS);
      return;
    }
    const uint64_t id = message.id;
    peer.connection().Send(std::move(message));
    if (peer.connection().met()) TellNumber(id, peer.connection().queue().next_sequence() - 1);
  }
  due_.insert(&peer);
}

// ---- which messages a kernel has ----

bool Node::WasSent(const Peer& kernel, const OutgoingMessage& message) const {
  // Linux mostly says that it has nothing.
  if (!message.had_sequence || kernel.connection().first_ack() == 0) return false;
  const auto first_ack = static_cast<uint32_t>(kernel.connection().first_ack());
  return static_cast<int32_t>(*message.had_sequence - first_ack) <= 0;
}

// To the process that has sent the message, in front of the message itself.
void Node::TellNumber(uint64_t id, uint64_t sequence) {
  const auto found = forwarded_.find(id);
  if (found == forwarded_.end()) return;
  const auto served = peers_.find(found->second.from);
  if (served == peers_.end()) return;
  OutgoingMessage out;
  out.id = ++last_id_;
  out.message.marks = kNumbered;
  out.message.extensions.returned = static_cast<uint32_t>(found->second.sequence);
  out.message.extensions.carried = static_cast<uint32_t>(sequence);
  served->second->Send(std::move(out), now_);
}

// What waited has its sequences now, and some of it the kernel has from a former holder.
void Node::MeetKernel(Peer& kernel) {
  if (kernel.name().instance != kKernelInstance) return;
  std::vector<uint64_t> sent;
  std::vector<std::pair<uint64_t, uint64_t>> numbers;
  kernel.connection().queue().ForEach([&](const OutgoingMessage& message, uint64_t sequence, bool) {
    if (WasSent(kernel, message)) {
      sent.push_back(message.id);
    } else {
      numbers.emplace_back(message.id, sequence);
    }
  });
  for (const uint64_t id : sent) {
    kernel.connection().Complete(id);
    End(id, RDS_RDMA_SUCCESS);
  }
  for (const auto& [id, sequence] : numbers) TellNumber(id, sequence);
}

// ---- what goes through ----

// A message of this peer is none for a socket of this process, or is one that came before.
bool Node::TakeForOthers(Peer& peer, Message& message) {
  if (peer.is_served()) {
    if ((message.marks & kReturned) != 0) {
      TakeReturned(peer, message);
    } else if (message.marks == 0) {
      Forward(peer, message, peer.name().peer, peer.name().own);
    }
    return true;
  }
  const bool from_kernel = peer.name().instance == kKernelInstance;
  if (!from_kernel && (message.marks & kNumbered) != 0) {
    const Extensions& says = message.extensions;
    const bool valid = peer.is_holder() && says.returned && says.carried;
    if (valid) peer.connection().SetCarried(*says.returned, *says.carried);
    return true;
  }
  if (TakeMoved(peer, message)) return true;
  if (!from_kernel) return peer.is_holder() && !IsNew(peer, message);
  const Address& own = peer.name().own;
  const SocketName name{own, message.destination_port};
  // What came back from a process that had the port goes first.
  const bool here = by_name_.contains(name) && !moves_.contains({peer.name().peer, name});
  if (here || name.port == kPingPort) return !IsNew(peer, message);
  Forward(peer, message, peer.name().peer, own);
  return true;
}

// It goes on from `own`, as its receiver sees it, to a port of `to`.
void Node::Forward(Peer& peer, Message& message, const Address& own, const Address& to) {
  OutgoingMessage out;
  out.id = ++last_id_;
  forwarded_.emplace(out.id, Forwarded{peer.name(), message.sequence});
  peer.connection().HoldAck(message.sequence);
  out.message.source_port = message.source_port;
  out.message.destination_port = message.destination_port;
  // Keys of memory say nothing there.
  if (peer.is_served()) {
    out.message.extensions.carried = message.extensions.carried;
  } else {
    out.message.extensions.carried = static_cast<uint32_t>(message.sequence);
    if (message.again) out.message.marks = kRetransmitted;
  }
  out.message.payload = std::move(message.payload);
  out.asks_for_ack = true;
  Dispatch(own, {to, message.destination_port}, std::move(out));
}

bool Node::IsNew(const Peer& peer, const Message& message) {
  const auto kernel = kernels_.find({peer.name().own, peer.name().peer});
  if (kernel == kernels_.end()) return true;
  if (peer.is_holder() && !message.extensions.carried) return true;
  const uint32_t number =
      message.extensions.carried.value_or(static_cast<uint32_t>(message.sequence));
  uint32_t& seen = kernel->second.seen;
  // What the holder before says now, the kernel may have said again already.
  const bool late = kernel->second.leave_at && kernel->second.holder == &peer;
  if ((message.again || late) && static_cast<int32_t>(number - seen) <= 0) return false;
  seen = number;
  return true;
}

void Node::EndForwarded(uint64_t id) {
  const auto found = forwarded_.find(id);
  if (found == forwarded_.end()) return;
  const Forwarded forwarded = found->second;
  forwarded_.erase(found);
  const auto peer = peers_.find(forwarded.from);
  if (peer == peers_.end()) return;
  peer->second->connection().ReleaseAck(forwarded.sequence);
  due_.insert(peer->second.get());
}

// ---- congestion ----

// The kernel's map is for all who are served, and theirs are parts of what the kernel is told.
void Node::TakeMapOf(Peer& peer) {
  const PeerName& name = peer.name();
  if (peer.is_served()) {
    const Pair pair{name.peer, name.own};
    MergeMaps(pair, kernels_.at(pair));
  } else if (name.instance == kKernelInstance) {
    kernels_.at({name.own, name.peer}).of_kernel = peer.connection().peers_map();
    for (const auto& [other, served] : peers_) {
      if (other.own != name.peer || other.peer != name.own || !served->is_served()) continue;
      served->connection().MapChanged();
      due_.insert(served.get());
    }
  }
}

void Node::MergeMaps(const Pair& pair, Kernel& kernel) {
  CongestionMap merged = own_[pair.first];
  for (const auto& [name, peer] : peers_) {
    const bool served = peer && peer->is_served() && name.own == pair.second;
    if (served && name.peer == pair.first) merged.Merge(peer->connection().peers_map());
  }
  if (merged == kernel.of_address) return;
  kernel.of_address = merged;
  const auto peer = peers_.find({pair.first, pair.second, kKernelInstance});
  if (peer == peers_.end() || !peer->second) return;
  peer->second->connection().MapChanged();
  due_.insert(peer->second.get());
}

void Node::MergeMaps(const Address& own) {
  for (auto& [pair, kernel] : kernels_) {
    if (pair.first == own) MergeMaps(pair, kernel);
  }
}

void Node::ForgetKernelsOf(const Peer& peer) {
  if (peer.is_served()) MergeMaps(peer.name().peer);
  for (auto& [pair, kernel] : kernels_) {
    if (kernel.holder != &peer) continue;
    kernel.holder = nullptr;
    kernel.leave_at.reset();
  }
}

void Node::LeaveHolders(Time now) {
  for (auto& [pair, kernel] : kernels_) {
    if (kernel.leave_at && *kernel.leave_at <= now) gone_.insert(kernel.holder);
  }
}

}  // namespace softdat::rds
