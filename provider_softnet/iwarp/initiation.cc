// SPDX-License-Identifier: BSD-3-Clause
// Initiation.
#include "provider_softnet/iwarp/initiation.h"

#include <errno.h>
#include <string.h>

#include <algorithm>
#include <utility>

namespace softdat::softnet {

using transport::RejectReason;

namespace {

constexpr Initiation::Time kFirstPause = std::chrono::milliseconds(1);
constexpr Initiation::Time kLongestPause = std::chrono::milliseconds(20);

// ETIMEDOUT is the time limit of the system and means that nobody is there. kTimedOut is for the
// consumer's own time limit (semantics 9.2).
RejectReason ReasonOf(int error) {
  switch (error) {
    case ECONNREFUSED:
    case ECONNRESET:
    case EPIPE:
      return RejectReason::kNonPeer;
    default:
      return RejectReason::kUnreachable;
  }
}

}  // namespace

Initiation::Initiation(Parameters parameters)
    : parameters_(std::move(parameters)), pause_(kFirstPause) {}

void Initiation::Begin(Time now) {
  started_ = now;
  if (parameters_.limit < kNever - now) limit_at_ = now + parameters_.limit;
  need_ = Need::kLink;
  ++attempt_;
}

void Initiation::OnConnected(bool to_itself, Time now) {
  if (need_ != Need::kLink) return;
  if (to_itself) return OnAttemptFailed(ECONNREFUSED, now);
  initiator_.emplace(parameters_.mpa, parameters_.private_data);
  need_ = Need::kBytes;
  Settle(now);
}

void Initiation::OnLost(int error, Time now) {
  if (need_ == Need::kLink) return OnAttemptFailed(error, now);
  if (need_ != Need::kBytes) return;
  if (error != 0 && ReasonOf(error) == RejectReason::kUnreachable)
    return OnAttemptFailed(error, now);
  initiator_->OnClosed(error == 0 ? "the peer closed" : strerror(error));
  Settle(now);
}

void Initiation::OnNoLink(const std::string& why) { Fail(RejectReason::kUnreachable, why); }

void Initiation::OnTime(Time now) {
  if (need_ == Need::kOver) return;
  if (now >= limit_at_) {
    const auto limit_ms = std::chrono::duration_cast<std::chrono::milliseconds>(parameters_.limit);
    return Fail(
        RejectReason::kTimedOut,
        parameters_.where + ": no answer within " + std::to_string(limit_ms.count()) + " ms (" +
            (initiator_ ? "TCP is connected, the request unanswered" : "TCP not connected") + ")");
  }
  if (now < resume_at_) return;
  resume_at_ = kNever;
  need_ = Need::kLink;
  ++attempt_;
}

std::span<const uint8_t> Initiation::output() const {
  return initiator_ ? initiator_->output() : std::span<const uint8_t>();
}

void Initiation::OnSent(size_t size, Time now) {
  if (need_ != Need::kBytes) return;
  initiator_->OnSent(size);
  Settle(now);
}

size_t Initiation::bytes_wanted() const {
  return need_ == Need::kBytes ? initiator_->bytes_wanted() : 0;
}

void Initiation::OnReceived(const void* data, size_t size, Time now) {
  if (need_ != Need::kBytes) return;
  initiator_->OnReceived(data, size);
  Settle(now);
}

std::span<const uint8_t> Initiation::peer_private_data() const {
  return initiator_ ? initiator_->peer_private_data() : std::span<const uint8_t>();
}

// Acts on the progress of the start-up frames.
void Initiation::Settle(Time now) {
  if (initiator_->state() == MpaState::kExchange) return;
  if (initiator_->state() == MpaState::kEstablished) {
    outcome_ = Outcome::kEstablished;
    need_ = Need::kOver;
    return;
  }
  why_ = parameters_.where + ": " + initiator_->reason();
  if (initiator_->state() == MpaState::kRejected) {
    outcome_ = Outcome::kRejected;
    reason_ = RejectReason::kPeer;
    need_ = Need::kOver;
    return;
  }
  if (initiator_->retry_with_revision1()) {
    parameters_.mpa.revision = 1;
    return TryAgain(now);
  }
  Fail(RejectReason::kNonPeer, why_);
}

void Initiation::OnAttemptFailed(int error, Time now) {
  if (error == ECONNREFUSED && parameters_.same_host && now - started_ < parameters_.grace)
    return TryAgain(now);
  std::string why = parameters_.where + ": " + strerror(error);
  if (error == ECONNREFUSED) why += ": nobody listens there";
  Fail(ReasonOf(error), std::move(why));
}

void Initiation::TryAgain(Time now) {
  initiator_.reset();
  need_ = Need::kPause;
  resume_at_ = now + pause_;
  pause_ = std::min(2 * pause_, kLongestPause);
}

void Initiation::Fail(RejectReason reason, std::string why) {
  outcome_ = Outcome::kFailed;
  reason_ = reason;
  why_ = std::move(why);
  need_ = Need::kOver;
}

}  // namespace softdat::softnet
