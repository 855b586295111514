// SPDX-License-Identifier: BSD-3-Clause
// The own requests of a reliable connection: which packets they are, what of them is on its way,
// what is acknowledged, what must be sent again (IBTA vol. 1 §9.7).
//
// Every request has a range of PSNs, given when its first packet leaves. A read has as many as its
// responses. Three marks walk through them:
//
//     una            cursor           sent             (PSNs)
//  ----|--------------|----------------|-------
//   over |  on its way | to be sent again | never sent
//
// An answer moves `una`. What is known to be missing is sent again by itself (`mends_`). Responses
// are placed in any order (`received_`). A peer that keeps nothing behind a missing request gets
// everything from there on again: then the cursor moves back.
// A long read is asked for piece by piece, so that its responses do not drown the own socket.
#ifndef SOFTDAT_PROVIDER_SOFTNET_ROCE_REQUESTER_H_
#define SOFTDAT_PROVIDER_SOFTNET_ROCE_REQUESTER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "provider_softnet/queue/raw_array.h"
#include "provider_softnet/queue/work_ledger.h"
#include "provider_softnet/roce/congestion_window.h"
#include "provider_softnet/roce/packet_batch.h"
#include "provider_softnet/roce/psn.h"
#include "provider_softnet/roce/psn_set.h"
#include "provider_softnet/roce/rc_state.h"
#include "provider_softnet/roce/round_trip.h"
#include "wire/roce/aeth.h"
#include "wire/roce/packet.h"

namespace softdat::softnet {

class Requester {
 public:
  Requester(RcState* state, WorkLedger* ledger);

  // ---- out ----
  // Whether Offer() would send a packet or carry out a bind.
  bool wants_transmit() const;
  // Adds packets to the batch until it is full or nothing may be sent. Carries out binds on its
  // way.
  void Offer(PacketBatch* batch, uint64_t now_us);
  // A request packet of the last batch did not leave. Called for each of them, in order.
  void TakeBack(uint32_t wire_psn);

  // ---- in: answers of the peer ----
  void OnAcknowledge(const roce::Packet& packet, uint64_t now_us);
  void OnAtomicAcknowledge(const roce::Packet& packet, uint64_t now_us);
  void OnReadResponse(const roce::Packet& packet, uint64_t now_us);

  // ---- time ----
  // When OnTime() has something to do; 0: never.
  uint64_t deadline_us() const {
    return waits_for_receive_ ? receive_wait_until_us_ : resend_at_us_;
  }
  void OnTime(uint64_t now_us);

  // ---- for the ledger ----
  // Work in front of this position has been begun.
  uint64_t begun() const { return begun_; }
  // Work in front of it is answered.
  uint64_t answered() const { return answered_; }

  // Work that this end cannot carry out: nothing from there on is sent, and the connection breaks
  // when all in front of it is answered. Null as long as there is none, or something in front of
  // it.
  struct LocalFailure {
    uint64_t position;
    transport::WorkStatus status;
    std::string why;
  };
  const LocalFailure* failure() const {
    return local_failure_ != nullptr && answered_ == local_failure_->position ? local_failure_.get()
                                                                              : nullptr;
  }
  // Nothing is sent any more.
  void End() {
    stop_at_ = 0;
    resend_at_us_ = 0;
    waits_for_receive_ = false;
  }

 private:
  // The PSNs of a request. None for a bind.
  struct Plan {
    Psn first;
    uint32_t packets;
    Psn end() const { return first + packets; }
  };
  // Reads and atomics that were asked for and not answered.
  struct Asked {
    Psn first, end;
  };

  SendQueue& sends() const { return ledger_.sends(); }
  Plan& plan(uint64_t position) { return plans_[position & plan_mask_]; }
  const Plan& plan(uint64_t position) const { return plans_[position & plan_mask_]; }
  uint64_t in_flight() const { return cursor_ - una_; }
  uint64_t MostInFlight() const;
  bool MayBegin(const SendWork& work) const;
  [[gnu::cold]] void FailHere(transport::WorkStatus status, std::string why);

  // requester_send.cc
  bool Begin(SendWork* work);
  bool CarryOutBind(SendWork* work);
  bool EmitMends(PacketBatch* batch);
  bool EmitMend(Psn psn, PacketBatch* batch);
  uint32_t PieceEnd(const Plan& p, Psn psn) const;
  bool EmitData(const SendWork& work, PacketBatch* batch);
  bool FillPayload(uint64_t offset, size_t size, PacketBatch* batch);
  uint32_t EmitRead(const SendWork& work, uint32_t end, PacketBatch* batch);
  void EmitAtomic(const SendWork& work, PacketBatch* batch);
  void Finish(OutgoingPacket* out, const roce::Packet& packet, size_t payload, PacketBatch* batch);
  void MoveCursor(uint32_t packets);
  void StartTimer();
  uint64_t WaitUs() const;

