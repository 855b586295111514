// SPDX-License-Identifier: BSD-3-Clause
// The end of a connection: the failing completion first, then the flushes in order, then the event
// (semantics 10.5). What must still leave (the rest of a begun FPDU, a Terminate) is copied, so
// that the consumer may free its memory at once.
#include <cstring>

#include "provider_softnet/iwarp/iov_writer.h"
#include "provider_softnet/iwarp/stream.h"

namespace softdat::softnet {

using transport::WorkStatus;

// Ends the stream. last_words_ holds what is still to be sent, or kActAbort is set.
void Stream::Finish(transport::EndReason reason, std::string why, bool by_peer, Blame blame) {
  if (phase_ == Phase::kEnded) return;
  if ((actions_ & kActAbort) == 0 && last_words_.empty()) KeepLastWords();
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
// offending segment, `ulpdu_size` its whole length.
void Stream::Break(iwarp::TerminateCode code, ByteSpan ulpdu, size_t ulpdu_size, Blame blame,
                   const std::string& what) {
  if (phase_ == Phase::kEnded) return;
  KeepLastWords();
  std::string why = what;
  if (!code.ok()) {
    end_.terminate = code;
    why += std::string(" (Terminate sent: ") + iwarp::TerminateText(code) + ")";
    if ((actions_ & kActAbort) == 0) {
      uint8_t fpdu[iwarp::kTerminateMaxFpdu];
      const iwarp::Terminate terminate = iwarp::TerminateForSegment(code, ulpdu, ulpdu_size);
      const size_t size = iwarp::EncodeTerminateFpdu(terminate, config_.agreement.crc, fpdu);
      last_words_.insert(last_words_.end(), fpdu, fpdu + size);
    }
  }
  Finish(transport::EndReason::kBroken, std::move(why), false, blame);
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

// In post order. Work that is done succeeds until the first that did not: behind that, nothing
// does.
void Stream::FlushSends(Blame blame) {
  SendQueue& queue = *config_.send_queue;
  bool failed = false;
  while (!queue.empty()) {
    const SendWork& work = queue.at(queue.front());
    WorkStatus status = WorkStatus::kFlushed;
    if (blame.send && queue.front() == blame.position) {
      status = blame.status;
    } else if (work.done && !failed) {
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
    c.quiet = (rx_receive_->flags & transport::kQuiet) != 0;
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
