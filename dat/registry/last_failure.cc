// SPDX-License-Identifier: BSD-3-Clause
// Reasons of libdat2 and of providers.
#include "dat/registry/last_failure.h"

#include <time.h>

#include "dat/base/log.h"
#include "dat/base/reason.h"
#include "dat/registry/dat_return.h"
#include "dat/registry/registry.h"

namespace softdat::registry {

constinit thread_local const DAT_PROVIDER* t_failed_provider SOFTDAT_EARLY_TLS = nullptr;

namespace {

// When the call failed that set t_failed_provider, in nanoseconds of CLOCK_MONOTONIC.
constinit thread_local uint64_t t_failed_time SOFTDAT_EARLY_TLS = 0;

}  // namespace

DAT_RETURN NoteFailure(const DAT_PROVIDER* table, DAT_RETURN result) {
  const DAT_UINT32 type = DAT_GET_TYPE(result);
  if (type == DAT_QUEUE_EMPTY || type == DAT_TIMEOUT_EXPIRED) return result;
  t_failed_provider = table;
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  t_failed_time =
      static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
  return result;
}

DAT_RETURN Refuse(DAT_RETURN_TYPE type, DAT_RETURN_SUBTYPE subtype, std::string reason) {
  t_failed_provider = nullptr;
  SOFTDAT_LOG_AREA(Info, ConsumerApi, "{}", reason);
  SetReason(std::move(reason));
  return DatError(type, subtype);
}

DAT_RETURN RefuseWithChain(DAT_RETURN_TYPE type, DAT_RETURN_SUBTYPE subtype) {
  t_failed_provider = nullptr;
  return DatError(type, subtype);
}

std::string ProviderReason(const ProviderExports& exports) {
  if (exports.reason == nullptr) return "";
  std::string text(exports.reason(nullptr, 0), '\0');
  if (text.empty()) return text;
  const size_t length = exports.reason(text.data(), text.size() + 1);
  if (length < text.size()) text.resize(length);
  return text;
}

std::string LastFailure() {
  const DAT_PROVIDER* table = t_failed_provider;
  // A provider of ours may have failed since on the data path, where no failure is noted.
  Entry* const later =
      TheRegistry().AcquireByReason(table != nullptr ? t_failed_time : LastReasonTime());
  if (later != nullptr) {
    std::string text = ProviderReason(later->exports);
    TheRegistry().Release(later);
    return text;
  }
  if (table == nullptr) return LastReasons();
  // The provider may be gone by now. If it is not, a reference keeps it loaded while it is asked.
  Entry* entry = TheRegistry().AcquireByTable(table);
  if (entry == nullptr) return "the provider that failed is no longer loaded";
  std::string text = ProviderReason(entry->exports);
  TheRegistry().Release(entry);
  return text.empty() ? "the provider gives no reasons" : text;
}

}  // namespace softdat::registry
