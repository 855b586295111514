// SPDX-License-Identifier: BSD-3-Clause
// A call of libdat.so.1 that tells the log of its failure, with the arguments and the word of 1.2:
// whoever refused it, since the bridge refuses some calls by itself, and hands others on with
// something else in place of what cannot be. What libdat2 and the provider say stands in front.
#ifndef SOFTDAT_DAT_BRIDGE_LOGGED_CALL_H_
#define SOFTDAT_DAT_BRIDGE_LOGGED_CALL_H_

#include <string>

#include "dat/base/failed_call.h"
#include "dat/base/log.h"
#include "dat/base/no_memory.h"
#include "dat/bridge/dat12.h"

namespace softdat::bridge {

inline constexpr uint32_t kFailedCallBits = kLogLevelDebug | kLogAreaConsumerApi;

// Whether Logged() is the way; so until the log has been started.
[[gnu::always_inline]] inline bool MayLogCalls() { return LogEnabled(kFailedCallBits); }

void LogFailure(const char* call, const std::string& arguments, dat12::DAT_RETURN word);

// An empty queue and a wait that ended by its time limit are answers.
inline bool IsFailure(dat12::DAT_RETURN word) {
  const uint32_t type = word & dat12::kDAT_TYPE_MASK;
  return word != dat12::DAT_SUCCESS && type != uint32_t{dat12::DAT_QUEUE_EMPTY} &&
         type != uint32_t{dat12::DAT_TIMEOUT_EXPIRED};
}

// The reasons that the bridge gives for its own refusals are this call's alone.
template <typename Function, typename... Args>
[[gnu::cold, gnu::noinline]] dat12::DAT_RETURN Logged(const char* call, const Function& function,
                                                      Args... args) {
  dat12::DAT_RETURN word = dat12::DAT_SUCCESS;
  bool called = false;
  const auto log = [&] {
    StartLog();
    ReasonsOfCall reasons;
    called = true;
    word = function(args...);
    if (!IsFailure(word)) return true;
    reasons.Keep();
    if (!MayLogCalls()) return true;
    ArgumentText text;
    (text.Add<Args>(args), ...);
    LogFailure(call, text.text(), word);
    return true;
  };
  // Without memory for the words the call is made all the same.
  OrNoMemory(log, false);
  return called ? word : function(args...);
}

}  // namespace softdat::bridge

#endif  // SOFTDAT_DAT_BRIDGE_LOGGED_CALL_H_