  static constexpr uint32_t kMostProbes = 3;  // in a row, each after twice the time

  // requester_answers.cc
  uint64_t AnswerUpTo(Psn end);
  bool PassReceived(SendWork* work);
  uint64_t PositionOf(Psn psn) const;
  void PassBinds();
  void OnRnrNak(Psn psn, uint8_t timer, uint64_t now_us);
  void OnNak(Psn psn, uint8_t code, uint64_t now_us);
  void OnSequenceNak(Psn psn);
  void OnMendAnswered(Psn psn, bool acknowledged);
  bool GoesBack();
  void Distrust();
  void OnEarlyNak(Psn psn, bool lacked);
  void OnMissing(Psn psn);
  void Mend(Psn psn, bool lost = true);
  void MendRequest(Psn psn, bool lost);
  void NoteLoss();
  void OnResponse(const roce::Packet& packet, Psn psn, ByteSpan payload, uint64_t now_us);
  void OnEarlyResponse(const roce::Packet& packet, Psn psn, ByteSpan payload);
  void Probe(uint64_t now_us);
  bool GivesUp(uint64_t now_us);
  AccessError PlaceResponse(uint64_t position, Psn psn, ByteSpan payload);
  size_t ResponseSize(uint64_t position, Psn psn) const;
  bool IsResponseOf(const roce::Packet& packet, uint64_t position) const;
  bool FinishRead(SendWork* work);
  void Progress(uint64_t packets, uint64_t now_us);
  void Rewind(Psn psn);
  void FailOldest(transport::WorkStatus status, std::string why, bool by_peer);

  RcState& state_;
  WorkLedger& ledger_;
  const uint32_t read_piece_;   // packets of responses that one read request asks for at most
  const uint64_t patience_us_;  // silence after which the peer is given up; 0: never

  uint64_t plan_mask_;
  RawArray<Plan> plans_;

  Psn una_;            // the oldest PSN that is not answered
  Psn cursor_;         // the next one to be sent
  Psn sent_;           // behind the last one that was ever sent
  Psn next_psn_;       // of the next request that begins
  uint64_t answered_;  // position of the work that has una_
  uint64_t position_;  // position of the work that has cursor_
  uint64_t begun_;
  std::vector<Asked> asked_;       // oldest first; at most reads_out
  uint32_t unanswered_reads_ = 0;  // reads and atomics begun and not over
  uint32_t since_ack_request_ = 0;
  uint64_t stop_at_ = ~uint64_t{0};  // position: work from there on is not sent
  std::unique_ptr<LocalFailure> local_failure_;
  uint64_t now_us_ = 0;  // of the call

  CongestionWindow window_;
  RoundTrip round_trip_;
  bool window_limits_ = false;    // more would have been sent if the window were larger
  Psn recovery_end_ = 0;          // losses in front of it belong to one that was noticed
  Psn taken_;                     // requests in front of it have arrived at the peer
  PsnSet received_;               // responses that came before one in front of them
  PsnSet mends_;                  // to be sent again, in front of the cursor
  std::optional<Psn> early_nak_;  // a NAK came for it, and responses in front of it are missing
  bool early_nak_refuses_ = false;
  Psn offered_from_ = 0;  // the cursor before the last batch
  // Responses have rising PSNs. Those that are behind `fresh_` are answers to what was sent once.
  // The others are answers to what was asked for again, and `again_` is the last of these.
  Psn fresh_ = 0, again_ = 0;
  // The request that a NAK asked for, [mended_, mended_end_), and where `sent_` was then. What is
  // answered next shows whether the peer keeps what comes behind a missing request.
  Psn mended_ = 0, mended_end_ = 0, mended_sent_ = 0;
  enum class Keeps : uint8_t { kUnknown, kYes, kNo } keeps_ = Keeps::kUnknown;
  uint32_t trial_after_ = 0;  // losses for which kNo is believed
  uint32_t gone_back_ = 0;    // of these, so many are over
  uint32_t steps_ = 0;        // in a row, in which the peer moved on by what was mended only
  uint32_t probes_ = 0;       // since the peer has moved on
  Psn probed_sent_ = 0;       // where `sent_` was at the last one
  bool mending_ = false;  // something was sent again by itself, and the peer has not moved on since
  std::optional<Psn> timed_;  // the packet whose round trip is measured
  uint64_t timed_at_us_ = 0;
  uint64_t resend_at_us_ = 0;
  uint64_t silent_since_us_ = 0;
  uint32_t rnr_naks_ = 0;  // in a row
  bool waits_for_receive_ = false;
  uint64_t receive_wait_until_us_ = 0;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_ROCE_REQUESTER_H_
