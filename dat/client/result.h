// SPDX-License-Identifier: BSD-3-Clause
// The result of a DAT call: the value that it returned, the name of the call, and both as text with
// the reasons for a failure.
#ifndef SOFTDAT_DAT_CLIENT_RESULT_H_
#define SOFTDAT_DAT_CLIENT_RESULT_H_

#include <string>
#include <string_view>
#include <vector>

#include "dat2/udat.h"

namespace softdat::client {

// Two words, made without an allocation and returned in registers, so it suits the data path. It
// converts to the DAT_RETURN.
class [[nodiscard]] Result {
 public:
  // Success.
  constexpr Result() = default;
  // `call`: the name of the DAT call, a literal.
  constexpr Result(const char* call, DAT_RETURN value) : call_(call), value_(value) {}

  constexpr operator DAT_RETURN() const { return value_; }
  constexpr const char* call() const { return call_; }
  // Success or a warning. In both cases the call did its work. (semantics 1)
  constexpr bool ok() const { return value_ == DAT_SUCCESS || DAT_IS_WARNING(value_) != 0; }
  // DAT_QUEUE_EMPTY, DAT_TIMEOUT_EXPIRED, ...
  constexpr DAT_RETURN type() const { return DAT_GET_TYPE(value_); }

  // Same as DescribeFailure(), for the call itself or, with `detail`, for "CALL(DETAIL)". Must be
  // called on the thread that made the call, before another call of that thread fails.
  std::string Describe(std::string_view detail = {}) const;

 private:
  const char* call_ = "";
  DAT_RETURN value_ = DAT_SUCCESS;
};

// For example "DAT_INVALID_STATE DAT_INVALID_STATE_EP_CONNECTED (0x80070033)".
std::string DescribeReturn(DAT_RETURN value);

// Why the last DAT call of this thread failed, with the outermost reason first. Empty when libdat2
// cannot tell: other implementations have no softdat_last_reason().
std::vector<std::string> ReasonChain();

// "CALL: RETURN", followed by one indented line for each reason of this thread's last failure.
std::string DescribeFailure(std::string_view call, DAT_RETURN value);

// For example "0.1.0". "unknown" when the loaded libdat2 has no softdat_version().
std::string LibraryVersion();

}  // namespace softdat::client

#endif  // SOFTDAT_DAT_CLIENT_RESULT_H_
