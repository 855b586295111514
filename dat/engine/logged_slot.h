// SPDX-License-Identifier: BSD-3-Clause
// A function of slots.h that tells the log of its failures: the call with its arguments, what it
// returned, and the chain of reasons. Only tables that are made while such lines are logged
// (SOFTDAT_LOG_LEVEL=debug, or DAT_DBG_TYPE 0x10) hold these functions, so that others pay nothing.
#ifndef SOFTDAT_DAT_ENGINE_LOGGED_SLOT_H_
#define SOFTDAT_DAT_ENGINE_LOGGED_SLOT_H_

#include <cstdint>
#include <string>
#include <type_traits>

#include "dat/engine/guarded_slot.h"
#include "dat2/udat.h"

namespace softdat::engine {

// Whether failed calls are logged in this process. Starts the log.
bool LogsFailedCalls();

// An empty queue and a wait that ended by its time limit are answers.
inline bool IsFailure(DAT_RETURN result) {
  const auto type = DAT_GET_TYPE(result);
  return result != DAT_SUCCESS && type != DAT_QUEUE_EMPTY && type != DAT_TIMEOUT_EXPIRED;
}

// The arguments of one call as text: numbers, addresses, names, and the segments of a post, which
// are read with care, since the call may have failed because they are nowhere.
class ArgumentText {
 public:
  template <typename T>
  void Add(const T& value) {
    if constexpr (std::is_same_v<T, char*>) {
      AddName(value);
    } else if constexpr (std::is_same_v<T, DAT_LMR_TRIPLET*> ||
                         std::is_same_v<T, const DAT_LMR_TRIPLET*>) {
      AddSegments(value, count_);
    } else if constexpr (std::is_same_v<T, const DAT_RMR_TRIPLET*>) {
      AddRemote(value);
    } else if constexpr (std::is_pointer_v<T>) {
      AddAddress(reinterpret_cast<uintptr_t>(value));
    } else if constexpr (std::is_enum_v<T>) {
      AddHex(static_cast<std::underlying_type_t<T>>(value));
    } else if constexpr (std::is_signed_v<T>) {
      AddNumber(value);
    } else if constexpr (std::is_integral_v<T>) {
      AddHex(value);
    } else if constexpr (std::is_same_v<T, DAT_CONTEXT>) {
      AddHex(value.as_64);
    } else if constexpr (std::is_same_v<T, DAT_REGION_DESCRIPTION>) {
      AddAddress(reinterpret_cast<uintptr_t>(value.for_va));
    } else {
      static_assert(std::is_same_v<T, DAT_OS_WAIT_PROXY_AGENT>);
      AddAddress(reinterpret_cast<uintptr_t>(value.proxy_agent_func));
    }
    // The number in front of a list of segments is theirs; else there is one.
    count_ = 1;
    if constexpr (std::is_same_v<T, DAT_COUNT>) count_ = value;
  }
  const std::string& text() const { return text_; }

 private:
  void AddName(const char* name);
  void AddSegments(const DAT_LMR_TRIPLET* segments, DAT_COUNT count);
  void AddRemote(const DAT_RMR_TRIPLET* remote);
  void AddAddress(uintptr_t address);
  void AddHex(uint64_t value);
  void AddNumber(int64_t value);
  std::string* Next();  // where the next argument is appended

  std::string text_;
  DAT_COUNT count_ = 1;
};

// The reasons of this call alone: those of an earlier failure are put back if it has none.
class ReasonsOfCall {
 public:
  ReasonsOfCall();
  ~ReasonsOfCall();
  ReasonsOfCall(const ReasonsOfCall&) = delete;
  ReasonsOfCall& operator=(const ReasonsOfCall&) = delete;
  void Keep() { keep_ = true; }  // the call has failed: earlier reasons are over

 private:
  const std::string before_;
  bool keep_ = false;
};

void LogFailedCall(const char* call, const std::string& arguments, DAT_RETURN result);

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
      LogFailedCall(kCall, text.text(), result);
      return true;
    };
    // Without memory for the words the result counts, or, before the call, that there is none.
    return OrNoMemory(call, false) || result != DAT_SUCCESS ? result : kNoMemory;
  }
};

}  // namespace softdat::engine

#endif  // SOFTDAT_DAT_ENGINE_LOGGED_SLOT_H_
