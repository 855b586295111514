// SPDX-License-Identifier: BSD-3-Clause
#include "dat/base/status.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace softdat {
namespace {

TEST(Status, DefaultIsSuccessWithoutReason) {
  Status status;
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(status.code(), Code::kOk);
  EXPECT_EQ(status.reason(), "");
  EXPECT_TRUE(Status::Ok().ok());
}

TEST(Status, CarriesCodeAndReasonThroughMoves) {
  Status status(Code::kInUse, "port 62000 is taken");
  Status moved = std::move(status);
  EXPECT_FALSE(moved.ok());
  EXPECT_EQ(moved.code(), Code::kInUse);
  EXPECT_EQ(moved.reason(), "port 62000 is taken");
}

TEST(Status, ReasonOfSuccessIsDropped) { EXPECT_EQ(Status(Code::kOk, "unused").reason(), ""); }

TEST(Result, HoldsValueOrStatus) {
  Result<std::string> good(std::string("lo"));
  ASSERT_TRUE(good.ok());
  EXPECT_EQ(good.value(), "lo");
  EXPECT_EQ(good.Take(), "lo");

  Result<std::string> bad(Status(Code::kNotFound, "no interface eth9"));
  ASSERT_FALSE(bad.ok());
  Status status = bad.TakeStatus();
  EXPECT_EQ(status.code(), Code::kNotFound);
  EXPECT_EQ(status.reason(), "no interface eth9");
}

TEST(CodeName, IsDifferentForEachCode) {
  std::set<std::string> names;
  for (int code = 0; code <= static_cast<int>(Code::kInternal); ++code) {
    names.insert(std::string(CodeName(static_cast<Code>(code))));
  }
  EXPECT_EQ(names.size(), static_cast<size_t>(Code::kInternal) + 1);
  EXPECT_EQ(names.count("Unknown"), 0u);
  EXPECT_EQ(CodeName(static_cast<Code>(250)), "Unknown");
}

}  // namespace
}  // namespace softdat
