// SPDX-License-Identifier: BSD-3-Clause
#include "dat/client/result.h"

#include <gmock/gmock.h>

#include "dat/client/client_test.h"
#include "dat/client/events.h"

namespace softdat::client {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(ResultTest, SuccessAndWarningsAreGood) {
  EXPECT_TRUE(Result().ok());
  EXPECT_TRUE(Result("dat_call", DAT_CLASS_WARNING).ok());
  EXPECT_FALSE(Result("dat_call", DAT_CLASS_ERROR | DAT_QUEUE_EMPTY).ok());
}

TEST(ResultTest, IsTheWordOfTheCall) {
  const Result result("dat_call", DAT_CLASS_ERROR | DAT_QUEUE_EMPTY);
  const DAT_RETURN word = result;
  EXPECT_EQ(word, DAT_RETURN{DAT_CLASS_ERROR} | DAT_QUEUE_EMPTY);
  EXPECT_EQ(result.type(), DAT_RETURN{DAT_QUEUE_EMPTY});
  EXPECT_STREQ(result.call(), "dat_call");
}

TEST(ResultTest, NamesTheReturnWord) {
  EXPECT_EQ(DescribeReturn(DAT_CLASS_ERROR | DAT_INVALID_STATE | DAT_INVALID_STATE_EP_CONNECTED),
            "DAT_INVALID_STATE DAT_INVALID_STATE_EP_CONNECTED (0x80070033)");
  EXPECT_EQ(DescribeReturn(DAT_CLASS_ERROR | DAT_QUEUE_EMPTY), "DAT_QUEUE_EMPTY (0x800d0000)");
}

TEST(ResultTest, TellsWhyACallFailed) {
  Ia ia;
  const Result result = ia.Open("no-such-ia");
  EXPECT_FALSE(result.ok());
  const auto reasons = ReasonChain();
  ASSERT_FALSE(reasons.empty());
  EXPECT_THAT(result.Describe(), StartsWith("dat_ia_open: DAT_PROVIDER_NOT_FOUND"));
  EXPECT_THAT(result.Describe(), HasSubstr("\n  because: " + reasons.front()));
  EXPECT_THAT(result.Describe("\"no-such-ia\""), StartsWith("dat_ia_open(\"no-such-ia\"): "));
}

TEST(ResultTest, KnowsTheVersionOfTheLibrary) { EXPECT_NE(LibraryVersion(), "unknown"); }

TEST_F(ClientTest, AWaitEndsWithItsLimit) {
  Evd evd;
  ASSERT_OK(evd.Create(ia_, DAT_EVD_SOFTWARE_FLAG, 1));
  DAT_EVENT event{};
  EXPECT_EQ(WaitEvent(evd, 1, &event).type(), DAT_RETURN{DAT_TIMEOUT_EXPIRED});
}

}  // namespace
}  // namespace softdat::client
