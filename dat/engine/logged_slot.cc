// SPDX-License-Identifier: BSD-3-Clause
// Failed calls of the provider table as lines of the log.
#include "dat/engine/logged_slot.h"

#include "dat/base/log.h"

namespace softdat::engine {
namespace {

constexpr uint32_t kLogBits = kLogLevelDebug | kLogAreaProviderApi;

}  // namespace

bool LogsFailedCalls() {
  StartLog();
  return LogEnabled(kLogBits);
}

void LogFailedSlot(const char* call, const std::string& arguments, DAT_RETURN result) {
  if (!LogEnabled(kLogBits)) return;
  const char* type = "";
  const char* subtype = "";
  static_cast<void>(dat_strerror(result, &type, &subtype));
  LogFailedCall(kLogBits, call, arguments, result, type, subtype);
}

}  // namespace softdat::engine
