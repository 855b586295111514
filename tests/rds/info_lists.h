// SPDX-License-Identifier: BSD-3-Clause
// What getsockopt tells of all sockets of the host, for tests.
#ifndef SOFTDAT_TESTS_RDS_INFO_LISTS_H_
#define SOFTDAT_TESTS_RDS_INFO_LISTS_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "tests/rds/af_rds.h"
#include "tests/rds/network.h"

namespace softdat::rds_test {

// The lists are about all processes of a network, so these tests want one of their own. The
// kernel's RDS is in the first one only.
struct InfoTest : testing::Test {
  static void SetUpTestSuite() {
    if (std::getenv("SOFTDAT_TEST_RDS") == nullptr && !EnterNetwork()) {
      std::puts("no network of its own: other tests that use RDS may disturb this one");
    }
  }
};

template <typename Item>
std::vector<Item> ItemsOf(int socket, int option) {
  socklen_t length = 0;
  int each = getsockopt(socket, SOL_RDS, option, nullptr, &length);
  EXPECT_TRUE(each > 0 || errno == ENOSPC);
  std::vector<Item> items(length / sizeof(Item) + 8);  // others may come meanwhile
  length = static_cast<socklen_t>(items.size() * sizeof(Item));
  each = getsockopt(socket, SOL_RDS, option, items.data(), &length);
  EXPECT_EQ(each, static_cast<int>(sizeof(Item))) << option;
  EXPECT_EQ(length % sizeof(Item), 0u);
  items.resize(each < 0 ? 0 : length / sizeof(Item));
  return items;
}

// Whether a socket is bound to the port. No list has it twice.
inline bool Lists(int socket, uint16_t port) {
  const auto items = ItemsOf<rds_info_socket>(socket, RDS_INFO_SOCKETS);
  const auto of = [port](const rds_info_socket& item) { return ntohs(item.bound_port) == port; };
  EXPECT_LE(std::ranges::count_if(items, of), 1);
  return std::ranges::any_of(items, of);
}

}  // namespace softdat::rds_test

#endif  // SOFTDAT_TESTS_RDS_INFO_LISTS_H_
