// SPDX-License-Identifier: BSD-3-Clause
#include "dat/base/reason.h"

#include <gtest/gtest.h>

#include <thread>

namespace softdat {
namespace {

TEST(Reason, ChainIsOutermostFirst) {
  SetReason("bind: address in use");
  AddReason("port 62000 is taken");
  AddReason("dat_psp_create refused");
  EXPECT_EQ(LastReasons(), "dat_psp_create refused\nport 62000 is taken\nbind: address in use");
}

TEST(Reason, SetStartsANewChain) {
  SetReason("first");
  AddReason("outer");
  SetReason("second");
  EXPECT_EQ(LastReasons(), "second");
  ClearReasons();
  EXPECT_EQ(LastReasons(), "");
  AddReason("alone");
  EXPECT_EQ(LastReasons(), "alone");
}

TEST(Reason, LengthIsBounded) {
  SetReason("innermost");
  for (int i = 0; i < 1000; ++i) AddReason("outer");
  EXPECT_LT(LastReasons().size(), 200u);
  EXPECT_NE(LastReasons().find("innermost"), std::string::npos);
}

TEST(Reason, BytesAreBounded) {
  SetReason(std::string(3000, 'i'));
  AddReason(std::string(3000, 'o'));
  AddReason("dropped");
  const std::string text = LastReasons();
  EXPECT_LE(text.size(), 4001u);
  EXPECT_EQ(text.substr(text.size() - 3000), std::string(3000, 'i'));
  EXPECT_EQ(text[0], 'o');
  SetReason("short again");
  EXPECT_EQ(LastReasons(), "short again");
}

TEST(Reason, EachThreadHasItsOwn) {
  SetReason("mine");
  std::string seen = "unset";
  std::thread([&seen] {
    seen = LastReasons();
    SetReason("theirs");
  }).join();
  EXPECT_EQ(seen, "");
  EXPECT_EQ(LastReasons(), "mine");
}

TEST(Reason, TheTimeIsThatOfTheLastReason) {
  ClearReasons();
  EXPECT_EQ(LastReasonTime(), 0u);
  SetReason("first");
  const uint64_t first = LastReasonTime();
  EXPECT_GT(first, 0u);
  while (LastReasonTime() == first) AddReason("later");
  EXPECT_GT(LastReasonTime(), first);
  ClearReasons();
  EXPECT_EQ(LastReasonTime(), 0u);
}

TEST(Reason, RecordKeepsTheChainOnSuccess) {
  SetReason("kept");
  EXPECT_EQ(Record(Status::Ok()), Code::kOk);
  EXPECT_EQ(LastReasons(), "kept");
  EXPECT_EQ(Record(Status(Code::kNotFound, "no such interface")), Code::kNotFound);
  EXPECT_EQ(LastReasons(), "no such interface");
}

}  // namespace
}  // namespace softdat
