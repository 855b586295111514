// SPDX-License-Identifier: BSD-3-Clause
// RoceEndpoint's data path: posts, packets in, packets out, gathering.

#include <new>

#include "dat/base/socket_address.h"
#include "provider_softnet/driver/loop_time.h"
#include "provider_softnet/driver/patient_lock.h"
#include "provider_softnet/udp_wire/roce_endpoint.h"

namespace softdat::softnet {
namespace {

// Packets that are kept until the engine knows of the connection.
constexpr size_t kMostEarly = 64;

size_t BytesOf(const transport::SendRequest& request) {
  size_t bytes = 0;
  for (const Segment& s : request.local) bytes += s.segment_length;
  return bytes;
}

}  // namespace

// -------------------------------------------------------------------------------------------------
// Posts

[[gnu::hot]] Code RoceEndpoint::PostSend(const transport::SendRequest& request) {
  PendingUpcalls upcalls;
  std::unique_lock<FastMutex> lock(mutex_);
  if (state_ == State::kIdle || state_ == State::kConnecting) return Code::kInvalidState;
  if (connection_ == nullptr) {  // ended without ever having been connected
    queues_.FlushPosted(request, &upcalls);
    lock.unlock();
    upcalls.Make();
    return Code::kOk;
  }
  const Code code = connection_->PostSend(request);
  if (code != Code::kOk) return code;
  if (state_ == State::kConnected) WriteOrGather(request);
  Finish(&lock, &upcalls);
  return Code::kOk;
}

[[gnu::hot]] void RoceEndpoint::WriteOrGather(const transport::SendRequest& request) {
  Gathering::Post post;
  post.epoch = driver_->EpochFor(HotSetOf(queues_.send_cq()), HotSetOf(queues_.recv_cq()));
  post.helper_ticks = driver_->HelperTicks();
  post.op = request.op;
  post.queued = queues_.sends().count();
  post.capacity = queues_.sends().capacity();
  post.bytes = BytesOf(request);
  const Gathering::Plan plan = gathering_.OnPost(post);
  switch (plan) {
    case Gathering::Plan::kWrite:
      Transmit();
      return;
    case Gathering::Plan::kWriteAll:
      Transmit();
      driver_->NoteFlush();
      return;
    case Gathering::Plan::kKeep:
      return;
    case Gathering::Plan::kKeepAndTell:
      return driver_->DeferSends(this, Driver::Wake::kNobody);
    case Gathering::Plan::kKeepAndWatch:
      return driver_->DeferSends(this, Driver::Wake::kHelper);
  }
}

[[gnu::hot]] Code RoceEndpoint::PostReceive(const transport::ReceiveRequest& request) {
  PendingUpcalls upcalls;
  std::unique_lock<FastMutex> lock(mutex_);
  if (queues_.srq()) return Code::kInvalidState;
  Code code;
  if (connection_ != nullptr) {
    code = connection_->PostReceive(request);
  } else {
    code = queues_.PostReceive(adapter_->memory, id_, request);
    if (code == Code::kOk && state_ == State::kEnded) queues_.FlushReceives(&upcalls);
  }
  Finish(&lock, &upcalls);
  return code;
}

// -------------------------------------------------------------------------------------------------
// Packets out

[[gnu::hot]] bool RoceEndpoint::Transmit() {
  gathering_.OnWritten();
  bool moved = false;
  PacketBatch batch;
  while (MayTransmit() && connection_->wants_transmit()) {
    connection_->Transmit(&batch, LoopTimeUs());
    if (batch.empty()) return true;  // a bind
    const SendResult sent = plane_->Send(batch, peer_, 0);
    moved |= sent.packets > 0;
    if (sent.packets < batch.size()) {
      connection_->TakeBack(batch, sent.packets);
      full_ = true;
      plane_->WaitForRoom(this);
    }
    batch.Clear();
  }
  return moved;
}

bool RoceEndpoint::FlushSends(Flusher by) {
  PendingUpcalls upcalls;
  std::unique_lock<FastMutex> lock(mutex_, std::defer_lock);
  if (!LockPatiently(&lock, PatienceOf(by))) {
    driver_->DeferSends(this, Driver::Wake::kNobody);
    return false;
  }
  gathering_.OnFlush();
  if (silent() || connection_ == nullptr || !gathering_.any()) return false;
  gathering_.NoteFlusher(/*by_program=*/by != Flusher::kHelper);
  const bool moved = Transmit();
  Finish(&lock, &upcalls);
  return moved;
}

[[gnu::hot]] bool RoceEndpoint::PayOwed(Patience patience) {
  PendingUpcalls upcalls;
  std::unique_lock<FastMutex> lock(mutex_, std::defer_lock);
  if (!LockPatiently(&lock, patience)) {
    if (patience != Patience::kTry) driver_->Owe(this);
    return false;
  }
  owing_ = false;
  if (silent() || connection_ == nullptr) return false;
  const bool owes = connection_->owes();
  if (patience == Patience::kRide &&
      ride_hope_.Leave(owes, queues_.sends().back(), LoopClock::now(), driver_->ride())) {
    owing_ = true;
    driver_->Owe(this);
    return false;
  }
  if (!owes) return false;
  ride_hope_.Forget(queues_.sends().back());
  connection_->PayOwed();
  const bool moved = Transmit();
  Finish(&lock, &upcalls);
  return moved;
}

void RoceEndpoint::PayLast() {
  std::unique_lock<FastMutex> lock(mutex_, std::defer_lock);
  if (!LockPatiently(&lock, Patience::kTry)) return;
  if (silent() || connection_ == nullptr) return;
  connection_->PayOwed();
  Transmit();
}

void RoceEndpoint::OnRoom() {
  PendingUpcalls upcalls;
  std::unique_lock<FastMutex> lock(mutex_);
  full_ = false;
  if (silent() || connection_ == nullptr) return;
  Transmit();
  Finish(&lock, &upcalls);
}

// -------------------------------------------------------------------------------------------------
// Packets in

[[gnu::hot]] void RoceEndpoint::OnPacket(const Arrival& arrival) {
  const std::lock_guard<FastMutex> lock(mutex_);
  // A late one of an earlier connection, or from somebody else (IBTA vol. 1 §9.6.1.5).
  if (silent() || connection_ == nullptr || arrival.packet.bth.dest_qpn != qpn_) return;
  if (!SameHost(arrival.source, peer_.address())) return;
  if (!data_open_ && !connection_->ended()) return KeepEarly(arrival);
  Take(arrival.packet);
}

void RoceEndpoint::Take(const roce::Packet& packet) { connection_->OnPacket(packet, LoopTimeUs()); }

// The engine is told of the connection first. On the passive side a request says what the peer's
// RTU would, should that be lost (IBTA vol. 1 §12.9.7.2).
void RoceEndpoint::KeepEarly(const Arrival& arrival) {
  if (early_.size() >= kMostEarly) return;
  try {
    early_.emplace_back(arrival.datagram.begin(), arrival.datagram.end());
  } catch (const std::bad_alloc&) {
    return;  // lost on the way, as far as the peer can tell
  }
  if (state_ == State::kConnecting) pending_.established = true;
}

void RoceEndpoint::ReplayEarly() {
  const std::vector<std::vector<uint8_t>> packets = std::move(early_);
  early_.clear();
  for (const std::vector<uint8_t>& bytes : packets) {
    roce::Packet packet;
    if (roce::ParsePacket(bytes, &packet) == roce::PacketParse::kOk) Take(packet);
  }
}

void RoceEndpoint::FinishPacketsSoon() {
  {
    const std::lock_guard<FastMutex> lock(mutex_);
    pending_.packets = true;
  }
  driver_->RequestAttention(this);
}

[[gnu::hot]] void RoceEndpoint::OnPacketsEnd() {
  PendingUpcalls upcalls;
  std::unique_lock<FastMutex> lock(mutex_);
  if (silent() || connection_ == nullptr) return;
  if (data_open_) Transmit();
  Finish(&lock, &upcalls);
}

// -------------------------------------------------------------------------------------------------
// After each step

[[gnu::hot]] void RoceEndpoint::TakeActions(PendingUpcalls* upcalls) {
  // Sending may complete work, and that may let more be sent (a fence, the end of a graceful
  // disconnect).
  constexpr int kRounds = 8;
  for (int round = 0; round <= kRounds; ++round) {
    const RcActions actions = connection_->TakeActions();
    if (actions.notices.send) upcalls->Owe(queues_.send_cq());
    if (actions.notices.receive) upcalls->Owe(queues_.recv_cq());
    if (actions.notices.shared_limit) upcalls->OweLimit(queues_.srq());
    pending_.watermark |= actions.notices.watermark;
    if (actions.ended) {
      state_ = State::kEnded;
      pending_.ended = true;
    }
    if (actions.owes && !owing_) {
      owing_ = true;
      driver_->Owe(this);
    }
    // A gathered send is left alone; the rest (answers, last words) leaves now.
    const bool may = MayTransmit() && !gathering_.any();
    if (!actions.transmit || !may || round == kRounds) break;
    Transmit();
  }
}

[[gnu::hot]] void RoceEndpoint::Finish(std::unique_lock<FastMutex>* lock, PendingUpcalls* upcalls) {
  if (connection_ != nullptr) {
    if (connection_->has_actions()) TakeActions(upcalls);
    const uint64_t deadline_us = connection_->deadline_us();
    if (deadline_us != 0 && (armed_us_ == 0 || deadline_us < armed_us_)) pending_.timer = true;
  }
  const bool control = pending_.any() && !silent();
  lock->unlock();
  upcalls->Make();
  if (control) driver_->RequestAttention(this);
}

}  // namespace softdat::softnet
