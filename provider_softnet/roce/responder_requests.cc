// SPDX-License-Identifier: BSD-3-Clause
// Responder: sends, writes, reads and atomics of the peer are carried out.
#include <algorithm>
#include <cstring>

#include "provider_softnet/memory/polled_copy.h"
#include "provider_softnet/memory/remote_atomic.h"
#include "provider_softnet/roce/immediate_order.h"
#include "provider_softnet/roce/responder.h"

namespace softdat::softnet {

using roce::NakCode;
using roce::Opcode;
using roce::Position;
using transport::WorkStatus;

namespace {

bool Begins(const roce::OpcodeTraits& traits) {
  return traits.position == Position::kFirst || traits.position == Position::kOnly;
}

}  // namespace

// -------------------------------------------------------------------------------------------------
// Sends

// The receive for a message that begins, or for the immediate data of a write that ends.
[[gnu::hot]] bool Responder::BeginReceive() {
  if (!ledger_.TakeReceive()) {
    AskForReceive();
    return false;
  }
  cursor_ = {};
  if (ledger_.WithinWatermarks()) return true;
  return Refuse(NakCode::kRemoteOperational, Blame::Nobody(),
                "the endpoint holds " + std::to_string(ledger_.held_receives()) +
                    " receives of its SRQ, more than the hard high watermark of " +
                    std::to_string(ledger_.config().watermarks->hard));
}

[[gnu::hot]] bool Responder::TakeSend(const roce::Packet& packet,
                                      const roce::OpcodeTraits& traits) {
  if (Begins(traits)) {
    if (!BeginReceive()) return false;
    message_length_ = 0;
  }
  const uint64_t room = ledger_.held()->length;
  if (message_length_ + packet.payload.size() > room) {
    return Refuse(
        NakCode::kInvalidRequest, Blame::Receive(WorkStatus::kLocalLength),
        "a message is longer than the receive buffer of " + std::to_string(room) + " bytes");
  }
  if (!PlaceInReceive(packet.payload)) return false;
  message_length_ += packet.payload.size();
  message_ = traits.ends() ? Message::kNone : Message::kSend;
  if (!traits.ends()) {
    ++expected_;
    return true;
  }
  if (traits.has(roce::kHasIeth)) {
    const uint32_t key = packet.headers.invalidate_rkey;
    if (!InvalidateFor(key)) return false;
    ++expected_;
    ledger_.CompleteReceive(transport::Op::kReceiveInvalidate, message_length_, key,
                            packet.bth.solicited);
  } else if (traits.has(roce::kHasImmediate)) {
    ++expected_;
    ledger_.CompleteReceive(transport::Op::kReceiveImmediate, message_length_,
                            ImmediateOrder(packet.headers.immediate), packet.bth.solicited);
  } else {
    ++expected_;
    ledger_.CompleteReceive(transport::Op::kReceive, message_length_, 0, packet.bth.solicited);
  }
  return true;
}

bool Responder::InvalidateFor(uint32_t key) {
  const WorkLedgerConfig& work = ledger_.config();
  const AccessError error = state_.memory().Invalidate(key, work.pd, work.qp);
  if (error == AccessError::kNone) return true;
  ++state_.counters.remote_accesses_refused;
  return Refuse(NakCode::kRemoteAccess, Blame::Receive(WorkStatus::kLocalProtection),
                std::string("the peer asked to invalidate a context: ") + AccessErrorText(error));
}

// Which memory the next bytes go to is judged at the moment they move.
[[gnu::hot]] bool Responder::PlaceInReceive(ByteSpan payload) {
  const ReceiveWork& receive = *ledger_.held();
  const uint8_t* from = payload.data();
  size_t left = payload.size();
  while (left > 0) {
    const Segment& s = receive.segments[cursor_.segment];
    if (cursor_.segment_offset == s.segment_length) {  // full, or empty from the beginning
      cursor_ = {cursor_.segment + 1, 0};
      continue;
    }
    const size_t piece = std::min<size_t>(left, s.segment_length - cursor_.segment_offset);
    AccessRequest request = state_.Access(s.lmr_context, Access::kLocalWrite,
                                          s.virtual_address + cursor_.segment_offset, piece);
    request.pd = ledger_.receive_domain();
    Pin pin;
    const AccessError error = state_.memory().Acquire(request, &pin);
    if (error != AccessError::kNone) {
      return Refuse(NakCode::kRemoteOperational, Blame::Receive(WorkStatus::kLocalProtection),
                    std::string("a receive buffer cannot be written: ") + AccessErrorText(error));
    }
    std::memcpy(pin.address(), from, piece);
    from += piece;
    left -= piece;
    cursor_.segment_offset += static_cast<uint32_t>(piece);
  }
  return true;
}

// -------------------------------------------------------------------------------------------------
// Writes

[[gnu::hot]] bool Responder::BeginWrite(const roce::Reth& reth) {
  if (reth.length > kMaxRoceMessage) {
    return Refuse(NakCode::kInvalidRequest, Blame::Nobody(),
                  "an RDMA write of " + std::to_string(reth.length) + " bytes");
  }
  target_ = {reth.va, reth.rkey, reth.length};
  message_length_ = 0;
  if (reth.length == 0) return true;  // its key names nothing (IBTA vol. 1 §9.7.4.1.5)
  const AccessError error =
      state_.memory().Check(state_.Access(reth.rkey, Access::kRemoteWrite, reth.va, reth.length));
  if (error == AccessError::kNone) return true;
  return RefuseAccess(error, "the peer's RDMA write was refused: ");
}

[[gnu::hot]] bool Responder::TakeWrite(const roce::Packet& packet,
                                       const roce::OpcodeTraits& traits) {
  if (Begins(traits) && !BeginWrite(packet.headers.reth)) return false;
  const uint64_t length = message_length_ + packet.payload.size();
  if (traits.ends() ? length != target_.length : length >= target_.length) {
    return Refuse(NakCode::kInvalidRequest, Blame::Nobody(),
                  "an RDMA write that does not have the length that it announced");
  }
  const bool immediate = traits.has(roce::kHasImmediate);
  if (immediate && !BeginReceive()) return false;
  if (!PlaceInTarget(packet.payload)) return false;
  message_length_ = length;
  message_ = traits.ends() ? Message::kNone : Message::kWrite;
  ++expected_;
  if (immediate) {
    ledger_.CompleteReceive(transport::Op::kReceiveImmediate, length,
                            ImmediateOrder(packet.headers.immediate), packet.bth.solicited);
  }
  return true;
}

[[gnu::hot]] bool Responder::PlaceInTarget(ByteSpan payload) {
  if (payload.empty()) return true;
  Pin pin;
  const AccessError error =
      state_.memory().Acquire(state_.Access(target_.key, Access::kRemoteWrite,
                                            target_.va + message_length_, payload.size()),
                              &pin);
  if (error != AccessError::kNone) {
    return RefuseAccess(error, "the peer's RDMA write was refused: ");
  }
  CopyPolledEnd(pin.address(), payload.data(), payload.size());
  return true;
}

// -------------------------------------------------------------------------------------------------
// Reads and atomics

bool Responder::TakeRead(const roce::Packet& packet) {
  const roce::Reth& reth = packet.headers.reth;
  if (reth.length > kMaxRoceMessage || !reads_.HasRoom()) {
    return Refuse(NakCode::kInvalidRequest, Blame::Nobody(),
                  reth.length > kMaxRoceMessage
                      ? "an RDMA read of " + std::to_string(reth.length) + " bytes"
                      : std::string("the peer has more reads outstanding than were agreed on"));
  }
  if (reth.length > 0) {
    const AccessError error =
        state_.memory().Check(state_.Access(reth.rkey, Access::kRemoteRead, reth.va, reth.length));
    if (error != AccessError::kNone) {
      return RefuseAccess(error, "the peer's RDMA read was refused: ");
    }
  }
  PeerRead read;
  read.first = expected_;
  read.packets = std::max(1u, (reth.length + state_.config.mtu - 1) / state_.config.mtu);
  read.va = reth.va;
  read.key = reth.rkey;
  read.length = reth.length;
  read.msn = msn_ + 1;
  read.stop = read.packets;
  read.stop_bytes = reth.length;
  reads_.Add(read);
  reads_due_ = true;
  expected_ += read.packets;
  return true;
}

bool Responder::TakeAtomic(const roce::Packet& packet) {
  const roce::AtomicEth& atomic = packet.headers.atomic;
  if (!reads_.HasRoom()) {
    return Refuse(NakCode::kInvalidRequest, Blame::Nobody(),
                  "the peer has more atomics outstanding than were agreed on");
  }
  const bool adds = packet.bth.opcode == Opcode::kFetchAdd;
  const auto next = [&](uint64_t seen) {
    if (adds) return seen + atomic.swap_or_add;
    return seen == atomic.compare ? atomic.swap_or_add : seen;
  };
  PeerRead read;
  AccessError error = AccessError::kNone;
  const AtomicResult result = atomic.va % sizeof(uint64_t) != 0
                                  ? AtomicResult::kMisaligned
                                  : ExecuteAtomic(state_.memory(),
                                                  state_.Access(atomic.rkey, Access::kRemoteAtomic,
                                                                atomic.va, sizeof(uint64_t)),
                                                  next, &read.original, &error);
  if (result == AtomicResult::kMisaligned) {
    return Refuse(NakCode::kInvalidRequest, Blame::Nobody(),
                  "the peer's atomic is not aligned to 8 bytes");
  }
  if (result == AtomicResult::kRefused) {
    return RefuseAccess(error, "the peer's atomic was refused: ");
  }
  read.first = expected_;
  read.packets = read.stop = 1;
  read.atomic = true;
  read.msn = msn_ + 1;
  reads_.Add(read);
  reads_due_ = true;
  ++expected_;
  return true;
}

}  // namespace softdat::softnet
