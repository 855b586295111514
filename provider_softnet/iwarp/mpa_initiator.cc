// SPDX-License-Identifier: BSD-3-Clause
// MPA start-up, active side: sends the Request and judges the Reply (RFC 5044 §7.1, RFC 6581 §5).
#include <array>
#include <cstring>

#include "provider_softnet/iwarp/mpa_depths.h"
#include "provider_softnet/iwarp/mpa_handshake.h"
#include "wire/iwarp/terminate.h"
#include "wire/private_header.h"

namespace softdat::softnet {

MpaInitiator::MpaInitiator(const MpaConfig& config, std::span<const uint8_t> private_data)
    : MpaHandshake(config) {
  std::array<uint8_t, iwarp::kMpaMaxPrivateData> data;
  size_t size = 0;
  if (private_data.size() > kMaxConsumerPrivateData) {
    Fail(MpaFailure::kFrame, "too much private data for MPA");
    return;
  }
  if (config.conn_qual > kMaxPortQualifier) {
    StorePrivateHeader(data.data(), kQualifierMagic, config.conn_qual);
    size = kPrivateHeaderSize;
  }
  if (!private_data.empty()) {
    std::memcpy(data.data() + size, private_data.data(), private_data.size());
    size += private_data.size();
  }
  iwarp::MpaStart request;
  request.crc = config.crc == CrcPolicy::kOn;
  request.revision = config.revision;
  request.enhanced = config.revision >= iwarp::kMpaRevision2;
  if (request.enhanced) {
    request.words.ird = RequestSlots(config.max_read_in);
    request.words.ord = RequestSlots(config.max_read_out);
    request.words.peer_to_peer = config.peer_to_peer;
    request.words.rtr_write = config.peer_to_peer;
    request.words.rtr_read = config.peer_to_peer;
  }
  request.private_data = {data.data(), size};
  if (Emit(request)) {
    wanted_ = request.enhanced ? iwarp::kMpaEnhancedFrameSize : iwarp::kMpaHeaderSize;
  } else {
    Fail(MpaFailure::kFrame, "the MPA Request cannot be stated");
  }
}

bool MpaInitiator::retry_with_revision1() const {
  return failure() == MpaFailure::kClosed && config_.revision > iwarp::kMpaRevision1 &&
         !got_bytes();
}

void MpaInitiator::OnFrame(const iwarp::MpaStart& frame) {
  if (!frame.reply) {
    return Fail(MpaFailure::kFrame, "an MPA Request came where the Reply was due");
  }
  if (!output().empty()) {
    return Fail(MpaFailure::kFrame, "an MPA Reply came before the Request was sent");
  }
  if (frame.reject) {
    uint64_t why = 0;
    if (FindPrivateHeader(peer_data_, kRefusalMagic, &why)) {
      peer_data_ = {};
      return Fail(MpaFailure::kRefusedByBackend,
                  std::string("refused by the other end: ") +
                      RefuseReasonText(static_cast<RefuseReason>(why)));
    }
    state_ = MpaState::kRejected;
    reason_ = "rejected by the peer's consumer";
    return;
  }
  if (frame.revision == 0 || frame.revision > config_.revision) {
    return Fail(MpaFailure::kFrame, "the MPA Reply has revision " + std::to_string(frame.revision));
  }
  if (frame.markers) return Fail(MpaFailure::kMarkers, "the peer wants MPA markers");
  if (frame.crc && config_.crc == CrcPolicy::kOff) {
    return Fail(MpaFailure::kCrc, "the peer wants CRC, and the settings forbid it");
  }
  if (Settle(frame)) state_ = MpaState::kEstablished;
}

// Settles depths and model. Returns false when it has failed.
bool MpaInitiator::Settle(const iwarp::MpaStart& frame) {
  agreement_.crc = frame.crc || config_.crc == CrcPolicy::kOn;
  agreement_.revision = frame.revision;
  agreement_.ird = WireDepth(config_.max_read_in);
  agreement_.ord = WireDepth(config_.max_read_out);
  agreement_.request_slots_in = RequestSlots(config_.max_read_in);
  agreement_.request_slots_out = agreement_.ord;  // a peer that says nothing shows no more
  agreement_.rtr = Rtr::kNone;
  if (!frame.enhanced) return true;
  const iwarp::MpaEnhanced& words = frame.words;
  agreement_.ord = SettleDepth(config_.max_read_out, words.ird);
  agreement_.request_slots_out = SettleDepth(RequestSlots(config_.max_read_out), words.ird);
  if (words.ord != iwarp::kMpaDepthUnspecified && words.ord > agreement_.request_slots_in) {
    FailWithTerminate(MpaFailure::kDepth, iwarp::kTermMpaInsufficientIrd,
                      "the peer wants " + std::to_string(words.ord) +
                          " reads outstanding here, more than " +
                          std::to_string(agreement_.request_slots_in));
    return false;
  }
  if (!words.peer_to_peer || !config_.peer_to_peer) return true;
  agreement_.empty_reads = words.rtr_read;
  if (words.rtr_write) {
    agreement_.rtr = Rtr::kWrite;
  } else if (words.rtr_read) {
    agreement_.rtr = Rtr::kRead;
  } else {
    FailWithTerminate(MpaFailure::kRtr, iwarp::kTermMpaNoMatchingRtr,
                      "the peer wants a ready-to-receive message that was not offered");
    return false;
  }
  return true;
}

// RFC 6581 §5: a Terminate tells the peer. It is the first and last FPDU.
void MpaInitiator::FailWithTerminate(MpaFailure failure, iwarp::TerminateCode code,
                                     std::string reason) {
  std::array<uint8_t, iwarp::kTerminateMaxFpdu> fpdu;
  iwarp::Terminate terminate;
  terminate.code = code;
  EmitRaw({fpdu.data(), iwarp::EncodeTerminateFpdu(terminate, agreement_.crc, fpdu.data())});
  Fail(failure, std::move(reason));
}

}  // namespace softdat::softnet
