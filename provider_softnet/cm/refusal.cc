// SPDX-License-Identifier: BSD-3-Clause
// MeaningOf.
#include "provider_softnet/cm/refusal.h"

#include <algorithm>
#include <string>

#include "dat/base/socket_address.h"
#include "wire/rdmacm/private_data.h"

namespace softdat::softnet {

using rdmacm::CmField;
using rdmacm::FieldView;
using transport::RejectReason;

namespace {

// A reject by a consumer has its private data, or is by one of ours, who say so otherwise: a peer
// that knows only rdma_cm uses the same reason for refusals of its own, and leaves the field empty.
bool IsByConsumer(const rdmacm::CmRej& rej, const FieldView& field) {
  if (rej.reason != rdmacm::RejectReason::kConsumer || field.refusal) return false;
  return field.trailer ||
         std::any_of(field.data.begin(), field.data.end(), [](uint8_t b) { return b != 0; });
}

}  // namespace

CmFailed MeaningOf(const rdmacm::CmRej& rej, const sockaddr_storage& peer) {
  const FieldView field = rdmacm::ReadField(CmField::kReject, rej.private_data, /*iwarp=*/false);
  const std::string host = HostText(peer);
  CmFailed failed;
  failed.by_softdat = field.trailer;
  if (IsByConsumer(rej, field)) {
    failed.reason = RejectReason::kPeer;
    failed.why = "the consumer at " + host + " rejected the connection";
    failed.private_data.assign(field.data.begin(), field.data.end());
  } else if (rej.reason == rdmacm::RejectReason::kInvalidServiceId) {
    failed.why = "nobody listens there at " + host;
  } else if (rej.reason == rdmacm::RejectReason::kTimeout) {
    failed.reason = RejectReason::kUnreachable;
    failed.why = host + " gave up, because it did not hear our answer";
  } else {
    failed.why = host + " refused the connection: " + rdmacm::RejectReasonText(rej.reason) + " (" +
                 std::to_string(static_cast<uint16_t>(rej.reason)) + ")";
  }
  return failed;
}

}  // namespace softdat::softnet
