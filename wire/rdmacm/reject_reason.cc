// SPDX-License-Identifier: BSD-3-Clause
// Texts of reject reasons.

#include "wire/rdmacm/reject_reason.h"

namespace softdat::rdmacm {

const char* RejectReasonText(RejectReason reason) {
  switch (reason) {
    case RejectReason::kNoQp:
      return "no QP";
    case RejectReason::kNoEec:
      return "no EEC";
    case RejectReason::kNoResources:
      return "no resources";
    case RejectReason::kTimeout:
      return "timeout";
    case RejectReason::kUnsupportedRequest:
      return "unsupported request";
    case RejectReason::kInvalidCommId:
      return "invalid communication ID";
    case RejectReason::kInvalidCommInstance:
      return "invalid communication instance";
    case RejectReason::kInvalidServiceId:
      return "invalid service ID";
    case RejectReason::kInvalidTransportType:
      return "invalid transport service type";
    case RejectReason::kStaleConnection:
      return "stale connection";
    case RejectReason::kRdcNotExistent:
      return "RDC does not exist";
    case RejectReason::kInvalidGid:
      return "primary remote GID rejected";
    case RejectReason::kInvalidLid:
      return "primary remote LID rejected";
    case RejectReason::kInvalidSl:
      return "invalid primary SL";
    case RejectReason::kInvalidTrafficClass:
      return "invalid primary traffic class";
    case RejectReason::kInvalidHopLimit:
      return "invalid primary hop limit";
    case RejectReason::kInvalidPacketRate:
      return "invalid primary packet rate";
    case RejectReason::kInvalidAlternateGid:
      return "alternate remote GID rejected";
    case RejectReason::kInvalidAlternateLid:
      return "alternate remote LID rejected";
    case RejectReason::kInvalidAlternateSl:
      return "invalid alternate SL";
    case RejectReason::kInvalidAlternateTrafficClass:
      return "invalid alternate traffic class";
    case RejectReason::kInvalidAlternateHopLimit:
      return "invalid alternate hop limit";
    case RejectReason::kInvalidAlternatePacketRate:
      return "invalid alternate packet rate";
    case RejectReason::kCmRedirect:
      return "CM redirection";
    case RejectReason::kPortRedirect:
      return "port redirection";
    case RejectReason::kInvalidMtu:
      return "invalid path MTU";
    case RejectReason::kInsufficientResponderResources:
      return "insufficient responder resources";
    case RejectReason::kConsumer:
      return "consumer reject";
    case RejectReason::kRnrRetryCount:
      return "RNR retry count rejected";
    case RejectReason::kDuplicateCommId:
      return "duplicate local communication ID";
    case RejectReason::kUnsupportedClassVersion:
      return "unsupported class version";
    case RejectReason::kInvalidFlowLabel:
      return "invalid primary flow label";
    case RejectReason::kInvalidAlternateFlowLabel:
      return "invalid alternate flow label";
  }
  return "unknown";
}

const char* SidrStatusText(SidrStatus status) {
  switch (status) {
    case SidrStatus::kOk:
      return "ok";
    case SidrStatus::kUnsupportedServiceId:
      return "service ID not supported";
    case SidrStatus::kRejected:
      return "rejected";
    case SidrStatus::kNoQp:
      return "no QP";
    case SidrStatus::kRedirect:
      return "redirection";
    case SidrStatus::kUnsupportedVersion:
      return "version not supported";
  }
  return "unknown";
}

}  // namespace softdat::rdmacm
