// SPDX-License-Identifier: BSD-3-Clause
// MPA start-up, passive side: judges the Request, and answers it when told to (RFC 5044 §7.1, RFC
// 6581 §5).
#include <array>
#include <cstring>

#include "provider_softnet/iwarp/mpa_depths.h"
#include "provider_softnet/iwarp/mpa_handshake.h"
#include "wire/private_header.h"

namespace softdat::softnet {

const char* RefuseReasonText(RefuseReason reason) {
  switch (reason) {
    case RefuseReason::kUnspecified:
      return "no reason given";
    case RefuseReason::kNoListener:
      return "nobody listens on this connection qualifier";
    case RefuseReason::kBacklog:
      return "too many requests wait there";
    case RefuseReason::kIncompatible:
      return "its settings or capabilities do not fit this request";
  }
  return "an unknown reason";
}

MpaResponder::MpaResponder(const MpaConfig& config) : MpaHandshake(config) {
  wanted_ = iwarp::kMpaEnhancedFrameSize;
}

void MpaResponder::OnFrame(const iwarp::MpaStart& frame) {
  if (frame.reply) return Fail(MpaFailure::kFrame, "an MPA Reply came where a Request was due");
  request_ = frame;
  request_.private_data = {};
  if (frame.revision == 0) return Fail(MpaFailure::kFrame, "an MPA Request of revision 0");
  if (frame.markers) {
    return RefuseFor(MpaFailure::kMarkers, RefuseReason::kIncompatible, "the peer wants markers");
  }
  if (frame.crc && config_.crc == CrcPolicy::kOff) {
    return RefuseFor(MpaFailure::kCrc, RefuseReason::kIncompatible,
                     "the peer wants CRC, and the settings forbid it");
  }
  uint64_t aimed_at = 0;
  const bool told = FindPrivateHeader(peer_data_, kQualifierMagic, &aimed_at);
  if (told) peer_data_ = peer_data_.subspan(kPrivateHeaderSize);
  if (told ? aimed_at != config_.conn_qual : config_.conn_qual > kMaxPortQualifier) {
    return RefuseFor(MpaFailure::kQualifier, RefuseReason::kNoListener,
                     told ? "the request aims at qualifier " + std::to_string(aimed_at)
                          : "the request names no qualifier above 65535");
  }
  state_ = MpaState::kRequest;
}

// Every Reply has the words if the Request had them, because Linux siw demands it. A revision above
// ours is answered with ours (RFC 6581 §6).
iwarp::MpaStart MpaResponder::ReplyHead(bool reject) const {
  iwarp::MpaStart reply;
  reply.reply = true;
  reply.reject = reject;
  reply.revision = std::min(request_.revision, config_.revision);
  reply.enhanced = request_.enhanced && reply.revision >= iwarp::kMpaRevision2;
  reply.crc = request_.crc || config_.crc == CrcPolicy::kOn;
  if (reply.enhanced) reply.words = {};
  return reply;
}

bool MpaResponder::Accept(uint32_t max_read_in, uint32_t max_read_out,
                          std::span<const uint8_t> private_data) {
  if (state_ != MpaState::kRequest || private_data.size() > kMaxConsumerPrivateData) return false;
  iwarp::MpaStart reply = ReplyHead(/*reject=*/false);
  agreement_.crc = reply.crc;
  agreement_.revision = reply.revision;
  agreement_.ird = WireDepth(max_read_in);
  agreement_.ord = WireDepth(max_read_out);
  agreement_.request_slots_in = RequestSlots(max_read_in);
  agreement_.request_slots_out = agreement_.ord;  // a peer that says nothing shows no more
  agreement_.rtr = Rtr::kNone;
  if (reply.enhanced) {
    const iwarp::MpaEnhanced& asked = request_.words;
    agreement_.ird = SettleDepth(max_read_in, asked.ord);
    agreement_.ord = SettleDepth(max_read_out, asked.ird);
    agreement_.request_slots_in = SettleDepth(RequestSlots(max_read_in), asked.ord);
    agreement_.request_slots_out = SettleDepth(RequestSlots(max_read_out), asked.ird);
    reply.words.ird = agreement_.request_slots_in;
    reply.words.ord = agreement_.request_slots_out;
    if (asked.peer_to_peer && (asked.rtr_write || asked.rtr_read || asked.rtr_send)) {
      // A Read costs a response. But asking for it tells the initiator that reads of nothing are
      // known here. A zero-length Write touches nothing, and a Send takes a message number.
      agreement_.rtr = asked.rtr_read ? Rtr::kRead : asked.rtr_write ? Rtr::kWrite : Rtr::kSend;
      agreement_.empty_reads = asked.rtr_read;
      reply.words.peer_to_peer = true;
      reply.words.rtr_write = agreement_.rtr == Rtr::kWrite;
      reply.words.rtr_read = agreement_.rtr == Rtr::kRead;
      reply.words.rtr_send = agreement_.rtr == Rtr::kSend;
    }
  }
  reply.private_data = private_data;
  if (!Emit(reply)) return false;
  state_ = MpaState::kExchange;
  after_output_ = MpaState::kEstablished;
  return true;
}

bool MpaResponder::Reject(std::span<const uint8_t> private_data) {
  if (state_ != MpaState::kRequest || private_data.size() > kMaxConsumerPrivateData) return false;
  iwarp::MpaStart reply = ReplyHead(/*reject=*/true);
  reply.private_data = private_data;
  if (!Emit(reply)) return false;
  state_ = MpaState::kExchange;
  after_output_ = MpaState::kRejected;
  reason_ = "rejected by the own consumer";
  return true;
}

void MpaResponder::Refuse(RefuseReason reason) {
  if (state_ != MpaState::kRequest) return;
  std::array<uint8_t, kPrivateHeaderSize> data;
  StorePrivateHeader(data.data(), kRefusalMagic, static_cast<uint64_t>(reason));
  iwarp::MpaStart reply = ReplyHead(/*reject=*/true);
  reply.private_data = data;
  Emit(reply);
  state_ = MpaState::kExchange;
  after_output_ = MpaState::kRejected;
  reason_ = std::string("refused: ") + RefuseReasonText(reason);
}

void MpaResponder::RefuseFor(MpaFailure failure, RefuseReason reason, std::string text) {
  state_ = MpaState::kRequest;
  Refuse(reason);
  Fail(failure, std::move(text));
}

}  // namespace softdat::softnet
