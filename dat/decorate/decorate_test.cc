// SPDX-License-Identifier: BSD-3-Clause
// What wraps a back end, with SOFTDAT_PROFILE and without it (the test's rules run both).
#include "dat/decorate/decorate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "dat/engine/testing/fake_backend.h"

namespace softdat {
namespace {

using engine::testing::FakeBackend;

std::string VendorOf(transport::Backend& backend) {
  return backend.Open("fake-0", nullptr).Take()->attributes().vendor;
}

TEST(Decorate, TheProfileOfTheSettingsIsOn) {
  auto plain = std::make_unique<FakeBackend>();
  const transport::Backend* const address = plain.get();
  const std::string vendor = VendorOf(*plain);
  const auto decorated = Decorated(std::move(plain));
  if (std::getenv("SOFTDAT_PROFILE") == nullptr) {
    // Without a profile no wrapper stands in the way of a call.
    EXPECT_EQ(decorated.get(), address);
    EXPECT_EQ(VendorOf(*decorated), vendor);
    return;
  }
  EXPECT_EQ(decorated->Devices().size(), 1u);
  EXPECT_EQ(VendorOf(*decorated), vendor + ", as soft-iWARP (siw)");
}

}  // namespace
}  // namespace softdat
