// SPDX-License-Identifier: BSD-3-Clause
#include "rds/socket/peer.h"

#include <algorithm>
#include <utility>

namespace softdat::rds {
namespace {

// A message may need three places on a channel: for an RDMA, an atomic operation and a frame.
constexpr size_t kPlaces = 3;

// So many receives are posted at once. Fewer wait until the program does: it has answered then.
constexpr uint32_t kMostUsed = 8;

// How long a message may wait for an answer that brings its acknowledgement. When a process ends,
// what it has not acknowledged is sent to the next one that has the port.
constexpr Time kNewsWait = std::chrono::milliseconds(2);

}  // namespace

Peer::~Peer() { Drop(); }

// ---- sending ----

void Peer::Send(OutgoingMessage message, Time now) {
  connection_.Send(std::move(message));
  Pump(now);
}

void Peer::Pump(Time now) {
  const bool wanted = connection_.unacknowledged() > 0 || name_.instance != kKernelInstance;
  if (state_ == State::kIdle && !retry_at_ && wanted) Connect(now);
  while (state_ == State::kUp && connection_.wants_frame() && link_.room(channel_) >= kPlaces) {
    const std::optional<Frame> frame = connection_.NextFrame();
    if (frame->behind_operations_of) host_.PostOperations(channel_, *frame->behind_operations_of);
    if (!frame->silent) link_.Send(channel_, *frame, frame->behind_operations_of.has_value());
  }
  if (!connection_.has_news()) {
    tell_at_.reset();
  } else if (!tell_at_) {
    tell_at_ = now + kNewsWait;
  }
}

void Peer::TellNews(Time now) {
  connection_.OweAck();
  Pump(now);
}

// ---- connecting ----

Introduction Peer::Self() const {
  Introduction out;
  out.kind = Introduction::Kind::kJoin;
  out.own = name_.own;
  out.peer = name_.peer;
  out.port = link_.service(here());
  out.instance = self_;
  out.for_instance = name_.instance;
  out.ack_sequence = connection_.ack_sequence();
  out.credit = link_.credit(here());
  out.for_kernel = meeting_at_.has_value();
  return out;
}

// A kernel that connects refuses all requests until that has failed.
bool Peer::GoesFirst() const {
  if (name_.instance == kKernelInstance) return false;
  return std::pair(name_.own, self_) < std::pair(name_.peer, name_.instance);
}

void Peer::Connect(Time now) {
  if (service_ == 0) {
    host_.OnGone(*this);
    return;
  }
  const Introduction self = Self();
  own_credit_ = self.credit;
  const std::optional<ChannelId> channel = link_.Connect(here(), there(), service_, Encode(self));
  if (!channel) {
    RetryLater(now);
    return;
  }
  state_ = State::kConnecting;
  Use(*channel);
}

void Peer::RetryLater(Time now) {
  state_ = State::kIdle;
  retry_at_ = now + backoff_.Next();
}

void Peer::OnTimer(Time now) {
  if (retry_at_ && *retry_at_ <= now) {
    retry_at_.reset();
    Pump(now);
  }
  if (tell_at_ && *tell_at_ <= now) TellNews(now);
}

void Peer::Use(ChannelId channel) {
  channel_ = channel;
  heard_ = false;
  used_receives_ = 0;
  retry_at_.reset();
  host_.OnChannel(channel, this);
}

void Peer::Drop() {
  if (channel_ == 0) return;
  const ChannelId channel = std::exchange(channel_, 0);
  host_.OnChannel(channel, nullptr);
  link_.Close(channel);
  state_ = State::kIdle;
  tell_at_.reset();
  connection_.Down();
}

bool Peer::OnJoin(ChannelId request, const Introduction& introduction, Time) {
  if (state_ == State::kConnecting && GoesFirst()) return false;
  // An older channel has broken, of which this end has not heard yet.
  Drop();
  if (introduction.port != 0) service_ = introduction.port;
  const Introduction self = Self();
  own_credit_ = self.credit;
  accepted_ = introduction;
  state_ = State::kAccepting;
  Use(request);
  link_.Accept(request, Encode(self));
  return true;
}

void Peer::OnEstablished(ByteSpan data, Time now) {
  if (state_ == State::kAccepting) {
    Up(accepted_, now);
    return;
  }
  const std::optional<Introduction> introduction = ParseIntroduction(data, name_.peer.ipv6);
  if (!introduction || introduction->instance != name_.instance) {
    // Another process has the service now.
    Drop();
    host_.OnGone(*this);
    return;
  }
  Up(*introduction, now);
}

void Peer::Adopt(ChannelId channel, const Introduction& introduction, Time now) {
  Drop();
  own_credit_ = link_.credit(name_.own);
  Use(channel);
  Up(introduction, now);
}

void Peer::Up(const Introduction& introduction, Time now) {
  state_ = State::kUp;
  connection_.Up(introduction.ack_sequence, own_credit_, introduction.credit);
  Settle();
  Pump(now);
}

void Peer::OnRejected(const Refusal& refusal, Time now) {
  Drop();
  if (refusal.kind == Refusal::Kind::kBusy || name_.instance == kKernelInstance) {
    RetryLater(now);
  } else {
    host_.OnGone(*this);
  }
}

void Peer::OnBroken(bool refused, Time now) {
  const bool worked = heard_;
  Drop();
  if (refused && name_.instance != kKernelInstance) {
    host_.OnGone(*this);
    return;
  }
  // The first attempt follows at once.
  if (worked) {
    Pump(now);
  } else {
    RetryLater(now);
  }
}

void Peer::Reset(Time now) {
  if (state_ != State::kUp) return;
  Drop();
  Pump(now);
}

// ---- receiving ----

void Peer::OnFrame(ByteSpan frame, Time now) {
  if (state_ != State::kUp) return;
  if (!connection_.within_message()) began_ = now;
  if (!connection_.Receive(frame)) {
    Settle();
    Drop();
    RetryLater(now);
    return;
  }
  if (!std::exchange(heard_, true)) backoff_.Reset();
  if (++used_receives_ == kMostUsed) PostReceives();
  Settle();
}

// The peer hears of them when they are posted, not before.
void Peer::PostReceives() {
  if (used_receives_ == 0 || state_ != State::kUp) return;
  link_.PostReceives(channel_);
  connection_.PostedReceives(std::exchange(used_receives_, 0));
}

void Peer::Settle() {
  while (std::optional<Event> event = connection_.TakeEvent())
    host_.OnEvent(*this, *std::move(event));
}

}  // namespace softdat::rds
