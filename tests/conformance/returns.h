// SPDX-License-Identifier: BSD-3-Clause
// Return values in expectations, printed with their names.
#ifndef SOFTDAT_TESTS_CONFORMANCE_RETURNS_H_
#define SOFTDAT_TESTS_CONFORMANCE_RETURNS_H_

#include <gtest/gtest.h>

#include <string>

#include "tests/conformance/dat.h"

namespace softdat::conformance {

// "DAT_INVALID_STATE DAT_INVALID_STATE_EP_CONNECTED (0x8004...)".
std::string Name(DAT_RETURN ret);

// The whole word of an error: class, type and subtype.
constexpr DAT_RETURN Error(DAT_RETURN_TYPE type, DAT_RETURN_SUBTYPE subtype = DAT_NO_SUBTYPE) {
  return static_cast<DAT_RETURN>(DAT_CLASS_ERROR | static_cast<DAT_UINT32>(type) |
                                 static_cast<DAT_UINT32>(subtype));
}
constexpr DAT_RETURN BadHandle(DAT_RETURN_SUBTYPE subtype) {
  return Error(DAT_INVALID_HANDLE, subtype);
}
// INVALID_PARAMETER with the subtype ARG1..ARG10.
constexpr DAT_RETURN BadArgument(int n) {
  return Error(DAT_INVALID_PARAMETER,
               static_cast<DAT_RETURN_SUBTYPE>(static_cast<int>(DAT_INVALID_ARG1) + n - 1));
}
constexpr DAT_RETURN BadState(DAT_RETURN_SUBTYPE subtype) {
  return Error(DAT_INVALID_STATE, subtype);
}

testing::AssertionResult Is(const char* call, const char*, DAT_RETURN ret, DAT_RETURN expected);
testing::AssertionResult IsType(const char* call, const char*, DAT_RETURN ret,
                                DAT_RETURN_TYPE expected);

}  // namespace softdat::conformance

// `call` returns exactly `expected`.
#define EXPECT_RETURN(call, expected) \
  EXPECT_PRED_FORMAT2(::softdat::conformance::Is, call, expected)
#define EXPECT_OK(call) EXPECT_RETURN(call, static_cast<DAT_RETURN>(DAT_SUCCESS))
#define ASSERT_OK(call) \
  ASSERT_PRED_FORMAT2(::softdat::conformance::Is, call, static_cast<DAT_RETURN>(DAT_SUCCESS))
// An error of this type, whatever its subtype.
#define EXPECT_TYPE(call, expected) \
  EXPECT_PRED_FORMAT2(::softdat::conformance::IsType, call, expected)

#endif  // SOFTDAT_TESTS_CONFORMANCE_RETURNS_H_
