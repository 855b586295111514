// SPDX-License-Identifier: BSD-3-Clause
// Receiver: the short way of small messages. Most of them are a whole Send or RDMA Write in one
// FPDU that is there as a whole, without CRC, with nothing else in their way. Such an FPDU is
// judged, placed and completed in one step. Everything else is left to the general steps, as if
// nobody had looked.
#include <cstring>

#include "provider_softnet/iwarp/receiver.h"
#include "provider_softnet/memory/brief_access.h"
#include "provider_softnet/memory/polled_copy.h"
#include "wire/iwarp/fpdu.h"

namespace softdat::softnet {

using iwarp::Opcode;

namespace {

// The header of a send. No FPDU that may be taken is shorter.
constexpr size_t kLeast = iwarp::kUntaggedFpduHeaderSize;
static_assert(iwarp::FpduSize(iwarp::kTaggedHeaderSize) >= kLeast);

}  // namespace

[[gnu::always_inline]] inline bool Receiver::PlaceShort(const AccessRequest& place,
                                                        const uint8_t* data) {
  const BriefAccess to(state_.memory(), place);
  if (!to.granted()) return false;
  CopyPolledEnd(to.address(), data, place.length);
  state_.counters.bytes_copied_in += place.length;
  return true;
}

// The header is judged in a copy, and the payload is read once.
[[gnu::hot]] size_t Receiver::TakeShortInPlace(ByteSpan bytes) {
  if (!MayTakeShort() || !staging_.empty() || bytes.size() < kLeast) return 0;
  uint8_t header[kLeast];
  std::memcpy(header, bytes.data(), kLeast);
  asm("" : "+m"(header));  // so that the compiler does not read it again
  return TakeShortFpdu(header, bytes);
}

[[gnu::hot]] bool Receiver::StepShort() {
  if (!MayTakeShort() || staging_.size() < kLeast) return false;
  const size_t taken = TakeShortFpdu(staging_.front(), {staging_.front(), staging_.size()});
  staging_.Consume(taken);
  return taken > 0;
}

// `bytes` begin with `header`.
[[gnu::always_inline]] inline size_t Receiver::TakeShortFpdu(const uint8_t* header,
                                                             ByteSpan bytes) {
  const uint32_t lead = LoadBe32(header);
  const size_t ulpdu = lead >> 16;
  const size_t total = iwarp::FpduSize(ulpdu);
  if (bytes.size() < total || ulpdu >= state_.config.direct_payload) return 0;
  // Segments with reserved bits, which must be ignored, are left to ParseDdpHeader().
  const uint16_t control = static_cast<uint16_t>(lead);
  if (control == iwarp::OnlySegmentControl(Opcode::kSend)) {
    if (!TakeShortSend(header, bytes.data(), ulpdu)) return 0;
  } else if (control != iwarp::OnlySegmentControl(Opcode::kWrite) ||
             !TakeShortWrite(header, bytes.data(), ulpdu)) {
    return 0;
  }
  ++state_.counters.fpdus_received;
  ++state_.counters.taken_short;
  return total;
}

// The message must fit the first segment of one of the pair's own receives.
[[gnu::hot]] bool Receiver::TakeShortSend(const uint8_t* header, const uint8_t* fpdu,
                                          size_t ulpdu) {
  iwarp::UntaggedSequence& queue = queues_[iwarp::kQnSend];
  const uint64_t number = uint64_t{iwarp::kQnSend} << 32 | queue.msn;
  if (ulpdu < iwarp::kUntaggedHeaderSize || LoadBe64(header + 8) != number ||
      LoadBe32(header + 16) != 0 || queue.in_message) {
    return false;
  }
  const size_t payload = ulpdu - iwarp::kUntaggedHeaderSize;
  const ReceiveWork* const receive = ledger_.NextOfOwn();
  if (receive == nullptr) return false;
  if (payload > 0) {
    if (receive->segment_count == 0) return false;
    const Segment& s = receive->segments[0];
    if (payload > s.segment_length) return false;
    const AccessRequest place =
        state_.Access(s.lmr_context, Access::kLocalWrite, s.virtual_address, payload);
    if (!PlaceShort(place, fpdu + iwarp::kUntaggedFpduHeaderSize)) return false;
  }
  ++queue.msn;
  write_in_front_ = false;
  ledger_.CompleteNextOfOwn(payload);
  return true;
}

// A write of nothing may be a parting word or the ready-to-receive message.
[[gnu::hot]] bool Receiver::TakeShortWrite(const uint8_t* header, const uint8_t* fpdu,
                                           size_t ulpdu) {
  if (ulpdu <= iwarp::kTaggedHeaderSize || write_open_) return false;
  const size_t payload = ulpdu - iwarp::kTaggedHeaderSize;
  const AccessRequest place =
      state_.Access(LoadBe32(header + 4), Access::kRemoteWrite, LoadBe64(header + 8), payload);
  if (!PlaceShort(place, fpdu + iwarp::kTaggedFpduHeaderSize)) return false;
  write_length_ = payload;
  write_in_front_ = true;
  ++writes_;
  return true;
}

}  // namespace softdat::softnet
