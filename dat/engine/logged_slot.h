// SPDX-License-Identifier: BSD-3-Clause
// A function of slots.h that reports its failures to the log. Only tables that are made while such
// lines are logged (SOFTDAT_LOG_LEVEL=debug, or DAT_DBG_TYPE 0x10) hold these functions, so that
// other tables pay nothing.
#ifndef SOFTDAT_DAT_ENGINE_LOGGED_SLOT_H_
#define SOFTDAT_DAT_ENGINE_LOGGED_SLOT_H_

#include <string>

#include "dat/base/failed_call.h"
#include "dat/engine/guarded_slot.h"
#include "dat2/udat.h"

namespace softdat::engine {

// Whether failed calls are logged in this process. Starts the log.
bool LogsFailedCalls();

// An empty queue is an answer, and so is a wait that reached its time limit.
inline bool IsFailure(DAT_RETURN result) {
  const auto type = DAT_GET_TYPE(result);
  return result != DAT_SUCCESS && type != DAT_QUEUE_EMPTY && type != DAT_TIMEOUT_EXPIRED;
}

void LogFailedSlot(const char* call, const std::string& arguments, DAT_RETURN result);

template <auto kSlot, const char* kCall>
struct LoggedSlot;

template <typename... Args, DAT_RETURN (*kSlot)(Args...), const char* kCall>
struct LoggedSlot<kSlot, kCall> {
  static DAT_RETURN DAT_API Call(Args... args) {
    DAT_RETURN result = DAT_SUCCESS;
    const auto call = [&]() __attribute__((no_sanitize("enum"))) {
      ReasonsOfCall reasons;
      result = kSlot(args...);
      if (!IsFailure(result)) return true;
      reasons.Keep();
      ArgumentText text;
      (text.Add<Args>(args), ...);
      LogFailedSlot(kCall, text.text(), result);
      return true;
    };
    // If there is no memory for the words, the result of the call counts. Before the call, it is
    // that there is no memory.
    return OrNoMemory(call, false) || result != DAT_SUCCESS ? result : kNoMemory;
  }
};

}  // namespace softdat::engine

#endif  // SOFTDAT_DAT_ENGINE_LOGGED_SLOT_H_
