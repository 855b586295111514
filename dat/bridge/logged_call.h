// SPDX-License-Identifier: BSD-3-Clause
// A call of libdat.so.1 that reports its failure to the log, with the arguments and the return word
// of 1.2. It logs whoever refused the call: the bridge refuses some calls by itself, and passes
// others on with a substitute for an argument that 2.0 cannot express. The lines of libdat2 and the
// provider come first.
#ifndef SOFTDAT_DAT_BRIDGE_LOGGED_CALL_H_
#define SOFTDAT_DAT_BRIDGE_LOGGED_CALL_H_

#include <string>

#include "dat/base/failed_call.h"
#include "dat/base/log.h"
#include "dat/base/no_memory.h"
#include "dat/bridge/dat12.h"

namespace softdat::bridge {

inline constexpr uint32_t kFailedCallBits = kLogLevelDebug | kLogAreaConsumerApi;

// Whether calls must go through Logged(). True until the log has been started, too.
[[gnu::always_inline]] inline bool MayLogCalls() { return LogEnabled(kFailedCallBits); }

void LogFailure(const char* call, const std::string& arguments, dat12::DAT_RETURN word);

// An empty queue is an answer, and so is a wait that reached its time limit.
inline bool IsFailure(dat12::DAT_RETURN word) {
  const uint32_t type = word & dat12::kDAT_TYPE_MASK;
  return word != dat12::DAT_SUCCESS && type != uint32_t{dat12::DAT_QUEUE_EMPTY} &&
         type != uint32_t{dat12::DAT_TIMEOUT_EXPIRED};
}

// The reasons that the bridge gives for its own refusals belong to this call alone.
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
  // Even when there is no memory for the words, the call is made.
  OrNoMemory(log, false);
  return called ? word : function(args...);
}

}  // namespace softdat::bridge

#endif  // SOFTDAT_DAT_BRIDGE_LOGGED_CALL_H_
