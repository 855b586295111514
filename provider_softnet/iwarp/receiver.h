// SPDX-License-Identifier: BSD-3-Clause
// The receiving half of a stream. It goes through FPDUs, judges each segment, places its payload,
// and completes receives and our own requests. Some things only the stream can do: end the
// connection, or act on a Terminate of the peer. The receiver leaves them in StreamState and here,
// and stops.
//
// Arriving payloads of a page or more go straight to their destination. Smaller ones are read into
// staging, many at a time, and copied once; or copied from where they lie, if the link lends them.
// With CRC, an FPDU is checked whole before any of it touches registered memory.
#ifndef SOFTDAT_PROVIDER_SOFTNET_IWARP_RECEIVER_H_
#define SOFTDAT_PROVIDER_SOFTNET_IWARP_RECEIVER_H_

#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "provider_softnet/iwarp/confirmation.h"
#include "provider_softnet/iwarp/own_requests.h"
#include "provider_softnet/iwarp/parting_word.h"
#include "provider_softnet/iwarp/peer_requests.h"
#include "provider_softnet/iwarp/staging.h"
#include "provider_softnet/iwarp/stream_state.h"
#include "wire/iwarp/ddp.h"
#include "wire/iwarp/fpdu.h"
#include "wire/iwarp/frame_check.h"
#include "wire/iwarp/rdmap.h"

namespace softdat::softnet {

class Receiver {
 public:
  // All pointers are borrowed and must outlive it.
  Receiver(StreamState* state, WorkLedger* ledger, OwnRequests* own, PeerRequests* peer,
           Confirmation* confirmation);

  // ---- bytes ----

  // Where the next bytes go: up to `max` (at least 4) entries. Returns 0 after a failure.
  size_t Offer(iovec* iov, size_t max);
  // How much is missing of a payload that goes straight to its destination, or, with CRC, of the
  // FPDU in front. 0: nothing of the kind is under way.
  size_t payload_missing() const {
    if (direct_offered_ > 0) return direct_offered_;
    return staging_.needed() > staging_.size() ? staging_.needed() - staging_.size() : 0;
  }
  // To be called after every Offer(). Nothing is written to the offered memory any more.
  void ReleasePins() {
    while (pin_count_ > 0) pins_[--pin_count_].Release();
  }
  // This many of the bytes have arrived, more than 0.
  void Take(size_t size);
  // Without Offer() and Take(), from bytes that come next and may change at any time. Both return
  // how many were used, or 0. TakeShortInPlace: if they begin with a message as for StepShort(), it
  // is taken where it lies. StageOneFpdu: takes what belongs to the FPDU in front, unless its
  // payload is worth being read to its destination. So the next FPDU begins what is left.
  size_t TakeShortInPlace(ByteSpan bytes);
  size_t StageOneFpdu(ByteSpan bytes);
  // To be called after all steps for the bytes that were taken. Chooses how much to read next time.
  void AdaptReadAhead();
  void GiveStagingBackIfEmpty() { staging_.GiveBackIfEmpty(); }
  void KeepStaging(bool keep) { staging_.Keep(keep); }

  // ---- steps ----

  // Works through staged bytes until more bytes or a receive are needed. Does at most one step of
  // an FPDU. Returns false when there is nothing to do. The stream settles between steps.
  bool Step() {
    switch (phase_) {
      case RxPhase::kHeader:
        if (!staging_.Need(iwarp::kFpduLengthSize) || !StepHeader()) return false;
        // The stream must settle something before the payload is looked at.
        if (state_.unsettled) return true;
        [[fallthrough]];
      case RxPhase::kPayload:
        if (!StepPayload()) return false;
        [[fallthrough]];
      case RxPhase::kTrailer:
        return StepTrailer();
    }
    return false;
  }
  // Takes a small message that needs nothing of what the general steps can do. Returns false when
  // the next FPDU is none.
  bool StepShort();
  // While stalled: takes one answer out of the bytes after the message that waits. Returns false
  // when there is none.
  bool StepBehind();

  // A message waits because no receive is posted.
  bool stalled() const { return stalled_; }
  void EndStall() { stalled_ = false; }
  // A stalled stream reads on as long as answers that it waits for may come after the message that
  // stalls it.
  bool reads() const {
    return !stalled_ || (!own_.empty() && !fin_read_ && !staging_.full_grown());
  }
  bool fin_read() const { return fin_read_; }
  void OnFin() { fin_read_ = true; }
  bool InMiddleOfFpdu() const { return phase_ != RxPhase::kHeader || !staging_.empty(); }

  // Fails the connection if the pair holds more of its SRQ than its hard watermark allows.
  bool WithinWatermarks();

  // The payload of a Terminate of the peer. Valid until the next step.
  std::optional<ByteSpan> TakeTerminate() { return std::exchange(terminate_, std::nullopt); }
  // What the peer, before it left, said that it has carried out.
  std::optional<TransferCounts> TakePartingWord() {
    return std::exchange(parting_word_, std::nullopt);
  }
  // What came from the peer and was carried out.
  TransferCounts carried_out() const {
    return {queues_[iwarp::kQnSend].msn - iwarp::kFirstMsn, writes_};
  }
  // Whether some of it came after the last question of the peer that confirms it.
  bool CarriedOutMoreThanAsked() const { return carried_out() != asked_; }
  // Fails the connection because of the segment that is being received. Encodes its header again,
  // because the header may have left staging.
  [[gnu::cold]] void FailSegment(iwarp::TerminateCode code, const Blame& blame,
                                 std::string_view what, std::string_view detail = {});

