// SPDX-License-Identifier: BSD-3-Clause
// Stream: posts, bytes in and out, and their effects while the connection lives.
#include "provider_softnet/iwarp/stream.h"

#include <algorithm>
#include <new>
#include <utility>

namespace softdat::softnet {

namespace {

// More FPDUs than a program usually answers together: a message, the data that it announces,
// confirmation and answer.
constexpr uint64_t kManyFpdus = 12;
// Of bytes that are taken in place, so many are fetched from the peer's cache while those in front
// of them are worked on.
constexpr size_t kFetchedAhead = 1024;
constexpr size_t kCacheLine = 64;

// Fetches on from `fetched`, up to kFetchedAhead bytes behind `used`.
void FetchAhead(ByteSpan bytes, size_t used, size_t* fetched) {
  const size_t end = std::min(bytes.size(), used + kFetchedAhead);
  for (; *fetched < end; *fetched += kCacheLine) __builtin_prefetch(bytes.data() + *fetched);
}

AdmissionRules RulesOf(const StreamConfig& config, uint32_t slots_out) {
  AdmissionRules rules;
  rules.max_message = kMaxMessage;
  rules.extensions = config.extensions;
  rules.short_reads = config.short_reads;
  rules.reads = config.agreement.ord > 0;
  rules.confirms = config.confirm;
  rules.can_confirm = slots_out > 0 && config.agreement.empty_reads;
  return rules;
}

}  // namespace

StreamBlocks::StreamBlocks() : receiving(Staging::kBlock), sending(SendBuffer::kBlock) {}

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
    : state_(config, std::clamp(config.mulpdu, iwarp::kMinMulpdu, iwarp::kMaxUlpdu)),
      ledger_(config.work),
      own_(std::max(config.agreement.ord, config.agreement.request_slots_out)),
      peer_(std::max(config.agreement.ird, config.agreement.request_slots_in)),
      rules_(RulesOf(config, own_.slots())),
      confirms_all_(rules_.confirms && rules_.can_confirm),
      confirmation_(config.work.send_queue->back(), rules_.can_confirm),
      sender_(&state_, &ledger_, &own_, &peer_, &confirmation_),
      receiver_(&state_, &ledger_, &own_, &peer_, &confirmation_) {
  if (config.agreement.rtr == Rtr::kRead) {
    // The ready-to-receive message is the initiator's first request, so its memory is needed now.
    if (config.initiator) {
      own_.MustHave();
    } else {
      peer_.MustHave();
    }
  }
  config.blocks->Join(&state_);  // the last step that may fail
}

Stream::~Stream() { state_.config.blocks->Leave(); }

// -------------------------------------------------------------------------------------------------
// Posts

[[gnu::hot]] Code Stream::PostSend(const transport::SendRequest& request) {
  if (state_.phase == Phase::kEnded) {
    ledger_.FlushPosted(request);
    return Code::kOk;
  }
  if (sender_.IsShort(request) && sender_.PostShort(request, confirms_all_)) return Code::kOk;
  if (state_.phase == Phase::kDraining) return Code::kInvalidState;
  SendWork* work = nullptr;
  Code code = ledger_.Prepare(request, rules_, &work);
  if (code != Code::kOk) return code;
  if ((work->confirm || TakesReadCredit(*work)) && !own_.Have()) return Code::kNoMemory;
  // Memory that is copied at once is checked by the copy.
  const bool at_once = sender_.GathersAtOnce(*work);
  if (!at_once) code = ledger_.JudgeLocal(request, *work);
  if (code != Code::kOk) return code;
  if (!sender_.HaveBuffer()) return Code::kNoMemory;
  ledger_.sends().Commit();
  if (at_once && !sender_.GatherPosted(work)) [[unlikely]] {
    // Memory that cannot be read is refused as in any other post, and what finds no room waits.
    ledger_.sends().Withdraw();
    code = ledger_.JudgeLocal(request, *work);
    if (code == Code::kOk) {
      ledger_.sends().Commit();
    } else {
      sender_.GiveBufferBackIfEmpty();
    }
  }
  return code;
}

[[gnu::hot]] Code Stream::PostReceive(const transport::ReceiveRequest& request) {
  const Code code = ledger_.PostReceive(request, /*judge=*/state_.phase != Phase::kEnded);
  if (code != Code::kOk) return code;
  if (state_.phase == Phase::kEnded) {
    ledger_.FlushReceivesOf(Blame::Nobody());
  } else {
    OnReceivePosted();
  }
  return Code::kOk;
}

[[gnu::hot]] void Stream::OnReceivePosted() {
  if (!receiver_.stalled() || !state_.open() || !ledger_.HasReceive()) return;
  receiver_.EndStall();
  StopTimer();
  actions_.stalled = false;
  Process();
  if (!stalled()) actions_.resumed = true;
}

void Stream::OnWatermarksSet() {
  if (!state_.open()) return;
  receiver_.WithinWatermarks();
  if (state_.unsettled) Settle();
}

void Stream::Disconnect(transport::DisconnectMode mode) {
  if (mode == transport::DisconnectMode::kAbrupt && !end_.by_peer) end_.abrupt = true;
  if (state_.phase == Phase::kEnded) return;
  if (mode == transport::DisconnectMode::kAbrupt) {
    return Finish(transport::EndReason::kDisconnected, "disconnected abruptly by the own consumer",
                  false, Blame::Nobody());
  }
  if (state_.phase != Phase::kOpen) return;
  state_.phase = Phase::kDraining;
  sender_.ConfirmAll();
  MaybeDone();
}

void Stream::SayPartingWord() {
  if (!state_.open() || !rules_.can_confirm || !receiver_.CarriedOutMoreThanAsked()) return;
  sender_.SayPartingWord(receiver_.carried_out());
  sender_.Pay();
}

// -------------------------------------------------------------------------------------------------
// Bytes in

[[gnu::hot]] size_t Stream::ReceiveVector(iovec* iov, size_t max) {
  if (!reads()) return 0;
  const size_t count = receiver_.Offer(iov, max);
  if (state_.unsettled) [[unlikely]]
    Settle();
  return count;
}

[[gnu::hot]] void Stream::OnReceived(size_t size) {
  receiver_.ReleasePins();
  if (size > 0 && state_.open()) TakeIn(size);
  receiver_.GiveStagingBackIfEmpty();
}

[[gnu::hot]] void Stream::TakeIn(size_t size) {
  const bool owed = owes();
  const uint64_t fpdus = state_.counters.fpdus_received;
  receiver_.Take(size);
  if (receiver_.stalled()) {
    LookBehind();
  } else {
    Process();
  }
  PayIfWaiting(owed, fpdus);
  receiver_.AdaptReadAhead();
}

// A peer that keeps sending is still answered. Many FPDUs at once are a stream, and no reply to it
// is on its way that the answer could travel with.
void Stream::PayIfWaiting(bool owed, uint64_t fpdus) {
  if ((owed || state_.counters.fpdus_received - fpdus >= kManyFpdus) && owes()) PayOwed();
}

[[gnu::hot]] size_t Stream::TakeInPlace(ByteSpan bytes) {
  const bool owed = owes();
  const uint64_t fpdus = state_.counters.fpdus_received;
  size_t used = 0, fetched = 0;
  while (used < bytes.size() && state_.open() && !receiver_.stalled()) {
    FetchAhead(bytes, used, &fetched);
    const ByteSpan rest = bytes.subspan(used);
    if (const size_t taken = receiver_.TakeShortInPlace(rest); taken > 0) {
      used += taken;
      ++state_.counters.taken_in_place;
      continue;
    }
    const size_t staged = receiver_.StageOneFpdu(rest);
    if (staged == 0) break;
    used += staged;
    Process();
  }
  if (used == 0) return 0;
  state_.counters.bytes_received += used;
  PayIfWaiting(owed, fpdus);
  receiver_.GiveStagingBackIfEmpty();
  return used;
}

// Works through staged bytes until more bytes, a receive or the end are needed.
[[gnu::hot]] void Stream::Process() {
  while (state_.open()) {
    if (receiver_.StepShort()) continue;
    const bool more = receiver_.Step();
    if (state_.unsettled) Settle();
    if (!more) break;
  }
  if (state_.open() && receiver_.stalled()) {
    OnStalled();
    LookBehind();
  }
  if (receiver_.fin_read() && !receiver_.stalled()) OnPeerFin();
}

void Stream::LookBehind() {
  bool more = true;
  while (more && state_.open()) {
    more = receiver_.StepBehind();
    if (state_.unsettled) Settle();
  }
}

void Stream::OnStalled() {
  actions_.stalled = true;
  if (state_.peer_closing) {
    SetTimer(state_.config.fin_grace_us);
  } else if (state_.config.rnr_timeout_us != 0) {
    SetTimer(state_.config.rnr_timeout_us);
  }
}

void Stream::Settle() {
  state_.unsettled = false;
  if (state_.failure != nullptr) [[unlikely]]
    return ActOnFailure();
  if (const auto payload = receiver_.TakeTerminate()) [[unlikely]]
    return ActOnTerminate(*payload);
  if (const auto carried_out = receiver_.TakePartingWord()) [[unlikely]] {
    if (rules_.can_confirm) confirmation_.Confirmed(sender_.CarriedOut(*carried_out));
  }
  CompleteSends();
}

[[gnu::hot]] void Stream::CompleteSends() {
  ledger_.CompleteSends(sender_.next(), confirmation_.confirmed());
  if (sender_.stopped()) [[unlikely]]
    BreakIfAllInFrontIsOver();
  MaybeDone();
}

// -------------------------------------------------------------------------------------------------
// Bytes out

[[gnu::hot]] Stream::Batch Stream::TransmitVector(iovec* iov, size_t max_iov, size_t max_bytes) {
  sender_.ReleasePins();
  tx_offered_ = 0;
  if (state_.phase != Phase::kEnded) {
    IovWriter out(iov, max_iov);
    do {
      sender_.Offer(&out, max_bytes);
      if (sender_.has_problem()) [[unlikely]]
        ActOn(sender_.TakeProblem());
      if (!state_.unsettled) break;
      Settle();  // a bind was carried out
    } while (state_.phase != Phase::kEnded && sender_.wants_transmit());
    if (out.count() > 0) {
      tx_offered_ = out.bytes();
      return {out.count(), out.bytes()};
    }
  }
  // The end may have come while gathering.
  sender_.ReleasePins();
  sender_.GiveBufferBackIfEmpty();  // a bind has nothing to send
  if (last_words_sent_ == last_words_.size()) return {};
  tx_offered_ = last_words_.size() - last_words_sent_;
  iov[0] = {last_words_.data() + last_words_sent_, tx_offered_};
  return {1, tx_offered_};
}

[[gnu::hot]] void Stream::OnTransmitted(size_t size) {
  sender_.ReleasePins();
  size = std::min(size, std::exchange(tx_offered_, 0));
  if (size == 0) return;
  state_.counters.bytes_sent += size;
  if (state_.phase == Phase::kEnded) {
    last_words_sent_ += size;
    if (last_words_sent_ == last_words_.size()) actions_.close_write = true;
    return;
  }
  if (state_.phase == Phase::kTerminating) SetTimer(state_.config.fin_grace_us);  // the peer reads
  if (sender_.OnTransmitted(size) &&
      (sender_.stopped() || ledger_.IsOldestOver(sender_.next(), confirmation_.confirmed()))) {
    CompleteSends();
  } else {
    MaybeDone();
  }
}

// -------------------------------------------------------------------------------------------------
// Events

void Stream::SetTimer(uint64_t delay_us) {
  timer_ = {++last_timer_, delay_us};
  actions_.timer = true;
}

void Stream::StopTimer() {
  if (timer_.id == 0) return;
  timer_ = {};
  actions_.timer = true;
}

}  // namespace softdat::softnet
