// SPDX-License-Identifier: BSD-3-Clause
// The requests of the peer: checks them in the order of IBTA vol. 1 §9.7.4, carries them out, and
// answers with acknowledgements, responses and NAKs.
//
// Acknowledgements coalesce: requests only note that one is due, and Offer() makes one of all that
// have come. One that nobody waits for in a hurry is owed: it rides on what is sent next. Responses
// leave in the order of their PSNs, and no acknowledgement passes them.
#ifndef SOFTDAT_PROVIDER_SOFTNET_ROCE_RESPONDER_H_
#define SOFTDAT_PROVIDER_SOFTNET_ROCE_RESPONDER_H_

#include <cstdint>
#include <optional>
#include <string>

#include "provider_softnet/queue/work_ledger.h"
#include "provider_softnet/roce/early_packets.h"
#include "provider_softnet/roce/packet_batch.h"
#include "provider_softnet/roce/peer_reads.h"
#include "provider_softnet/roce/psn.h"
#include "provider_softnet/roce/rc_state.h"
#include "wire/roce/aeth.h"
#include "wire/roce/packet.h"

namespace softdat::softnet {

class Responder {
 public:
  Responder(RcState* state, WorkLedger* ledger);

  // ---- in ----
  void OnRequest(const roce::Packet& packet);

  // ---- out ----
  // Whether something is to be sent without delay.
  bool wants_transmit() const { return reads_due_ || nak_.has_value() || (ack_due_ && urgent_); }
  // An acknowledgement is due that may ride on what is sent next.
  bool owes() const { return ack_due_ && !urgent_; }
  void Pay() { urgent_ = urgent_ || ack_due_; }
  // Adds responses, NAK and acknowledgement.
  void Offer(PacketBatch* batch);
  // A packet of the last batch, with this opcode and PSN, did not leave.
  void TakeBack(roce::Opcode opcode, uint32_t wire_psn);

  // Responses or a NAK that the peer is to have before the connection ends.
  bool unanswered() const { return reads_due_ || nak_.has_value(); }
  // The peer was refused something: it is told with the next Offer().
  bool refuses() const { return refusal_.has_value(); }
  // The connection is over: no request is carried out any more, and those of before are answered
  // again.
  void End();
  // The same without any answer: the peer is gone.
  void FallSilent();

 private:
  // Where the payload of the message goes that is arriving.
  struct Cursor {
    uint32_t segment = 0;
    uint32_t segment_offset = 0;
  };
  enum class Message : uint8_t { kNone, kSend, kWrite };

  bool TakeInTurn(const roce::Packet& packet);
  void OnEarly(const roce::Packet& packet, Psn psn);
  void TakeEarly();
  bool Admit(const roce::Packet& packet, const roce::OpcodeTraits& traits);
  bool InSequence(const roce::OpcodeTraits& traits) const;
  bool CarryOut(const roce::Packet& packet, const roce::OpcodeTraits& traits);
  // responder_requests.cc. Each is false when the request is not carried out now.
  bool TakeSend(const roce::Packet& packet, const roce::OpcodeTraits& traits);
  bool TakeWrite(const roce::Packet& packet, const roce::OpcodeTraits& traits);
  bool TakeRead(const roce::Packet& packet);
  bool TakeAtomic(const roce::Packet& packet);
  bool BeginReceive();
  bool BeginWrite(const roce::Reth& reth);
  bool PlaceInReceive(ByteSpan payload);
  bool PlaceInTarget(ByteSpan payload);
  bool InvalidateFor(uint32_t key);
  // Refuses the request and ends the connection.
  bool Refuse(roce::NakCode code, const Blame& blame, std::string why);
  bool RefuseAccess(AccessError error, const char* what);

  // responder_answers.cc
  void OnDuplicate(const roce::Packet& packet, Psn psn);
  void AskForReceive();
  void Nak(uint8_t syndrome);
  bool FillResponse(PeerRead* read, PacketBatch* batch);
  bool EmitResponse(PeerRead* read, PacketBatch* batch);
  void RefuseResponse(PeerRead* read, AccessError error);
  void RefuseRepetition(PeerRead* read, Psn psn);
  void EmitAcknowledge(uint8_t syndrome, Psn psn, PacketBatch* batch);
  void Finish(OutgoingPacket* out, roce::Packet* packet, Psn psn, PacketBatch* batch);

  RcState& state_;
  WorkLedger& ledger_;
  Psn expected_;
  uint32_t msn_ = 0;                  // messages completed
  Message message_ = Message::kNone;  // the one that has begun and not ended
  uint64_t message_length_ = 0;       // bytes of it that are placed
  Cursor cursor_;
  struct Target {
    uint64_t va = 0;
    uint32_t key = 0;
    uint64_t length = 0;  // of the whole write
  } target_;

  PeerReads reads_;
  bool reads_due_ = false;  // reads_ has responses to be sent

  bool ack_due_ = false;
  bool urgent_ = false;
  uint32_t unacknowledged_ = 0;  // requests since the last acknowledgement
  struct PendingNak {
    uint8_t syndrome;
    Psn psn;
  };
  std::optional<PendingNak> nak_;      // to be sent
  std::optional<PendingNak> refusal_;  // ended the connection; said again when asked again
  bool waits_for_expected_ = false;    // a NAK was sent, and nothing is answered until it is heeded
  bool waits_for_receive_ = false;     // it was one for want of a receive
  EarlyPackets early_;
  bool over_ = false;
  bool silent_ = false;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_ROCE_RESPONDER_H_
