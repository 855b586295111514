// SPDX-License-Identifier: BSD-3-Clause
// Party after the connection is agreed on: its stream, its end, and its link after that.
#include <errno.h>
#include <string.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <utility>

#include "tests/sim/connecting_node.h"
#include "tests/sim/connecting_party.h"

namespace softdat::sim {

using softnet::Stream;
using softnet::StreamActions;
using softnet::StreamConfig;
using transport::DisconnectMode;

namespace {

// How long owed bytes wait for others to travel with.
constexpr uint64_t kOwedUs = 20;

}  // namespace

PartySide::PartySide(softnet::MemoryTable* table, StreamConfig config)
    : EngineSide(table, {.queue = 16, .max_segments = 2}) {
  config.work = ForLedger();
  stream = std::make_unique<Stream>(config);
}

// Nothing is pinned any more, or this would hang.
PartySide::~PartySide() {
  stream.reset();
  for (const Buffer& buffer : buffers) memory->DeregisterRegion(buffer.key);
}

void Party::StartStream(bool initiator) {
  StreamConfig config;
  config.initiator = initiator;
  config.agreement = agreement_;
  config.mulpdu = 1400;
  config.blocks = &node_->blocks();
  config.confirm = true;
  side_ = std::make_unique<PartySide>(&node_->memory(), config);
}

void Party::Establish(Data private_data) {
  phase_ = Phase::kConnected;
  node_->sink().OnEstablished(*this, private_data);
  Move();
}

void Party::Disconnect(DisconnectMode mode) {
  side_->stream->Disconnect(mode);
  if (!side_->stream->ended()) {
    SetTimer(&timer_, node_->time().now_us() + node_->options().disconnect_us, &Party::OnDrainTime);
  }
  Move();
}

void Party::OnDrainTime() {
  if (phase_ == Phase::kConnected && !side_->stream->ended()) Disconnect(DisconnectMode::kAbrupt);
}

// Moves what can be moved, and handles the results.
void Party::Move() {
  bool moved = true;
  while (moved && phase_ == Phase::kConnected) {
    moved = Transmit();
    if (!side_->stream->ended()) moved |= ReceiveBytes();
    Act();
    // A receive that was posted meanwhile lets a stalled stream read on.
    if (phase_ != Phase::kConnected || side_->stream->ended()) continue;
    moved |= side_->stream->reads() && node_->streams().Peek(link_) > 0;
  }
  if (phase_ != Phase::kConnected) return;
  if (side_->stream->owes() && owed_timer_ == 0) {
    SetTimer(&owed_timer_, node_->time().now_us() + kOwedUs, &Party::OnOwedTime);
  }
}

void Party::OnOwedTime() {
  if (phase_ != Phase::kConnected || !side_->stream->owes()) return;
  side_->stream->PayOwed();
  Move();
}

bool Party::Transmit() {
  std::array<iovec, 16> iov;
  Stream& stream = *side_->stream;
  const Stream::Batch batch = stream.TransmitVector(iov.data(), iov.size(), 1 << 16);
  if (batch.count == 0) return false;
  size_t sent = 0;
  for (size_t k = 0; k < batch.count; ++k) {
    const auto* bytes = static_cast<const uint8_t*>(iov[k].iov_base);
    const ssize_t n = node_->streams().Send(link_, {bytes, iov[k].iov_len});
    if (n > 0) sent += static_cast<size_t>(n);
    if (n < static_cast<ssize_t>(iov[k].iov_len)) break;
  }
  stream.OnTransmitted(sent);
  return sent > 0;
}

bool Party::ReceiveBytes() {
  std::array<iovec, 16> iov;
  Stream& stream = *side_->stream;
  const size_t count = stream.ReceiveVector(iov.data(), iov.size());
  size_t received = 0;
  ssize_t n = count == 0 ? node_->streams().Peek(link_) : 0;
  for (size_t k = 0; k < count; ++k) {
    n = node_->streams().Receive(link_, {static_cast<uint8_t*>(iov[k].iov_base), iov[k].iov_len});
    if (n > 0) received += static_cast<size_t>(n);
    if (n < static_cast<ssize_t>(iov[k].iov_len)) break;
  }
  if (count > 0) stream.OnReceived(received);
  if (received > 0) return true;
  if (n == -EAGAIN || n > 0) return false;
  if (stream.ended()) return true;
  if (n == 0) {
    if (count > 0) {
      stream.OnPeerFin();
    } else {
      stream.OnPeerHangup();
    }
  } else if (n == -EPIPE || n == -ECONNRESET) {
    stream.OnPeerGone();
  } else {
    stream.OnPeerReset(strerror(static_cast<int>(-n)));
  }
  return stream.ended();
}

void Party::Act() {
  const StreamActions actions = side_->stream->TakeActions();
  if (actions.notices.send) side_->send_ring.Notify();
  if (actions.notices.receive) side_->receive_ring.Notify();
  if (actions.timer) {
    node_->time().Cancel(std::exchange(stream_timer_, 0));
    const softnet::StreamTimer& timer = side_->stream->timer();
    if (timer.id != 0) {
      SetTimer(&stream_timer_, node_->time().now_us() + timer.delay_us, &Party::OnStreamTime);
    }
  }
  node_->sink().OnMoved(*this);
  if (actions.ended || actions.abort || actions.close_write) OnEnd(actions);
}

void Party::OnStreamTime() {
  if (phase_ != Phase::kConnected) return;
  side_->stream->OnTimer(side_->stream->timer().id);
  Move();
}

void Party::OnEnd(const StreamActions& actions) {
  const softnet::StreamEnd end = side_->stream->end();
  if (actions.ended && !std::exchange(told_end_, true)) {
    node_->sink().OnEnded(*this, end.reason, end.why);
  }
  if (actions.abort) return Discard();
  if (actions.close_write || end.abrupt) {
    if (end.abrupt) SendRest();
    return CloseGently();
  }
  // Last words wait for room in the link, but not for ever.
  SetTimer(&timer_, node_->time().now_us() + node_->options().close_us, &Party::OnCloseTime);
}

// Sends the rest of a message that is half sent.
void Party::SendRest() {
  while (side_->stream->wants_transmit() && Transmit()) {
  }
}

// Our FIN goes after what was sent. Everything that comes is dropped until the peer's FIN.
void Party::CloseGently() {
  StopTimers();
  phase_ = Phase::kClosing;
  node_->streams().ShutdownWrite(link_);
  SetTimer(&timer_, node_->time().now_us() + node_->options().close_us, &Party::OnCloseTime);
  Drain();
}

void Party::Drain() {
  std::array<uint8_t, 2048> dropped;
  ssize_t n = 0;
  do {
    n = node_->streams().Receive(link_, dropped);
  } while (n > 0);
  if (n != -EAGAIN) Finish();
}

// A peer that does not close is given up. The data that it has not read is still on its way, unless
// it need not get them.
void Party::OnCloseTime() {
  if (phase_ == Phase::kConnected || (side_ != nullptr && side_->stream->end().abrupt)) {
    return Discard();
  }
  Finish();
}

void Party::Finish() {
  if (phase_ == Phase::kOver) return;
  StopTimers();
  phase_ = Phase::kOver;
  if (link_ != 0) {
    node_->streams().Close(link_);
    node_->Unroute(std::exchange(link_, 0));
  }
  node_->Retire(this);
}

void Party::Forget() {
  StopTimers();
  phase_ = Phase::kOver;
  node_->Unroute(std::exchange(link_, 0));
  node_->Retire(this);
}

void Party::SetTimer(VirtualTime::Id* timer, uint64_t at_us, void (Party::*handler)()) {
  node_->time().Cancel(*timer);
  *timer = node_->time().At(at_us, [this, timer, handler] {
    *timer = 0;
    (this->*handler)();
  });
}

void Party::StopTimers() {
  for (VirtualTime::Id* timer : {&timer_, &stream_timer_, &owed_timer_}) {
    node_->time().Cancel(std::exchange(*timer, 0));
  }
}

}  // namespace softdat::sim
