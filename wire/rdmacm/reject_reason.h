// SPDX-License-Identifier: BSD-3-Clause
// The reasons for which a communication manager refuses: IBTA vol. 1 §12.6.7.2 (REJ) and §12.11.2
// (SIDR_REP).

#ifndef SOFTDAT_WIRE_RDMACM_REJECT_REASON_H_
#define SOFTDAT_WIRE_RDMACM_REJECT_REASON_H_

#include <cstdint>

namespace softdat::rdmacm {

enum class RejectReason : uint16_t {
  kNoQp = 1,
  kNoEec = 2,
  kNoResources = 3,
  kTimeout = 4,
  kUnsupportedRequest = 5,
  kInvalidCommId = 6,
  kInvalidCommInstance = 7,
  kInvalidServiceId = 8,  ///< Nobody listens.
  kInvalidTransportType = 9,
  kStaleConnection = 10,
  kRdcNotExistent = 11,
  kInvalidGid = 12,
  kInvalidLid = 13,
  kInvalidSl = 14,
  kInvalidTrafficClass = 15,
  kInvalidHopLimit = 16,
  kInvalidPacketRate = 17,
  kInvalidAlternateGid = 18,
  kInvalidAlternateLid = 19,
  kInvalidAlternateSl = 20,
  kInvalidAlternateTrafficClass = 21,
  kInvalidAlternateHopLimit = 22,
  kInvalidAlternatePacketRate = 23,
  kCmRedirect = 24,
  kPortRedirect = 25,
  kInvalidMtu = 26,
  kInsufficientResponderResources = 27,
  kConsumer = 28,
  kRnrRetryCount = 29,
  kDuplicateCommId = 30,
  kUnsupportedClassVersion = 31,
  kInvalidFlowLabel = 32,
  kInvalidAlternateFlowLabel = 33,
};

enum class SidrStatus : uint8_t {
  kOk = 0,
  kUnsupportedServiceId = 1,  ///< Nobody listens.
  kRejected = 2,              ///< By the consumer.
  kNoQp = 3,
  kRedirect = 4,
  kUnsupportedVersion = 5,
};

/// Fixed texts for logs. "unknown" for values outside the lists.
const char* RejectReasonText(RejectReason reason);
const char* SidrStatusText(SidrStatus status);

}  // namespace softdat::rdmacm

#endif  // SOFTDAT_WIRE_RDMACM_REJECT_REASON_H_
