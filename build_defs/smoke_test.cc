// SPDX-License-Identifier: BSD-3-Clause
// The workspace itself: every third-party label compiles, links and runs.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <isa-l.h>
#include <uv.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <type_traits>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace {

TEST(Workspace, CompilesAsCxx20) { EXPECT_GE(__cplusplus, 202002L); }

TEST(Workspace, AbseilLinks) {
  absl::StatusOr<int> bad = absl::InvalidArgumentError(absl::StrCat("key ", 7));
  EXPECT_FALSE(bad.ok());
  EXPECT_EQ(bad.status().message(), "key 7");
  EXPECT_EQ(absl::StrFormat("%08x", 0xD0000), "000d0000");
  absl::flat_hash_map<std::string, int> map;
  for (int i = 0; i < 100; ++i) map[absl::StrCat(i)] = i;
  EXPECT_EQ(map.at("42"), 42);
  EXPECT_GT(absl::ToInt64Nanoseconds(absl::Now() - absl::UnixEpoch()), 0);
}

TEST(Workspace, LibuvRunsALoop) {
  uv_loop_t loop;
  ASSERT_EQ(uv_loop_init(&loop), 0);
  EXPECT_EQ(uv_run(&loop, UV_RUN_NOWAIT), 0);
  EXPECT_EQ(uv_loop_close(&loop), 0);
}

TEST(Workspace, IsalComputesCrc32c) {
  // RFC 3720 B.4: 32 bytes of zeros give AA 36 91 8A on the wire, that is 0x8A9136AA.
  unsigned char zeros[32] = {};
  EXPECT_EQ(crc32_iscsi(zeros, sizeof zeros, 0xFFFFFFFFu) ^ 0xFFFFFFFFu, 0x8A9136AAu);
}

TEST(Workspace, CommandLineAndJson) {
  CLI::App app;
  int size = 0;
  app.add_option("-s", size);
  const char* argv[] = {"x", "-s", "64"};
  app.parse(3, argv);
  EXPECT_EQ(size, 64);
  EXPECT_EQ(nlohmann::json::parse("{\"a\":1}").at("a").get<int>(), 1);
  EXPECT_EQ(fmt::format("{}-{}", "softnet", "lo"), "softnet-lo");
  EXPECT_THAT(std::string("softnet-lo"), testing::HasSubstr("lo"));
}

}  // namespace
