// SPDX-License-Identifier: BSD-3-Clause
// A stream's construction and the events that are not data.
#include "provider_softnet/iwarp/stream.h"

#include <algorithm>
#include <bit>
#include <new>

namespace softdat::softnet {

namespace {

constexpr char kUnreadDropped[] =
    "the peer disconnected; data for which no receive was posted are dropped";
constexpr char kPeerLeft[] = "the peer's process ended, or its system reset the connection";

uint32_t RingSize(uint32_t depth) { return std::bit_ceil(depth + 1); }

}  // namespace

StreamBlocks::StreamBlocks() : receiving(kStaging), sending(Stream::kSendingBlock) {}

void StreamBlocks::Join(const void* stream) {
  if (!receiving.Join(stream)) throw std::bad_alloc();
  if (sending.Join(stream)) return;
  receiving.Leave();
  throw std::bad_alloc();
}

void StreamBlocks::Leave() {
  receiving.Leave();
  sending.Leave();
}

Stream::Stream(const StreamConfig& config)
    : config_(config),
      mulpdu_(std::clamp(config.mulpdu, iwarp::kMinMulpdu, iwarp::kMaxUlpdu)),
      slots_in_(std::max(config.agreement.ird, config.agreement.request_slots_in)),
      slots_out_(std::max(config.agreement.ord, config.agreement.request_slots_out)),
      rtr_due_(config.initiator && config.agreement.rtr != Rtr::kNone),
      send_next_(config.send_queue->back()),
      // One more each than agreed: an RTR read counts against nothing that the consumer asked for.
      response_mask_(RingSize(slots_in_) - 1),
      pending_mask_(RingSize(slots_out_) - 1),
      confirmed_(send_next_),
      asked_(send_next_),
      confirm_to_(send_next_),
      transfers_to_(send_next_),
      confirmable_to_(send_next_) {
  if (config.agreement.rtr == Rtr::kRead) {
    // The ready-to-receive message is the first request.
    responses_ = RawArray<Response>(response_mask_ + 1);
    pending_ = RawArray<PendingRead>(pending_mask_ + 1);
  }
  config_.blocks->Join(this);  // the last that may fail
}

Stream::~Stream() {
  GiveStagingBack();
  GiveArenaBack();
  config_.blocks->Leave();
}

uint32_t Stream::ReceiveDomain() const {
  return config_.shared_receives == nullptr ? config_.pd : config_.shared_receives->pd();
}

void Stream::PushReceive(const transport::Completion& completion) {
  if (config_.receive_completions == nullptr) return;
  if (config_.receive_completions->Push(completion)) actions_ |= kActNotifyReceive;
}

void Stream::SetTimer(uint64_t delay_us) {
  timer_ = {++last_timer_, delay_us};
  actions_ |= kActTimer;
}

void Stream::StopTimer() {
  if (timer_.id == 0) return;
  timer_ = {};
  actions_ |= kActTimer;
}

void Stream::OnTimer(uint32_t id) {
  if (id == 0 || id != timer_.id || phase_ == Phase::kEnded) return;
  timer_ = {};
  if (phase_ == Phase::kTerminating) return FinishTerminating();
  if (!stalled_) return;
  if (peer_closing_) {
    return Finish(transport::EndReason::kDisconnected, kUnreadDropped, true, Blame::Nobody());
  }
  BreakSegment(iwarp::kTermNoBuffer, Blame::Nobody(),
               "no receive was posted within the receiver-not-ready timeout");
}

void Stream::Disconnect(transport::DisconnectMode mode) {
  if (mode == transport::DisconnectMode::kAbrupt && !end_.by_peer) end_.abrupt = true;
  if (phase_ == Phase::kEnded) return;
  if (mode == transport::DisconnectMode::kAbrupt) {
    return Finish(transport::EndReason::kDisconnected, "disconnected abruptly by the own consumer",
                  false, Blame::Nobody());
  }
  if (phase_ != Phase::kOpen) return;
  phase_ = Phase::kDraining;
  ConfirmAll();
  MaybeDone();
}

void Stream::OnPeerFin() {
  if (phase_ > Phase::kDraining) return;
  fin_read_ = true;
  if (stalled_) return OnPeerHangup();
  if (rx_phase_ != RxPhase::kHeader || begin_ != end_of_staging_) {
    // A process that was ended while it sent.
    return Finish(transport::EndReason::kDisconnected, "the peer closed in the middle of an FPDU",
                  true, Blame::Nobody());
  }
  Finish(transport::EndReason::kDisconnected, "disconnected by the peer", true, Blame::Nobody());
}

// A peer that disconnected gracefully wants its last messages delivered, and stays for a while to
// see that; they get a bounded time (semantics 9.6). One that disconnected abruptly, or died, is
// gone: a message that changes nothing, the zero-length write of RFC 6581, finds that out.
void Stream::OnPeerHangup() {
  if (phase_ == Phase::kEnded || !stalled_ || peer_closing_) return;
  peer_closing_ = true;
  if (!wants_transmit()) rtr_due_ = true;  // else what is sent anyway asks the same
  SetTimer(config_.fin_grace_us);
}

void Stream::OnPeerGone() {
  if (phase_ == Phase::kEnded) return;
  actions_ |= kActAbort;  // nothing that is sent would arrive
  if (phase_ == Phase::kTerminating) return FinishTerminating();
  Finish(transport::EndReason::kDisconnected, stalled_ ? kUnreadDropped : kPeerLeft, true,
         Blame::Nobody());
}

void Stream::OnPeerReset(const std::string& why) {
  if (phase_ == Phase::kEnded) return;
  if (phase_ == Phase::kTerminating) {
    actions_ |= kActAbort;
    return FinishTerminating();
  }
  Blame blame;
  // The oldest request that has begun is the one that the loss hit.
  if (!config_.send_queue->empty() &&
      (config_.send_queue->front() < send_next_ || turn_ == Turn::kSend)) {
    blame = Blame::Send(config_.send_queue->front(), transport::WorkStatus::kTransport);
  }
  Abort("the connection broke: " + why, blame);
  end_.by_peer = true;
}

}  // namespace softdat::softnet
