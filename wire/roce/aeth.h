// SPDX-License-Identifier: BSD-3-Clause
// The syndrome of an AETH: acknowledgement with credits, RNR NAK with a timer, NAK with a reason
// (IBTA vol. 1 §9.7.5.2).

#ifndef SOFTDAT_WIRE_ROCE_AETH_H_
#define SOFTDAT_WIRE_ROCE_AETH_H_

#include <cstdint>
#include <optional>

namespace softdat::roce {

enum class AethKind : uint8_t { kAck, kRnrNak, kNak, kReserved };

enum class NakCode : uint8_t {
  kPsnSequence = 0,
  kInvalidRequest = 1,
  kRemoteAccess = 2,
  kRemoteOperational = 3,
  kInvalidRdRequest = 4,
};

/// The credit code of a responder that does not use end-to-end flow control.
inline constexpr uint8_t kCreditsUnused = 31;

struct Syndrome {
  AethKind kind = AethKind::kAck;
  /// kAck: credit code. kRnrNak: timer code. kNak: a NakCode. kReserved: the whole octet.
  uint8_t code = kCreditsUnused;

  bool operator==(const Syndrome&) const = default;
};

constexpr Syndrome ParseSyndrome(uint8_t octet) {
  const uint8_t code = octet & 0x1f;
  switch (octet >> 5) {
    case 0:
      return {AethKind::kAck, code};
    case 1:
      return {AethKind::kRnrNak, code};
    case 3:
      if (code <= static_cast<uint8_t>(NakCode::kInvalidRdRequest)) return {AethKind::kNak, code};
      break;
    default:
      break;
  }
  return {AethKind::kReserved, octet};
}

/// Codes have five bits. Higher bits are dropped.
constexpr uint8_t AckSyndrome(uint8_t credit_code) { return credit_code & 0x1f; }
constexpr uint8_t RnrNakSyndrome(uint8_t timer_code) { return 0x20 | (timer_code & 0x1f); }
constexpr uint8_t NakSyndrome(NakCode code) { return 0x60 | static_cast<uint8_t>(code); }

/// The number of messages that a credit code grants beyond the acknowledged one, or nothing for
/// kCreditsUnused. From 2 on the codes are the powers of two and the numbers half-way between them.
constexpr std::optional<uint32_t> CreditsOf(uint8_t code) {
  if (code >= kCreditsUnused) return std::nullopt;
  if (code < 4) return code;
  const uint32_t power = uint32_t{1} << (code / 2);
  return code % 2 == 0 ? power : power + power / 2;
}

/// How long a requester waits after an RNR NAK with this code, which has five bits.
uint32_t RnrTimerUs(uint8_t code);

/// The code of the shortest time that is not below `us`. If there is none, the code of the longest
/// time.
uint8_t RnrTimerCode(uint32_t us);

}  // namespace softdat::roce

#endif  // SOFTDAT_WIRE_ROCE_AETH_H_
