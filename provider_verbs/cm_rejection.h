// SPDX-License-Identifier: BSD-3-Clause
// Finds out who rejected a connection, from what rdma_cm reports.
#ifndef SOFTDAT_PROVIDER_VERBS_CM_REJECTION_H_
#define SOFTDAT_PROVIDER_VERBS_CM_REJECTION_H_

#include <cstdint>
#include <span>

namespace softdat::verbs {

struct CmRejection {
  enum class By : uint8_t { kNobodyListens, kConsumer, kOther } by = By::kOther;
  std::span<const uint8_t> data{};  // the consumer's private data
};

// `status` and `private_data` are those of RDMA_CM_EVENT_REJECTED on the active side.
CmRejection ReadRejection(int status, std::span<const uint8_t> private_data, bool iwarp);

// The same of a request for datagrams. `status` is that of the SIDR_REP.
CmRejection ReadSidrRejection(int status, std::span<const uint8_t> private_data);

}  // namespace softdat::verbs

#endif  // SOFTDAT_PROVIDER_VERBS_CM_REJECTION_H_
