// SPDX-License-Identifier: BSD-3-Clause
// Turns an offer into the request that an Incoming makes from the bytes of a connection.
#include "provider_softnet/tcp/handoff_rebuild.h"

#include "provider_softnet/tcp/handoff_message.h"
#include "wire/private_header.h"

namespace softdat::softnet {
namespace {

RebuiltRequest Refused(const char* why) {
  RebuiltRequest out;
  out.refusal = why;
  return out;
}

}  // namespace

RebuiltRequest RebuildRequest(std::span<const uint8_t> message, uint64_t conn_qual,
                              uint16_t local_port, CrcPolicy crc) {
  const std::optional<HandoffOffer> offer = DecodeHandoffOffer(message);
  if (!offer) return Refused("its message is no offer of this version");
  if (offer->conn_qual != conn_qual) return Refused("the offer is for another qualifier");
  iwarp::MpaStart frame;
  const iwarp::MpaParseResult parsed = iwarp::ParseMpaStart(offer->frame, &frame);
  if (parsed.status != iwarp::MpaParseStatus::kOk || parsed.bytes != offer->frame.size())
    return Refused("there is no MPA Request in it");
  RebuiltRequest out;
  out.aimed_at = local_port;
  FindPrivateHeader(frame.private_data, kQualifierMagic, &out.aimed_at);
  MpaConfig config;
  config.crc = crc;
  config.conn_qual = out.aimed_at;  // the qualifier by which the Request is judged
  auto responder = std::make_unique<MpaResponder>(config);
  responder->ReceiveAll(offer->frame);
  if (responder->state() != MpaState::kRequest) return Refused("its MPA Request does not suit");
  out.responder = std::move(responder);
  return out;
}

}  // namespace softdat::softnet
