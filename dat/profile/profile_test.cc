// SPDX-License-Identifier: BSD-3-Clause
// The profiles as data: what they leave of an adapter's attributes.
#include "dat/profile/profile.h"

#include <gtest/gtest.h>

namespace softdat {
namespace {

using transport::AdapterAttributes;

constexpr DeviceProfile kAll[] = {DeviceProfile::kRxe, DeviceProfile::kSiw, DeviceProfile::kIb};

constexpr uint32_t AdapterAttributes::*kCounts[] = {
    &AdapterAttributes::max_qp_work,     &AdapterAttributes::max_iov,
    &AdapterAttributes::max_read_in,     &AdapterAttributes::max_read_out,
    &AdapterAttributes::max_cq_depth,    &AdapterAttributes::max_srq_depth,
    &AdapterAttributes::max_private_data};

constexpr bool AdapterAttributes::*kCapabilities[] = {&AdapterAttributes::windows,
                                                      &AdapterAttributes::zone_windows,
                                                      &AdapterAttributes::zero_based,
                                                      &AdapterAttributes::zero_based_pages,
                                                      &AdapterAttributes::immediate,
                                                      &AdapterAttributes::immediate_as_message,
                                                      &AdapterAttributes::atomics,
                                                      &AdapterAttributes::confirms_writes,
                                                      &AdapterAttributes::confirmed_completions,
                                                      &AdapterAttributes::invalidate,
                                                      &AdapterAttributes::receive_watermarks};

AdapterAttributes Everything(uint32_t count) {
  AdapterAttributes a;
  for (auto member : kCounts) a.*member = count;
  a.max_windows = count;
  a.max_message = count;
  for (auto member : kCapabilities) a.*member = true;
  return a;
}

TEST(Profile, NoneIsNoProfile) { EXPECT_EQ(FindProfile(DeviceProfile::kNone), nullptr); }

TEST(Profile, WhatTheDeviceHasLessOfIsLowered) {
  for (DeviceProfile which : kAll) {
    const Profile& p = *FindProfile(which);
    const AdapterAttributes a = Limited(p, Everything(UINT32_MAX));
    EXPECT_EQ(a.max_qp_work, p.max_qp_work) << p.device;
    EXPECT_EQ(a.max_iov, p.max_iov) << p.device;
    EXPECT_EQ(a.max_read_in, p.max_read_in) << p.device;
    EXPECT_EQ(a.max_read_out, p.max_read_out) << p.device;
    EXPECT_EQ(a.max_cq_depth, p.max_cq_depth) << p.device;
    EXPECT_EQ(a.max_srq_depth, p.max_srq_depth) << p.device;
    EXPECT_EQ(a.max_private_data, p.max_private_data) << p.device;
    EXPECT_EQ(a.max_message, p.max_message) << p.device;
  }
}

TEST(Profile, NothingIsAdded) {
  for (DeviceProfile which : kAll) {
    const Profile& p = *FindProfile(which);
    const AdapterAttributes few = Limited(p, Everything(1));
    for (auto member : kCounts) EXPECT_EQ(few.*member, 1u) << p.device;
    EXPECT_EQ(few.max_message, 1u) << p.device;
    AdapterAttributes nothing;
    for (auto member : kCapabilities) nothing.*member = false;
    nothing = Limited(p, nothing);
    for (auto member : kCapabilities) EXPECT_FALSE(nothing.*member) << p.device;
  }
}

TEST(Profile, WhatTheDeviceHasNotIsTakenAway) {
  const AdapterAttributes siw = Limited(*FindProfile(DeviceProfile::kSiw), Everything(100));
  for (auto member : kCapabilities) EXPECT_FALSE(siw.*member);
  EXPECT_EQ(siw.max_windows, 0u);
  for (DeviceProfile which : {DeviceProfile::kRxe, DeviceProfile::kIb}) {
    const AdapterAttributes a = Limited(*FindProfile(which), Everything(100));
    EXPECT_EQ(a.max_windows, 100u);
    EXPECT_TRUE(a.windows && a.immediate && a.immediate_as_message && a.atomics && a.invalidate);
    EXPECT_TRUE(a.confirms_writes && a.confirmed_completions);
    EXPECT_FALSE(a.zone_windows || a.zero_based || a.receive_watermarks);
  }
}

// Settings tell the back end what only it can do. They must agree with the profile of the device.
TEST(Profile, SettingsImplyWhatTheProfileSaysOfCompletions) {
  const std::pair<DeviceProfile, const char*> words[] = {
      {DeviceProfile::kRxe, "rxe"}, {DeviceProfile::kSiw, "siw"}, {DeviceProfile::kIb, "ib"}};
  for (const auto& [which, word] : words) {
    const std::string variable = std::string("SOFTDAT_PROFILE=") + word;
    const char* const environment[] = {variable.c_str(), nullptr};
    const Settings settings = ParseSettings(environment).values;
    EXPECT_EQ(settings.profile, which);
    EXPECT_EQ(settings.completion == CompletionMode::kConfirmed,
              FindProfile(which)->confirms_writes)
        << word;
  }
}

}  // namespace
}  // namespace softdat
