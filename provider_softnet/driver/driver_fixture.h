// SPDX-License-Identifier: BSD-3-Clause
// A driver that has been started, with one channel.
#ifndef SOFTDAT_PROVIDER_SOFTNET_DRIVER_DRIVER_FIXTURE_H_
#define SOFTDAT_PROVIDER_SOFTNET_DRIVER_DRIVER_FIXTURE_H_

#include <gtest/gtest.h>

#include <optional>

#include "provider_softnet/driver/counting_channel.h"
#include "provider_softnet/driver/driver.h"

namespace softdat::softnet {

class DriverTest : public testing::Test {
 protected:
  void SetUp() override {
    driver_.emplace(options_);
    ASSERT_TRUE(driver_->Start().ok());
    channel_ = RefPtr<CountingChannel>::Adopt(new CountingChannel(&*driver_));
  }
  void TearDown() override {
    channel_->Close();
    driver_->Stop();
  }
  // Whether the helper has the loop and sleeps in it.
  bool HelperDrives() {
    return Until([&] { return driver_->token().holder() == DriverToken::Holder::kHelper; });
  }

  DriverOptions options_;
  std::optional<Driver> driver_;
  RefPtr<CountingChannel> channel_;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_DRIVER_DRIVER_FIXTURE_H_
