// SPDX-License-Identifier: BSD-3-Clause
#include "dat/base/settings.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

namespace softdat {
namespace {

ParsedSettings Parse(std::vector<const char*> environment) {
  environment.push_back(nullptr);
  return ParseSettings(environment.data());
}

const SettingRow& Row(const ParsedSettings& parsed, std::string_view name) {
  for (const auto& row : parsed.rows) {
    if (row.name == name) return row;
  }
  ADD_FAILURE() << "no row " << name;
  return parsed.rows.front();
}

TEST(Settings, EmptyEnvironmentGivesTheDefaults) {
  for (const auto& parsed : {ParseSettings(nullptr), Parse({})}) {
    EXPECT_TRUE(parsed.problems.empty());
    EXPECT_EQ(parsed.values.log, "off");
    EXPECT_EQ(parsed.values.log_level, LogLevel::kWarning);
    EXPECT_EQ(parsed.values.crc, CrcMode::kAuto);
    EXPECT_EQ(parsed.values.spin_us, 20);
    EXPECT_EQ(parsed.values.connect_grace_ms, 300);
    EXPECT_EQ(parsed.values.rnr_timeout_ms, 0);
    EXPECT_EQ(parsed.values.mpa_revision, 2);
    for (const auto& row : parsed.rows) {
      EXPECT_EQ(row.value, row.default_value) << row.name;
      EXPECT_FALSE(row.from_environment) << row.name;
    }
  }
}

TEST(Settings, ValuesAreTaken) {
  auto parsed =
      Parse({"PATH=/bin", "SOFTDAT_SPIN_US=1ms", "SOFTDAT_CRC=ON", "SOFTDAT_RDS_IA=softnet-lo",
             "SOFTDAT_LOG=/var/log/x=y", "DAT_DBG_TYPE=0xFF", "DAT_OVERRIDE="});
  EXPECT_TRUE(parsed.problems.empty());
  EXPECT_EQ(parsed.values.spin_us, 1000);
  EXPECT_EQ(parsed.values.crc, CrcMode::kOn);
  EXPECT_EQ(parsed.values.log, "/var/log/x=y");
  EXPECT_EQ(parsed.values.dat_dbg_type, 255);
  EXPECT_EQ(Row(parsed, "SOFTDAT_CRC").value, "on");
  EXPECT_EQ(Row(parsed, "SOFTDAT_CRC").default_value, "auto");
  EXPECT_TRUE(Row(parsed, "SOFTDAT_CRC").from_environment);
  EXPECT_TRUE(Row(parsed, "DAT_OVERRIDE").from_environment);
}

TEST(Settings, InvalidValuesKeepTheDefaultAndAreNamed) {
  auto parsed = Parse({"SOFTDAT_SPIN_US=soon", "SOFTDAT_MPA_REVISION=3", "SOFTDAT_CRC=maybe\n"});
  EXPECT_EQ(parsed.values.spin_us, 20);
  EXPECT_EQ(parsed.values.mpa_revision, 2);
  EXPECT_EQ(parsed.values.crc, CrcMode::kAuto);
  EXPECT_FALSE(Row(parsed, "SOFTDAT_SPIN_US").from_environment);
  ASSERT_EQ(parsed.problems.size(), 3u);
  EXPECT_EQ(parsed.refused, parsed.problems);
  std::string all;
  for (const auto& problem : parsed.problems) all += problem + "\n";
  EXPECT_NE(all.find("SOFTDAT_SPIN_US=soon"), std::string::npos);
  EXPECT_NE(all.find("SOFTDAT_MPA_REVISION=3 is not valid (int, 1..2)"), std::string::npos);
  EXPECT_NE(all.find("maybe\\x0a"), std::string::npos);
}

TEST(Settings, UnknownNamesOfOursAreNamed) {
  auto parsed = Parse({"SOFTDAT_SPIN=1", "SOFTDAT_", "SOFTDATX=1", "DAPL_X=1"});
  ASSERT_EQ(parsed.problems.size(), 2u);
  EXPECT_EQ(parsed.problems[0], "SOFTDAT_SPIN is not a setting of this version and has no effect");
  EXPECT_TRUE(parsed.refused.empty());
}

TEST(Settings, AForeignVariableThatIsWrongRefusesNothing) {
  auto parsed = Parse({"DAT_DBG_TYPE=all", "DAPL_IB_MTU=1500"});
  ASSERT_EQ(parsed.problems.size(), 2u);
  EXPECT_NE(parsed.problems[1].find("DAPL_IB_MTU=1500 is not valid (enum, auto|256|"),
            std::string::npos)
      << parsed.problems[1];
  EXPECT_EQ(parsed.values.ib_mtu, PathMtu::kAuto);
  EXPECT_TRUE(parsed.refused.empty());
}

TEST(Settings, FirstOccurrenceCounts) {
  EXPECT_EQ(Parse({"SOFTDAT_SPIN_US=1", "SOFTDAT_SPIN_US=2"}).values.spin_us, 1);
}

TEST(Settings, AProfileImpliesWhatTheBackEndDoes) {
  for (const char* profile :
       {"SOFTDAT_PROFILE=none", "SOFTDAT_PROFILE=rxe", "SOFTDAT_PROFILE=ib"}) {
    const auto parsed = Parse({profile});
    EXPECT_EQ(parsed.values.completion, CompletionMode::kConfirmed) << profile;
    EXPECT_FALSE(parsed.values.receiver_must_be_ready) << profile;
  }
  const auto parsed = Parse({"SOFTDAT_COMPLETION=confirmed", "SOFTDAT_PROFILE=SIW"});
  EXPECT_TRUE(parsed.problems.empty());
  EXPECT_EQ(parsed.values.completion, CompletionMode::kTaken);
  EXPECT_TRUE(parsed.values.receiver_must_be_ready);
  EXPECT_EQ(Row(parsed, "SOFTDAT_COMPLETION").value, "taken");
  EXPECT_TRUE(Row(parsed, "SOFTDAT_RECEIVER_MUST_BE_READY").from_environment);
}

TEST(Settings, AnInvalidValueIsRefusedAlsoWhereAnotherIsImplied) {
  const auto parsed = Parse({"SOFTDAT_PROFILE=siw", "SOFTDAT_COMPLETION=soon"});
  ASSERT_EQ(parsed.problems.size(), 1u);
  EXPECT_EQ(parsed.refused, parsed.problems);
  EXPECT_EQ(parsed.values.completion, CompletionMode::kTaken);
}

TEST(Settings, EachRowIsCompleteAndItsDefaultIsValid) {
  std::set<std::string_view> names;
  for (const auto& row : Parse({}).rows) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_FALSE(row.help.empty()) << row.name;
    EXPECT_NE(row.help.back(), '.') << row.name;
    std::string line = std::string(row.name) + "=" + row.default_value;
    auto again = Parse({line.c_str()});
    EXPECT_TRUE(again.problems.empty()) << line;
    EXPECT_EQ(Row(again, row.name).value, row.default_value);
  }
}

TEST(Settings, JsonHoldsEveryRow) {
  auto parsed = Parse({"SOFTDAT_LOG=a\"b"});
  auto json = nlohmann::json::parse(SettingsJson(parsed.rows));
  ASSERT_EQ(json.size(), parsed.rows.size());
  EXPECT_EQ(json[0]["name"], "SOFTDAT_LOG");
  EXPECT_EQ(json[0]["value"], "a\"b");
  EXPECT_EQ(json[0]["default"], "off");
  EXPECT_EQ(json[0]["source"], "environment");
  EXPECT_EQ(json[1]["source"], "default");
  EXPECT_EQ(json[1]["range"], "error|warning|info|debug");
}

TEST(Settings, ProcessSettingsAreReadOnce) { EXPECT_EQ(&GetSettings(), &GetSettings()); }

}  // namespace
}  // namespace softdat
