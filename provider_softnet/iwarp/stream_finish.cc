// SPDX-License-Identifier: BSD-3-Clause
// The end of a connection: the failing completion first, then the flushes in order, then the event
// (semantics 10.5). What must still leave (the rest of a begun FPDU, a Terminate) is copied, so
// that the consumer may free its memory at once.
#include <cstring>

#include "provider_softnet/iwarp/iov_writer.h"
#include "provider_softnet/iwarp/stream.h"
#include "wire/iwarp/fpdu.h"

namespace softdat::softnet {

using transport::WorkStatus;

// Ends the stream. last_words_ holds what is still to be sent, or kActAbort is set.
void Stream::Finish(transport::EndReason reason, std::string why, bool by_peer, Blame blame) {
  if (phase_ == Phase::kEnded) return;
  if ((actions_ & kActAbort) == 0 && last_words_.empty()) {
    KeepLastWords();
    if (!by_peer) KeepLastAnswers();
  }
  phase_ = Phase::kEnded;
  stalled_ = false;
  StopTimer();
  tx_front_ = tx_back_;
  GiveArenaBack();
  rtr_due_ = false;
  end_.reason = reason;
  end_.why = std::move(why);
  end_.by_peer = by_peer;
  if (blame.receive) {
    FlushReceivesOf(blame);
    FlushSends(blame);
  } else {
    FlushSends(blame);
    FlushReceivesOf(blame);
  }
  actions_ |= kActEnded;
  if (last_words_.empty() && (actions_ & kActAbort) == 0) actions_ |= kActCloseWrite;
}

// Breaks the connection and tells the peer why (unless `code` is kAccept). `ulpdu`: front of the
// offending segment, `ulpdu_size` its whole length. Answers that were due before it go first: what
// the peer asked for in front of its failure was carried out.
void Stream::Break(iwarp::TerminateCode code, ByteSpan ulpdu, size_t ulpdu_size, Blame blame,
                   const std::string& what) {
  // Answers that were due are not to be had any more: nothing holds up the end.
  if (phase_ == Phase::kTerminating) return EndIfAnswered();
  if (phase_ == Phase::kEnded) return;
  end_.why = what;
  if (!code.ok()) {
    end_.terminate = code;
    end_.why += std::string(" (Terminate sent: ") + iwarp::TerminateText(code) + ")";
    uint8_t fpdu[iwarp::kTerminateMaxFpdu];
    const iwarp::Terminate terminate = iwarp::TerminateForSegment(code, ulpdu, ulpdu_size);
    const size_t size = iwarp::EncodeTerminateFpdu(terminate, config_.agreement.crc, fpdu);
    terminate_.assign(fpdu, fpdu + size);
  }
  terminating_blame_ = blame;
  phase_ = Phase::kTerminating;
  response_due_ = response_back_;
  if (turn_ == Turn::kSend) turn_ = Turn::kNone;
  rtr_due_ = false;
  // Where nothing can be said, or nothing is due, this is the end already.
  if (code.ok() || response_front_ == response_back_) return FinishTerminating();
  SetTimer(config_.fin_grace_us);  // a peer that reads nothing does not hold it up
  EndIfAnswered();
}

void Stream::EndIfAnswered() {
  if (response_front_ != response_back_ && (actions_ & kActAbort) == 0) return;
  FinishTerminating();
}

void Stream::FinishTerminating() {
  if ((actions_ & kActAbort) == 0) {
    KeepLastWords();
    last_words_.insert(last_words_.end(), terminate_.begin(), terminate_.end());
  }
  Finish(transport::EndReason::kBroken, std::move(end_.why), false, terminating_blame_);
}

// The same for the segment that is being received. Its header is encoded anew: it may have left
// staging.
void Stream::BreakSegment(iwarp::TerminateCode code, Blame blame, const std::string& what) {
  uint8_t front[iwarp::kMaxDdpHeaderSize];
  const iwarp::DdpHeader& h = rx_header_;
  if (h.tagged) {
    iwarp::EncodeTagged(front, h.opcode, h.last, h.stag, h.to);
  } else {
    iwarp::EncodeUntagged(front, h.opcode, h.last, h.stag, h.qn, h.msn, h.mo);
  }
  Break(code, {front, h.size}, rx_ulpdu_, blame, what);
}

void Stream::Abort(const std::string& why, Blame blame) {
  actions_ |= kActAbort;
  Finish(transport::EndReason::kBroken, why, false, blame);
}

// Copies the rest of an FPDU whose first bytes are sent. Without it the peer could not read on to
// the Terminate or to an orderly FIN.
void Stream::KeepLastWords() {
  if (tx_front_ == tx_back_) return;
  const TxFpdu& fpdu = tx_ring_[tx_front_ % kTxRing];
  if (fpdu.sent == 0) return;
  ReleaseTxPins();
  // As large as the largest FPDU at most; allocated because this is the end of the data path.
  last_words_.resize(fpdu.size() - fpdu.sent);
  uint8_t* out = last_words_.data();
  iovec iov[kTxPins];
  TxFpdu rest = fpdu;
  while (rest.sent < rest.size()) {
    IovWriter parts(iov, kTxPins);
    AccessError error = AccessError::kNone;
    Emit(rest, &parts, &error);
    if (parts.count() == 0) {
      actions_ |= kActAbort;  // its memory is gone
      last_words_.clear();
      break;
    }
    for (size_t i = 0; i < parts.count(); ++i) {
      std::memcpy(out, iov[i].iov_base, iov[i].iov_len);
      out += iov[i].iov_len;
      rest.sent += static_cast<uint32_t>(iov[i].iov_len);
    }
    ReleaseTxPins();
  }
  ReleaseTxPins();
}

// What the peer has done and was asked to confirm, it has done: a consumer that leaves abruptly
// says so in these few bytes, as an adapter would have long ago.
void Stream::KeepLastAnswers() {
  const bool begun = tx_front_ != tx_back_ && tx_ring_[tx_front_ % kTxRing].sent > 0;
  uint32_t next = response_front_;
  if (begun && tx_ring_[tx_front_ % kTxRing].ends_response) ++next;  // whole already
  // In the middle of a longer one nothing else fits, and behind half an FPDU nothing is read.
  if (turn_ == Turn::kResponse || (actions_ & kActAbort) != 0) return;
  for (; next != response_back_; ++next) {
    const Response& r = responses_[next & response_mask_];
    if (r.atomic || r.read.size > 0) return;
    uint8_t fpdu[iwarp::kTaggedFpduHeaderSize + iwarp::kFpduMaxTrailer];
    iwarp::EncodeTaggedFpduHeader(fpdu, iwarp::Opcode::kReadResponse, /*last=*/true,
                                  r.read.sink_stag, r.read.sink_to, 0);
    constexpr size_t kHead = iwarp::kTaggedFpduHeaderSize;
    constexpr size_t kUlpdu = kHead - iwarp::kFpduLengthSize;
    const size_t trailer =
        config_.agreement.crc
            ? iwarp::StoreFpduTrailer(fpdu + kHead, kUlpdu, Crc32cExtend(kCrc32cInit, fpdu, kHead))
            : iwarp::StoreFpduTrailerWithoutCrc(fpdu + kHead, kUlpdu);
    last_words_.insert(last_words_.end(), fpdu, fpdu + kHead + trailer);
  }
}

// In post order. Work that is over succeeds until the first that is not: behind that, nothing does.
void Stream::FlushSends(Blame blame) {
  SendQueue& queue = *config_.send_queue;
  bool failed = false;
  while (!queue.empty()) {
    const SendWork& work = queue.at(queue.front());
    WorkStatus status = WorkStatus::kFlushed;
    if (blame.send && queue.front() == blame.position) {
      status = blame.status;
    } else if (work.done && !failed && (!work.confirm || queue.front() < confirmed_)) {
      status = work.status;
    }
    failed |= status != WorkStatus::kSuccess;
    CompleteOldestSend(status);
  }
  send_next_ = queue.back();
}

void Stream::FlushReceivesOf(Blame blame) {
  if (rx_receive_ != nullptr) {
    transport::Completion c;
    c.context = config_.context;
    c.cookie = rx_receive_->cookie;
    c.flags = rx_receive_->flags & transport::kEchoed;
    c.op = transport::Op::kReceive;
    c.status = blame.receive ? blame.status : WorkStatus::kFlushed;
    PushReceive(c);
    if (config_.shared_receives != nullptr) {
      config_.shared_receives->Release(rx_receive_);
    } else {
      config_.receive_queue->PopFront();
    }
    rx_receive_ = nullptr;
  }
  if (config_.receive_queue != nullptr &&
      FlushReceives(config_.receive_queue, config_.receive_completions, config_.context)) {
    actions_ |= kActNotifyReceive;
  }
}

}  // namespace softdat::softnet
