// SPDX-License-Identifier: BSD-3-Clause
#include "tools/rds/ping_book.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <nlohmann/json.hpp>

namespace softdat::tools {
namespace {

TEST(PingBook, SocketsTakeTurns) {
  PingBook book(2);
  EXPECT_EQ(book.next_socket(), 0u);
  book.Sent(0);
  EXPECT_EQ(book.next_socket(), 1u);
  book.Failed();
  EXPECT_EQ(book.next_socket(), 0u);
  EXPECT_EQ(book.next_number(), 3u);
  EXPECT_EQ(book.sent(), 1u);
  EXPECT_EQ(book.errors(), 1u);
}

TEST(PingBook, AnswersBelongToThePingOfTheirSocket) {
  PingBook book(2);
  book.Sent(1000);
  book.Sent(2000);
  const auto second = book.Answered(1, 12000);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->ping, 2u);
  EXPECT_DOUBLE_EQ(second->usec, 10);
  EXPECT_FALSE(second->duplicate);
  EXPECT_FALSE(book.AllAnswered());
  const auto first = book.Answered(0, 31000);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->ping, 1u);
  EXPECT_TRUE(book.AllAnswered());
  EXPECT_DOUBLE_EQ(book.least_usec(), 10);
  EXPECT_DOUBLE_EQ(book.most_usec(), 30);
  EXPECT_DOUBLE_EQ(book.average_usec(), 20);
}

TEST(PingBook, ASecondAnswerIsADuplicateAndCountsForNothingElse) {
  PingBook book(1);
  book.Sent(0);
  book.Answered(0, 5000);
  const auto again = book.Answered(0, 9000);
  ASSERT_TRUE(again);
  EXPECT_TRUE(again->duplicate);
  EXPECT_EQ(book.answered(), 1u);
  EXPECT_EQ(book.duplicates(), 1u);
  EXPECT_DOUBLE_EQ(book.most_usec(), 5);
}

TEST(PingBook, NothingWasSentFromThatSocket) {
  PingBook book(2);
  book.Sent(0);
  EXPECT_FALSE(book.Answered(1, 5000));
  EXPECT_EQ(book.answered(), 0u);
}

TEST(PingLines, AreThoseOfRdsPing) {
  EXPECT_EQ(AnswerLine({1, 6312.4, false}, ""), "   1: 6312 usec\n");
  EXPECT_EQ(AnswerLine({12, 5, true}, "10.0.0.3"), "  12: 5 usec (10.0.0.3) DUP!\n");
  EXPECT_EQ(ErrorLine(3, ENOBUFS), "   3: ERROR: No buffer space available\n");
}

TEST(PingLines, Summary) {
  PingBook book(2);
  EXPECT_EQ(SummaryLine(book), "0 sent, 0 answered\n");
  book.Sent(0);
  book.Answered(0, 2000000);
  book.Answered(0, 2000000);
  book.Failed();
  EXPECT_EQ(SummaryLine(book),
            "1 sent, 1 answered, 1 duplicates, 1 not sent; min/average/max 2000/2000/2000 usec\n");
}

TEST(PingLines, Json) {
  PingBook book(2);
  EXPECT_EQ(nlohmann::json::parse(SummaryJson(book, "b", "a")),
            nlohmann::json::parse(R"({"destination":"b","source":"a","sent":0,"answered":0,
                                      "duplicates":0,"errors":0})"));
  book.Sent(0);
  const auto answer = book.Answered(0, 116230);
  EXPECT_EQ(AnswerJson(*answer, "10.0.0.2"),
            "{\"ping\":1,\"usec\":116.2,\"from\":\"10.0.0.2\",\"duplicate\":false}\n");
  EXPECT_EQ(ErrorJson(2, EAGAIN), "{\"ping\":2,\"error\":\"EAGAIN\"}\n");
  EXPECT_EQ(nlohmann::json::parse(SummaryJson(book, "b", "a"))["usec"]["max"], 116.2);
}

}  // namespace
}  // namespace softdat::tools
