// SPDX-License-Identifier: BSD-3-Clause
// Endpoint's data path: posts, receiving, sending, gathering.
#include <errno.h>
#include <string.h>

#include <algorithm>
#include <utility>

#include "provider_softnet/connection/endpoint.h"
#include "provider_softnet/driver/patient_lock.h"

namespace softdat::softnet {
namespace {

constexpr size_t kSendIov = 256;
constexpr size_t kReceiveIov = 16;
constexpr size_t kSendBatch = 1 << 20;
// Bytes read in one go. This bounds how long the lock is held and how long other sockets wait.
constexpr size_t kReceiveBudget = 512 * 1024;
// Bytes written in one go, for the same reason. The socket of a reader that keeps up never fills.
constexpr size_t kSendBudget = 4 << 20;
// From here on a message is bulk for a link.
constexpr size_t kBulk = 128 << 10;

size_t BytesOf(const transport::SendRequest& request) {
  size_t bytes = 0;
  for (const Segment& s : request.local) bytes += s.segment_length;
  return bytes;
}

}  // namespace

// -------------------------------------------------------------------------------------------------
// Posts

[[gnu::hot]] Code Endpoint::PostSend(const transport::SendRequest& request) {
  PendingUpcalls upcalls;
  std::unique_lock<FastMutex> lock(mutex_);
  if (state_ == State::kIdle || state_ == State::kConnecting) return Code::kInvalidState;
  if (stream_ == nullptr) {  // ended without ever having been connected
    queues_.FlushPosted(request, &upcalls);
    lock.unlock();
    upcalls.Make();
    return Code::kOk;
  }
  Code code = stream_->PostSend(request);
  if (code == Code::kQueueFull && data_open_ && link_ != nullptr && Receive()) {
    // A program that suppresses its completions has nothing to poll for. The confirmation of its
    // work may wait in the socket.
    code = stream_->PostSend(request);
    if (code != Code::kOk) Finish(&lock, &upcalls);
  }
  if (code != Code::kOk) return code;
  if (state_ == State::kConnected) {
    const size_t bytes = BytesOf(request);
    const bool leaves = request.op != transport::Op::kRdmaRead;
    if (leaves && bytes >= kBulk && link_ != nullptr) link_->ExpectBulk();
    if (!send_blocked_) WriteOrGather(request, bytes);
  }
  Finish(&lock, &upcalls);
  return Code::kOk;
}

[[gnu::hot]] void Endpoint::WriteOrGather(const transport::SendRequest& request, size_t bytes) {
  Gathering::Post post;
  post.epoch = driver_->EpochFor(HotSetOf(queues_.send_cq()), HotSetOf(queues_.recv_cq()));
  post.helper_ticks = driver_->HelperTicks();
  post.op = request.op;
  post.queued = queues_.sends().count();
  post.capacity = queues_.sends().capacity();
  post.bytes = bytes;
  const Gathering::Plan plan = gathering_.OnPost(post);
  switch (plan) {
    case Gathering::Plan::kWrite:
      counters_.inline_sends.Add();
      Transmit();
      return;
    case Gathering::Plan::kWriteAll:
      Transmit();
      driver_->NoteFlush();
      return;
    case Gathering::Plan::kKeep:
      return counters_.deferred_sends.Add();
    case Gathering::Plan::kKeepAndTell:
      counters_.deferred_sends.Add();
      return driver_->DeferSends(this, Driver::Wake::kNobody);
    case Gathering::Plan::kKeepAndWatch:
      counters_.deferred_sends.Add();
      return driver_->DeferSends(this, Driver::Wake::kHelper);
  }
}

[[gnu::hot]] Code Endpoint::PostReceive(const transport::ReceiveRequest& request) {
  PendingUpcalls upcalls;
  std::unique_lock<FastMutex> lock(mutex_);
  if (queues_.srq()) return Code::kInvalidState;
  Code code;
  // Nothing waits for a receive.
  if (stream_ != nullptr && !stream_->stalled() && !stream_->ended()) [[likely]]
    return stream_->PostReceive(request);
  if (stream_ != nullptr) {
    code = stream_->PostReceive(request);
  } else {
    code = queues_.PostReceive(context_->memory, id_, request);
    if (code == Code::kOk && state_ == State::kEnded) queues_.FlushReceives(&upcalls);
  }
  Finish(&lock, &upcalls);
  return code;
}

// -------------------------------------------------------------------------------------------------
// Sending

[[gnu::hot]] bool Endpoint::Transmit() {
  gathering_.OnWritten();
  if (link_ == nullptr) return false;
  bool moved = false;
  size_t budget = kSendBudget;
  iovec iov[kSendIov];
  while (stream_->wants_transmit()) {
    const Stream::Batch batch = stream_->TransmitVector(iov, kSendIov, kSendBatch);
    if (batch.count == 0) {
      send_blocked_ = false;
      return true;  // a bind, or nothing that may be sent now
    }
    const ssize_t n = link_->Send(iov, batch.count);
    const int error = errno;
    counters_.send_calls.Add();
    stream_->OnTransmitted(n > 0 ? static_cast<size_t>(n) : 0);
    if (n > 0) {
      counters_.bytes_sent.Add(static_cast<uint64_t>(n));
      context_->paths.NoteSent();
      moved = true;
    }
    if (n < 0 && error == EINTR) continue;
    if (n < 0 && error != EAGAIN && error != EWOULDBLOCK && error != ENOBUFS) {
      // What the peer sent before it left must still be read. It may hold the reason (a Terminate).
      while (data_open_ && !stream_->ended() && Receive()) {
      }
      if (stream_->ended()) pending_.abort = true;  // nothing more can be sent
      LoseConnection(error);
      return true;
    }
    if (n > 0) budget -= std::min(budget, static_cast<size_t>(n));
    if (n < static_cast<ssize_t>(batch.bytes) || budget == 0) {
      if (!send_blocked_) pending_.watch = true;
      send_blocked_ = true;
      return moved;
    }
  }
  send_blocked_ = false;
  return moved;
}

[[gnu::hot]] bool Endpoint::FlushSends(Flusher by) {
  PendingUpcalls upcalls;
  std::unique_lock<FastMutex> lock(mutex_, std::defer_lock);
  if (!LockPatiently(&lock, PatienceOf(by))) {
    driver_->DeferSends(this, Driver::Wake::kNobody);
    return false;
  }
  if (by == Flusher::kPoller && !dead_ && stream_ != nullptr &&
      gathering_.Lingers(queues_.sends().count())) {
    driver_->DeferSends(this, Driver::Wake::kNobody);
    return false;
  }
  gathering_.OnFlush();
  if (dead_ || stream_ == nullptr || !gathering_.any()) return false;
  gathering_.NoteFlusher(/*by_program=*/by != Flusher::kHelper);
  const bool moved = Transmit();
  Finish(&lock, &upcalls);
  return moved;
}

bool Endpoint::PayOwed(Patience patience) {
  PendingUpcalls upcalls;
  std::unique_lock<FastMutex> lock(mutex_, std::defer_lock);
  if (!LockPatiently(&lock, patience)) {
    if (patience != Patience::kTry) driver_->Owe(this);
    return false;
  }
  owing_ = false;
  if (dead_ || stream_ == nullptr) return false;
  const bool owes = stream_->owes();
  if (patience == Patience::kRide &&
      ride_hope_.Leave(owes, queues_.sends().back(), LoopClock::now(), driver_->ride())) {
    owing_ = true;
    driver_->Owe(this);
    return false;
  }
  if (!owes) return false;
  ride_hope_.Forget(queues_.sends().back());
  stream_->PayOwed();
  if (send_blocked_) return false;  // the payment leaves when there is room
  const bool moved = Transmit();
  Finish(&lock, &upcalls);
  return moved;
}

void Endpoint::SetHot(bool hot) {
  const std::lock_guard<FastMutex> lock(mutex_);
  hot_ += hot ? 1 : -1;
  if (stream_ != nullptr) stream_->KeepBlocks(hot_ > 0);
}

uint32_t Endpoint::OwnPolls() const {
  uint32_t polls = 0;
  for (const HotSet* set : {HotSetOf(queues_.send_cq()), HotSetOf(queues_.recv_cq())}) {
    if (set != nullptr) polls += set->polls();
  }
  return polls;
}

bool Endpoint::Leave() {
  std::unique_lock<FastMutex> lock(mutex_, std::defer_lock);
  if (!LockPatiently(&lock, Patience::kTry)) return true;
  if (dead_ || stream_ == nullptr || !data_open_) return true;
  if (!std::exchange(leaving_, true)) {
    if (send_blocked_) {
      // Our own message is lost with the process. Only the segment that is half sent and the word
      // behind it must leave.
      link_->MakeRoom();
      stream_->Disconnect(transport::DisconnectMode::kAbrupt);
    } else {
      stream_->PayOwed();  // the helper may have left it to a send that does not come any more
      stream_->SayPartingWord();
    }
  }
  Transmit();
  return !send_blocked_ || !stream_->wants_transmit();
}

// -------------------------------------------------------------------------------------------------
// Receiving

// Returns whether all that was there is used, and there was some.
[[gnu::hot]] bool Endpoint::ReceiveInPlace(size_t* budget) {
  size_t used = 0;
  do {
    const ByteSpan bytes = link_->Lend();
    if (bytes.empty()) return used > 0;
    counters_.recv_calls.Add();
    used = stream_->TakeInPlace(bytes);
    if (used == 0) return false;
    counters_.bytes_received.Add(used);
    *budget -= std::min(*budget, used);
    if (!link_->TakeBack(used)) return true;
  } while (*budget > 0);
  return true;
}

[[gnu::hot]] bool Endpoint::Receive() {
  size_t budget = kReceiveBudget;
  if (link_->lends() && ReceiveInPlace(&budget)) return true;
  bool moved = budget < kReceiveBudget;
  while (budget > 0) {
    iovec iov[kReceiveIov];
    const size_t count = stream_->ReceiveVector(iov, kReceiveIov);
    if (count == 0) break;
    size_t room = 0;
    for (size_t i = 0; i < count; ++i) room += iov[i].iov_len;
    const ssize_t n = link_->Receive(iov, count);
    const int error = errno;
    counters_.recv_calls.Add();
    stream_->OnReceived(n > 0 ? static_cast<size_t>(n) : 0);
    if (n > 0) {
      const size_t size = static_cast<size_t>(n);
      counters_.bytes_received.Add(size);
      moved = true;
      budget -= std::min(budget, size);
      if (size < room) break;  // the link had no more
      continue;
    }
    if (n == 0) {
      stream_->OnPeerFin();
      return true;
    }
    if (error == EINTR) continue;
    if (error != EAGAIN && error != EWOULDBLOCK) {
      LoseConnection(error);
      return true;
    }
    counters_.recv_empty.Add();
    rest_.OnNothing(stream_->payload_missing());
    break;
  }
  return moved;
}

[[gnu::hot]] bool Endpoint::TryReceive() {
  SetRests(false);
  PendingUpcalls upcalls;
  std::unique_lock<FastMutex> lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock() || !data_open_ || link_ == nullptr) return false;
  bool moved = false;
  if (rest_.Lasts()) [[unlikely]]
    SetRests(true);
  else
    moved = !link_->Silent() && Receive();
  const bool write = moved && gathering_.any() && !gathering_.Lingers(queues_.sends().count());
  if (send_blocked_ || write) moved |= Transmit();
  if (!moved && !pending_.any() && !HasActions()) return false;
  Finish(&lock, &upcalls);
  return moved;
}

