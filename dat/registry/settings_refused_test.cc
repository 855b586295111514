// SPDX-License-Identifier: BSD-3-Clause
// A setting that is not understood keeps every IA from being opened, even those of foreign
// providers, and the reason names the setting.
#include <dat2/softdat.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include "dat/registry/testing/child.h"

namespace softdat::registry::testing {
namespace {

using ::testing::HasSubstr;

constexpr DAT_RETURN kRefused = DAT_CLASS_ERROR | DAT_INVALID_PARAMETER;

Scenario WithConf(const std::string& conf) {
  Scenario scenario;
  scenario.conf = conf;
  return scenario;
}

// Opens an IA in a process with this variable, and shows `look` the result.
void WithVariable(const char* name, const char* value,
                  const std::function<void(DAT_RETURN, const std::string&)>& look) {
  SCOPED_TRACE(std::string(name) + "=" + value);
  InChild(WithConf(ConfLine("a", "libdaplforeign.so.2")), [&](FakeControl*) {
    setenv(name, value, 1);
    DAT_IA_HANDLE ia = nullptr;
    const DAT_RETURN result = Open("a", &ia);
    look(result, LastReason());
  });
}

TEST(SettingsRefused, EachOneWithItsName) {
  const std::pair<const char*, const char*> wrong[] = {
      {"SOFTDAT_CRC", "yes"},
      {"SOFTDAT_PROFILE", "rxee"},
      {"SOFTDAT_LOG", "/nowhere/x"},
      {"SOFTDAT_LOG_LEVEL", "loud"},
      {"SOFTDAT_SPIN_US", "1h"},
      {"SOFTDAT_RFC7306", "maybe"},
      {"SOFTDAT_MAX_HALF_OPEN", ""},
      {"SOFTDAT_COMPLETION", "conformed"},
      {"SOFTDAT_CLOSE_TIMEOUT_MS", "-1"},
      {"SOFTDAT_PROVIDER_PATH", "/nowhere"},
  };
  for (const auto& [name, value] : wrong) {
    WithVariable(name, value,
                 [name = name, value = value](DAT_RETURN result, const std::string& reason) {
                   EXPECT_EQ(result, kRefused);
                   EXPECT_THAT(reason, HasSubstr(name));
                   EXPECT_THAT(reason, HasSubstr(value));
                 });
  }
}

TEST(SettingsRefused, AllAtOnce) {
  setenv("SOFTDAT_CRC", "yes", 1);
  WithVariable("SOFTDAT_PROFILE", "rxee", [](DAT_RETURN result, const std::string& reason) {
    EXPECT_EQ(result, kRefused);
    EXPECT_THAT(reason, HasSubstr("SOFTDAT_CRC=yes"));
    EXPECT_THAT(reason, HasSubstr("SOFTDAT_PROFILE=rxee"));
  });
  unsetenv("SOFTDAT_CRC");
}

TEST(SettingsRefused, RightOnesAndUnknownNamesAreNot) {
  for (const auto& [name, value] : {std::pair{"SOFTDAT_CRC", "ON"},
                                    {"SOFTDAT_NO_SUCH", "1"},
                                    {"SOFTDAT_LOG", ""},
                                    {"SOFTDAT_SPIN_US", "2ms"}}) {
    WithVariable(name, value, [](DAT_RETURN result, const std::string& reason) {
      EXPECT_EQ(result, DAT_SUCCESS) << reason;
    });
  }
}

}  // namespace
}  // namespace softdat::registry::testing
