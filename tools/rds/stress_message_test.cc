// SPDX-License-Identifier: BSD-3-Clause
#include "tools/rds/stress_message.h"

#include <gtest/gtest.h>

#include <vector>

namespace softdat::tools {
namespace {

StressMessage Example() { return {true, RdmaWay::kWrite, 3, 258, 77, 0x0102030405060708}; }

TEST(StressMessage, ReadsWhatItWrites) {
  std::vector<uint8_t> bytes(64);
  WriteMessage(Example(), false, bytes);
  const auto message = ReadMessage(bytes);
  ASSERT_TRUE(message);
  EXPECT_TRUE(message->ack);
  EXPECT_EQ(message->way, RdmaWay::kWrite);
  EXPECT_EQ(message->task, 3);
  EXPECT_EQ(message->to, 258);
  EXPECT_EQ(message->sequence, 77u);
  EXPECT_EQ(message->cookie, 0x0102030405060708u);
}

TEST(StressMessage, TheOrderOfBytesIsThatOfTheComment) {
  std::vector<uint8_t> bytes(kMessageHeader);
  WriteMessage(Example(), false, bytes);
  EXPECT_EQ(bytes[0], 'r');
  EXPECT_EQ(bytes[3], 's');
  EXPECT_EQ(bytes[4], 1);
  EXPECT_EQ(bytes[5], 2);
  EXPECT_EQ(bytes[6], 3);
  EXPECT_EQ(bytes[8], 77);
  EXPECT_EQ(bytes[16], 8);
  EXPECT_EQ(bytes[25], 1);
}

TEST(StressMessage, OtherBytesAreNoMessage) {
  std::vector<uint8_t> bytes(64);
  EXPECT_FALSE(ReadMessage(bytes));
  WriteMessage(Example(), false, bytes);
  EXPECT_FALSE(ReadMessage(std::span(bytes).first(kMessageHeader - 1)));
  for (const size_t at : {size_t{0}, size_t{4}, size_t{5}, size_t{26}, size_t{31}}) {
    auto other = bytes;
    other[at] ^= 0x40;
    EXPECT_FALSE(ReadMessage(other)) << at;
  }
}

TEST(StressMessage, EveryByteBehindTheHeaderIsVerified) {
  std::vector<uint8_t> bytes(40);
  WriteMessage(Example(), true, bytes);
  EXPECT_EQ(PatternProblem(Example(), bytes), "");
  for (size_t at = kMessageHeader; at < bytes.size(); ++at) {
    auto other = bytes;
    other[at] ^= 1;
    EXPECT_NE(PatternProblem(Example(), other), "") << at;
  }
  bytes[39] = static_cast<uint8_t>(bytes[39] + 1);
  EXPECT_EQ(PatternProblem(Example(), bytes).substr(0, 8), "byte 39 ");
}

TEST(StressMessage, PatternsDiffer) {
  std::vector<uint8_t> memory(16);
  const StressMessage one = {false, RdmaWay::kRead, 1, 2, 10, 0};
  FillRdma(one, memory);
  EXPECT_EQ(RdmaProblem(one, memory), "");
  for (const StressMessage& other : {StressMessage{false, RdmaWay::kRead, 2, 2, 10, 0},
                                     StressMessage{false, RdmaWay::kRead, 1, 3, 10, 0},
                                     StressMessage{false, RdmaWay::kRead, 2, 1, 10, 0},
                                     StressMessage{false, RdmaWay::kRead, 1, 2, 11, 0},
                                     StressMessage{false, RdmaWay::kRead, 1, 2, 9, 0}})
    EXPECT_NE(RdmaProblem(other, memory), "");
}

}  // namespace
}  // namespace softdat::tools
