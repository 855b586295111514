// SPDX-License-Identifier: BSD-3-Clause
// Tests of addresses and connection qualifiers. The hosts are numeric, so that no resolver is
// asked.
#include "tools/common/address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

namespace softdat::tools {
namespace {

using testing::HasSubstr;

TEST(ResolveHost, NumericAddressesOfBothFamilies) {
  sockaddr_storage address{};
  ASSERT_TRUE(ResolveHost("127.0.0.1", AF_UNSPEC, &address).ok());
  EXPECT_EQ(address.ss_family, AF_INET);
  EXPECT_EQ(FormatAddress(reinterpret_cast<sockaddr*>(&address)), "127.0.0.1");
  ASSERT_TRUE(ResolveHost("::1", AF_INET6, &address).ok());
  EXPECT_EQ(address.ss_family, AF_INET6);
  EXPECT_EQ(FormatAddress(reinterpret_cast<sockaddr*>(&address)), "::1");
}

TEST(ResolveHost, WrongFamilyIsAFailureThatNamesTheHost) {
  sockaddr_storage address{};
  const Outcome outcome = ResolveHost("127.0.0.1", AF_INET6, &address);
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.exit_code(), kExitFailed);
  EXPECT_THAT(outcome.message(), HasSubstr("IPv6 address for host '127.0.0.1'"));
}

TEST(FormatAddress, OtherFamiliesHaveNone) {
  sockaddr address{};
  address.sa_family = AF_UNIX;
  EXPECT_EQ(FormatAddress(&address), "no address");
  EXPECT_EQ(FormatAddress(nullptr), "no address");
}

TEST(ParseConnQual, All64BitsDecimalAndHexadecimal) {
  uint64_t conn_qual = 0;
  EXPECT_TRUE(ParseConnQual("18515", &conn_qual));
  EXPECT_EQ(conn_qual, 18515u);
  EXPECT_TRUE(ParseConnQual("18446744073709551615", &conn_qual));
  EXPECT_EQ(conn_qual, UINT64_MAX);
  EXPECT_TRUE(ParseConnQual("0xffffffffffffffff", &conn_qual));
  EXPECT_EQ(conn_qual, UINT64_MAX);
}

TEST(ParseConnQual, RefusesAnythingElse) {
  uint64_t conn_qual = 0;
  for (const char* text :
       {"", "0x", "-1", "+1", " 1", "1 ", "1x", "0xg", "18446744073709551616", "1.5"})
    EXPECT_FALSE(ParseConnQual(text, &conn_qual)) << text;
}

}  // namespace
}  // namespace softdat::tools
