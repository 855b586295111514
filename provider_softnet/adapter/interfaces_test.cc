// SPDX-License-Identifier: BSD-3-Clause
// Which address an adapter has.
#include "provider_softnet/adapter/interfaces.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "dat/base/socket_address.h"

namespace softdat::softnet {
namespace {

// Without the zone of a link-local one.
std::string TextOf(const sockaddr_storage& address) {
  const std::string text = HostText(address);
  return text.substr(0, text.find('%'));
}

TEST(Interfaces, EachAddressOfAnInterfaceCanBeAskedFor) {
  size_t found = 0;
  for (const Interface& i : ListInterfaces()) {
    if (!UnavailableReason(i).empty()) continue;
    for (const sockaddr_storage& address : i.addresses) {
      Result<Interface> chosen = FindInterface(i.name + "/" + TextOf(address));
      ASSERT_TRUE(chosen.ok()) << chosen.status().reason();
      EXPECT_EQ(chosen.value().name, i.name);
      EXPECT_EQ(chosen.value().index, i.index);
      EXPECT_EQ(HostText(chosen.value().address), HostText(address));
      EXPECT_TRUE(chosen.value().chosen);
      ++found;
    }
  }
  EXPECT_GT(found, 0u);
}

TEST(Interfaces, WithoutAQuestionItIsTheBestOfThem) {
  Result<Interface> lo = FindInterface("lo");
  ASSERT_TRUE(lo.ok()) << lo.status().reason();
  EXPECT_FALSE(lo.value().chosen);
  const auto is_ipv4 = [](const sockaddr_storage& a) { return a.ss_family == AF_INET; };
  EXPECT_EQ(is_ipv4(lo.value().address), std::ranges::any_of(lo.value().addresses, is_ipv4));
}

// That nothing can be asked does not mean that there is no such interface.
TEST(Interfaces, WithoutADescriptor) {
  const auto code_of_lo = [](rlim_t most) {
    const struct rlimit none { 0, most };
    if (setrlimit(RLIMIT_NOFILE, &none) != 0) return -1;
    const Result<Interface> lo = FindInterface("lo");
    return static_cast<int>(lo.ok() ? Code::kOk : lo.status().code());
  };
  EXPECT_EXIT(std::_Exit(code_of_lo(0)),
              testing::ExitedWithCode(static_cast<int>(Code::kNoResources)), "");
  // A soft limit is raised.
  EXPECT_EXIT(std::_Exit(code_of_lo(1024)), testing::ExitedWithCode(static_cast<int>(Code::kOk)),
              "");
}

TEST(Interfaces, WhatCannotBeAskedFor) {
  const auto code = [](const std::string& device) {
    Result<Interface> i = FindInterface(device);
    return i.ok() ? Code::kOk : i.status().code();
  };
  EXPECT_EQ(code("lo/192.0.2.1"), Code::kUnreachable);
  EXPECT_EQ(code("lo/2001:db8::1"), Code::kUnreachable);
  EXPECT_EQ(code("lo/::"), Code::kUnreachable);
  EXPECT_EQ(code("lo/"), Code::kAddressUnsupported);
  EXPECT_EQ(code("lo/lo"), Code::kAddressUnsupported);
  EXPECT_EQ(code("lo/127.0.0.1/8"), Code::kAddressUnsupported);
  EXPECT_EQ(code("lo/::1%lo"), Code::kAddressUnsupported);
  EXPECT_EQ(code("/127.0.0.1"), Code::kNotFound);
}

}  // namespace
}  // namespace softdat::softnet
