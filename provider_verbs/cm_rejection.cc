// SPDX-License-Identifier: BSD-3-Clause
#include "provider_verbs/cm_rejection.h"

#include <errno.h>

#include <algorithm>

#include "wire/rdmacm/private_data.h"
#include "wire/rdmacm/reject_reason.h"

namespace softdat::verbs {
namespace {

// InfiniBand CM reject reasons (IBTA vol. 1 §12.6.7.2).
constexpr int kRejectInvalidServiceId = 8;
constexpr int kRejectConsumerDefined = 28;

// Without a trailer the whole field comes. A kernel that rejects for its consumer leaves it empty.
bool IsByConsumer(const rdmacm::FieldView& field) {
  return field.trailer ||
         std::any_of(field.data.begin(), field.data.end(), [](uint8_t b) { return b != 0; });
}

CmRejection::By ByWhom(int status, const rdmacm::FieldView& field, bool iwarp) {
  using By = CmRejection::By;
  if (iwarp) {
    // An MPA reject is reported as a reset. A refused TCP connection means that nobody listens.
    if (status == -ECONNREFUSED) return By::kNobodyListens;
    return status == -ECONNRESET && !field.refusal ? By::kConsumer : By::kOther;
  }
  if (status == kRejectInvalidServiceId) return By::kNobodyListens;
  if (status != kRejectConsumerDefined || field.refusal) return By::kOther;
  return IsByConsumer(field) ? By::kConsumer : By::kOther;
}

}  // namespace

CmRejection ReadRejection(int status, std::span<const uint8_t> private_data, bool iwarp) {
  const rdmacm::FieldView field = rdmacm::ReadField(rdmacm::CmField::kReject, private_data, iwarp);
  CmRejection rejection{.by = ByWhom(status, field, iwarp)};
  if (rejection.by == CmRejection::By::kConsumer) rejection.data = field.data;
  return rejection;
}

CmRejection ReadSidrRejection(int status, std::span<const uint8_t> private_data) {
  using rdmacm::SidrStatus;
  const rdmacm::FieldView field =
      rdmacm::ReadField(rdmacm::CmField::kSidrReject, private_data, /*iwarp=*/false);
  if (status == static_cast<int>(SidrStatus::kUnsupportedServiceId))
    return {.by = CmRejection::By::kNobodyListens};
  if (status != static_cast<int>(SidrStatus::kRejected) || field.refusal || !IsByConsumer(field))
    return {};
  return {.by = CmRejection::By::kConsumer, .data = field.data};
}

}  // namespace softdat::verbs
