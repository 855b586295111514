// SPDX-License-Identifier: BSD-3-Clause
// The loopback address is this host's, and an address that nobody has is not.
#include "dat/backend_kit/own_address.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

#include <cstring>

namespace softdat {
namespace {

sockaddr_storage Address(const char* text) {
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  EXPECT_EQ(inet_pton(AF_INET, text, &v4.sin_addr), 1);
  sockaddr_storage storage{};
  std::memcpy(&storage, &v4, sizeof(v4));
  return storage;
}

TEST(OwnAddressTest, ThatOfTheLoopbackInterface) {
  EXPECT_TRUE(IsOwnAddress(Address("127.0.0.1")));
}

// TEST-NET-3 of RFC 5737 is assigned to nobody.
TEST(OwnAddressTest, NobodysAddressIsNotOurs) {
  EXPECT_FALSE(IsOwnAddress(Address("203.0.113.1")));
  EXPECT_FALSE(IsOwnAddress({}));
}

}  // namespace
}  // namespace softdat
