// SPDX-License-Identifier: BSD-3-Clause
// Responder: acknowledgements, responses and NAKs, and what the peer asks for again.
#include <algorithm>
#include <utility>

#include "provider_softnet/roce/responder.h"

namespace softdat::softnet {

using roce::NakCode;
using roce::Opcode;
using roce::Operation;

// -------------------------------------------------------------------------------------------------
// What is due

// The request at expected_ finds no receive: the peer is told to send it again later.
void Responder::AskForReceive() {
  ++state_.counters.rnr_naks_sent;
  Nak(roce::RnrNakSyndrome(state_.config.rnr_timer));
  waits_for_receive_ = true;
}

void Responder::Nak(uint8_t syndrome) {
  if (syndrome == roce::NakSyndrome(NakCode::kPsnSequence)) ++state_.counters.naks_sent;
  nak_ = PendingNak{syndrome, expected_};
  waits_for_expected_ = true;
}

// A request that was carried out comes again (IBTA vol. 1 §9.7.5.1.1): a send or write is
// acknowledged again, a read is read again, and the answer to an atomic is repeated.
void Responder::OnDuplicate(const roce::Packet& packet, Psn psn) {
  ++state_.counters.duplicates;
  const Operation operation = roce::TraitsOf(packet.bth.opcode).operation;
  if (operation == Operation::kSend || operation == Operation::kWrite) {
    ack_due_ = urgent_ = true;
    return;
  }
  if (operation != Operation::kReadRequest && operation != Operation::kAtomic) return;
  PeerRead* const read = reads_.Find(psn);
  if (read == nullptr || read->atomic != (operation == Operation::kAtomic)) return;
  const uint32_t index = static_cast<uint32_t>(psn - read->first);
  uint32_t end = read->packets;
  uint64_t end_bytes = 0;
  if (!read->atomic) {
    const roce::Reth& reth = packet.headers.reth;
    const uint64_t offset = uint64_t{index} * state_.config.mtu;
    const bool within = reth.rkey == read->key && reth.va == read->va + offset &&
                        reth.length <= read->length - offset;
    if (!within) return;
    end_bytes = offset + reth.length;
    end = index + std::max(1u, (reth.length + state_.config.mtu - 1) / state_.config.mtu);
  }
  if (read->due()) {
    end = std::max(end, read->stop);
    end_bytes = std::max(end_bytes, read->stop_bytes);
    if (index > read->next) {  // it comes behind what is about to be sent
      read->stop = end;
      read->stop_bytes = end_bytes;
      return;
    }
  }
  read->start = read->next = index;
  read->stop = end;
  read->stop_bytes = end_bytes;
  reads_due_ = true;
}

// -------------------------------------------------------------------------------------------------
// What leaves

[[gnu::hot]] void Responder::Offer(PacketBatch* batch) {
  while (reads_due_) {
    PeerRead* const read = reads_.Due();
    if (read == nullptr) {
      reads_due_ = false;
      break;
    }
    if (!batch->HasRoom(1)) return;
    if (!EmitResponse(read, batch)) break;
  }
  if (!batch->HasRoom(1)) return;
  if (nak_) {
    const PendingNak nak = *std::exchange(nak_, std::nullopt);
    return EmitAcknowledge(nak.syndrome, nak.psn, batch);
  }
  if (!ack_due_ || !urgent_) return;
  EmitAcknowledge(roce::AckSyndrome(roce::kCreditsUnused), expected_ - 1, batch);
}

bool Responder::EmitResponse(PeerRead* read, PacketBatch* batch) {
  OutgoingPacket& out = batch->Begin();
  if (!read->atomic && !FillResponse(read, batch)) return false;
  const bool begins = read->next == read->start;
  const bool ends = read->next + 1 == read->stop;
  roce::Packet packet;
  if (read->atomic) {
    packet.bth.opcode = Opcode::kAtomicAcknowledge;
    packet.headers.original = read->original;
  } else if (begins) {
    packet.bth.opcode = ends ? Opcode::kReadResponseOnly : Opcode::kReadResponseFirst;
  } else {
    packet.bth.opcode = ends ? Opcode::kReadResponseLast : Opcode::kReadResponseMiddle;
  }
  packet.headers.aeth = {roce::AckSyndrome(roce::kCreditsUnused), read->msn & roce::kMask24};
  Finish(&out, &packet, read->first + read->next, batch);
  if (++read->next == read->packets) read->answered = true;
  return true;
}

bool Responder::FillResponse(PeerRead* read, PacketBatch* batch) {
  const uint64_t offset = uint64_t{read->next} * state_.config.mtu;
  const uint64_t size = std::min<uint64_t>(read->stop_bytes - offset, state_.config.mtu);
  if (size == 0) return true;
  const AccessError error = batch->Add(
      state_.memory(), state_.Access(read->key, Access::kRemoteRead, read->va + offset, size));
  if (error == AccessError::kNone) return true;
  RefuseResponse(read, error);
  return false;
}

// The source of a read is gone since it was asked for. What the peer read before that is still
// answered when it is asked for again.
void Responder::RefuseResponse(PeerRead* read, AccessError error) {
  ++state_.counters.remote_accesses_refused;
  const Psn psn = read->first + read->next;
  if (read->answered) return RefuseRepetition(read, psn);
  reads_.Hold();
  reads_due_ = false;
  refusal_ = PendingNak{roce::NakSyndrome(NakCode::kRemoteAccess), psn};
  nak_ = refusal_;
  if (over_) return;
  state_.Fail(Blame::Nobody(),
              std::string("the source of the peer's RDMA read is gone: ") + AccessErrorText(error),
              /*by_peer=*/false);
}

// It was answered in full. So the memory may well be gone because the peer has got the answer, and
// the question has only been long under way, or was asked too early. Such a peer takes no notice.
// One that lacks the answer hears that it will not come. It is nobody's fault at this end.
void Responder::RefuseRepetition(PeerRead* read, Psn psn) {
  read->stop = read->next;
  if (!nak_) nak_ = PendingNak{roce::NakSyndrome(NakCode::kRemoteAccess), psn};
}

[[gnu::hot]] void Responder::EmitAcknowledge(uint8_t syndrome, Psn psn, PacketBatch* batch) {
  OutgoingPacket& out = batch->Begin();
  roce::Packet packet;
  packet.bth.opcode = Opcode::kAcknowledge;
  packet.headers.aeth = {syndrome, msn_ & roce::kMask24};
  Finish(&out, &packet, psn, batch);
  ack_due_ = urgent_ = false;
  unacknowledged_ = 0;
}

void Responder::Finish(OutgoingPacket* out, roce::Packet* packet, Psn psn, PacketBatch* batch) {
  packet->bth.migrated = true;
  packet->bth.pkey = state_.config.pkey;
  packet->bth.dest_qpn = state_.config.peer_qpn;
  packet->bth.psn = WirePsn(psn);
  out->header_size =
      static_cast<uint8_t>(roce::EncodeHeaders(*packet, out->payload_size, out->header));
  batch->Commit();
  ++state_.counters.packets_sent;
}

void Responder::TakeBack(Opcode opcode, uint32_t wire_psn) {
  if (silent_) return;
  if (opcode == Opcode::kAcknowledge) {
    if (refusal_) {
      nak_ = refusal_;
    } else {
      ack_due_ = urgent_ = true;
      waits_for_expected_ = false;  // a NAK is said again when it is due again
    }
    return;
  }
  const Psn psn = NearestPsn(wire_psn, expected_);
  PeerRead* const read = reads_.Find(psn);
  if (read == nullptr) return;
  read->next = std::min(read->next, static_cast<uint32_t>(psn - read->first));
  reads_due_ = true;
}

}  // namespace softdat::softnet