 private:
  // Where the payload of the segment being received goes.
  struct Cursor {
    uint64_t offset = 0;   // tagged: the next TO
    uint32_t segment = 0;  // send: the next segment of the receive, and the offset in it
    uint32_t segment_offset = 0;
  };
  enum class RxPhase : uint8_t { kHeader, kPayload, kTrailer };
  enum class Verdict : uint8_t { kGo, kWait, kStop };
  static constexpr size_t kRxPins = 16;

  // receiver.cc
  bool OfferDirect(iovec* iov, size_t max, size_t* count);
  void TakeDirect(size_t size);
  bool StepHeader();  // not before the length of the FPDU is there
  bool CheckForm(size_t payload);
  bool StepPayload();
  bool StepTrailer() {
    const size_t skip = std::min(trailer_left_, staging_.size());
    staging_.Consume(skip);
    trailer_left_ -= skip;
    if (trailer_left_ > 0) return false;
    phase_ = RxPhase::kHeader;
    return true;
  }
  bool IsAnswer(const uint8_t* fpdu, size_t size) const;

  // receiver_short.cc
  bool MayTakeShort() const {
    return phase_ == RxPhase::kHeader && !stalled_ && state_.first_fpdu_seen &&
           !state_.config.agreement.crc;
  }
  size_t TakeShortFpdu(const uint8_t* header, ByteSpan bytes);
  bool TakeShortSend(const uint8_t* header, const uint8_t* fpdu, size_t ulpdu);
  bool TakeShortWrite(const uint8_t* header, const uint8_t* fpdu, size_t ulpdu);
  bool PlaceShort(const AccessRequest& place, const uint8_t* data);

  // receiver_segment.cc: the meaning of a segment
  static bool IsFixedForm(const iwarp::DdpHeader& h) {
    return !h.tagged && !iwarp::IsSend(h.opcode);
  }
  bool CheckFirstFpdu(size_t payload) const;
  Verdict StartSegment(size_t payload);
  Verdict StartWrite(size_t payload);
  Verdict StartReadResponse(size_t payload);
  Verdict StartSend(size_t payload);
  Verdict TakeReceive();
  Verdict TakeFixed(ByteSpan payload);
  [[gnu::cold]] void FailTooLong(iwarp::TerminateCode code);
  void FinishSegment();
  void FinishWrite();
  void FinishSend();
  void TakeImmediate(ByteSpan payload);

  // receiver_requests.cc: requests of the peer, and answers to our own requests
  void TakeReadRequest(ByteSpan payload);
  void TakeAtomicRequest(ByteSpan payload);
  bool RoomForResponse();
  [[gnu::cold]] void FailTooManyRequests();
  bool ReadsAllowed();
  void TakeAtomicResponse(ByteSpan payload);
  void FinishOldestRead();

  // receiver_place.cc
  // Whether a program may poll the last bytes of the segment being received.
  bool EndIsPolled() const {
    return header_.last &&
           (header_.opcode == iwarp::Opcode::kWrite || iwarp::IsSend(header_.opcode));
  }
  bool NextPiece(Cursor* cursor, size_t want, AccessRequest* request) const;
  bool Piece(Cursor* cursor, size_t want, AccessRequest* request) const;  // NextPiece(), inline
  AccessError PlacePiece(const AccessRequest& piece, const uint8_t* data, bool ends);
  [[gnu::cold]] void RefusePlacement(AccessError error);
  bool Place(const uint8_t* data, size_t size);

  StreamState& state_;
  WorkLedger& ledger_;
  OwnRequests& own_;
  PeerRequests& peer_;
  Confirmation& confirmation_;
  Staging staging_;
  size_t read_ahead_ = 4096;  // how much to read into staging; adapts to the traffic
  size_t staging_offered_ = 0, direct_offered_ = 0;
  bool filled_ = false;             // the last read filled the offered staging
  bool segment_was_large_ = false;  // since the last read
  std::unique_ptr<Pin[]> pins_;     // for large payloads, from the first of them on
  size_t pin_count_ = 0;
  RxPhase phase_ = RxPhase::kHeader;
  iwarp::DdpHeader header_;
  size_t ulpdu_ = 0, payload_size_ = 0, payload_left_ = 0, trailer_left_ = 0;
  Cursor cursor_;  // tagged: that of this segment; send: see receive_cursor_
  Cursor receive_cursor_;
  // The RDMA write that is arriving or arrived last. Immediate data may follow it.
  uint64_t write_length_ = 0;
  bool write_open_ = false;      // its last segment has yet to come
  bool write_in_front_ = false;  // it ended with the segment before this one
  uint32_t writes_ = 0;          // carried out; wraps
  TransferCounts asked_;         // carried out when the peer asked to confirm
  std::array<iwarp::UntaggedSequence, iwarp::kQnCount> queues_;
  bool stalled_ = false;
  bool fin_read_ = false;  // nothing comes after the staged bytes
  std::optional<ByteSpan> terminate_;
  std::optional<TransferCounts> parting_word_;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_IWARP_RECEIVER_H_