// -------------------------------------------------------------------------------------------------
// After each step

void Endpoint::TakeActions(PendingUpcalls* upcalls) {
  // Sending may complete work, and a completion may allow more to be sent (after a fence, or at the
  // end of a graceful disconnect).
  constexpr int kRounds = 8;
  for (int round = 0; round <= kRounds; ++round) {
    const StreamActions actions = stream_->TakeActions();
    if (actions.notices.send) upcalls->Owe(queues_.send_cq());
    if (actions.notices.receive) upcalls->Owe(queues_.recv_cq());
    if (actions.notices.shared_limit) upcalls->OweLimit(queues_.srq());
    pending_.Add(actions);
    if (actions.ended) state_ = State::kEnded;
    if (actions.owes && !owing_) {
      owing_ = true;
      driver_->Owe(this);
    }
    if (!actions.transmit || !MayTransmit() || round == kRounds) return;
    Transmit();
  }
}

[[gnu::hot]] void Endpoint::Finish(std::unique_lock<FastMutex>* lock, PendingUpcalls* upcalls) {
  if (stream_ != nullptr) {
    if (HasActions()) TakeActions(upcalls);
    // A stalled stream has begun or ceased to look for answers. The watch must follow.
    if (stream_->reads() != watch_reads_ && data_open_ && !stream_->ended()) {
      pending_.watch = true;
    }
  }
  const bool control = pending_.any() && !dead_;
  lock->unlock();
  upcalls->Make();
  if (control) driver_->RequestAttention(this);
}

}  // namespace softdat::softnet
