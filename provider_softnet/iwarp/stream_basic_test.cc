// SPDX-License-Identifier: BSD-3-Clause
// Streams without errors: every operation, its bytes, its completions and their order.
#include <gtest/gtest.h>

#include <cstring>

#include "provider_softnet/iwarp/stream_pair.h"

namespace softdat::softnet::testing {
namespace {

using transport::Op;
using transport::WorkStatus;

void Fill(uint8_t* p, size_t n, uint64_t stream) {
  for (size_t i = 0; i < n; ++i) p[i] = Pattern(stream, i);
}

testing::PairOptions Options(bool crc, size_t mulpdu) {
  PairOptions o;
  o.crc = crc;
  o.mulpdu = mulpdu;
  return o;
}

class StreamBasicTest : public ::testing::TestWithParam<std::tuple<bool, size_t>> {
 protected:
  PairOptions options() const { return Options(std::get<0>(GetParam()), std::get<1>(GetParam())); }
};

TEST_P(StreamBasicTest, SendsOfManySizesArriveInOrder) {
  PairOptions o = options();
  o.queue = 128;
  StreamPair pair(o);
  const size_t source = pair.a().AddBuffer(200000);
  const size_t sink = pair.b().AddBuffer(300000);
  Fill(pair.a().data(source), 200000, 1);
  const std::vector<uint32_t> sizes = {0,    1,    2,    3,    4,    5,    511,  512,   513,
                                       1400, 2047, 2048, 2049, 4095, 4096, 4097, 65536, 150001};
  uint64_t at = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    ASSERT_EQ(pair.b().Receive(100 + i,
                               {pair.b().Local(sink, at, sizes[i] / 2),
                                pair.b().Local(sink, at + sizes[i] / 2, sizes[i] - sizes[i] / 2)}),
              Code::kOk);
    ASSERT_EQ(pair.a().Send(i, {pair.a().Local(source, 0, sizes[i] / 3),
                                pair.a().Local(source, sizes[i] / 3, sizes[i] - sizes[i] / 3)}),
              Code::kOk);
    at += sizes[i];
  }
  ASSERT_TRUE(pair.Run());
  const auto sent = pair.a().Sends();
  const auto received = pair.b().Receives();
  ASSERT_EQ(sent.size(), sizes.size());
  ASSERT_EQ(received.size(), sizes.size());
  at = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    EXPECT_EQ(sent[i].cookie, i);
    EXPECT_EQ(sent[i].status, WorkStatus::kSuccess);
    EXPECT_EQ(sent[i].length, sizes[i]);
    EXPECT_EQ(received[i].cookie, 100 + i);
    EXPECT_EQ(received[i].status, WorkStatus::kSuccess);
    EXPECT_EQ(received[i].length, sizes[i]);
    EXPECT_EQ(received[i].op, Op::kReceive);
    EXPECT_EQ(received[i].context, &pair.b());
    EXPECT_EQ(std::memcmp(pair.b().data(sink) + at, pair.a().data(source), sizes[i]), 0) << i;
    at += sizes[i];
  }
  EXPECT_TRUE(pair.b().GuardsIntact());
}

TEST_P(StreamBasicTest, WriteThenSendThenRead) {
  StreamPair pair(options());
  const size_t source = pair.a().AddBuffer(1 << 20);
  const size_t target = pair.b().AddBuffer(1 << 20);
  const size_t back = pair.a().AddBuffer(1 << 20);
  const size_t note = pair.b().AddBuffer(64);
  Fill(pair.a().data(source), 1 << 20, 3);
  ASSERT_EQ(pair.b().Receive(9, {pair.b().Local(note, 0, 64)}), Code::kOk);
  ASSERT_EQ(
      pair.a().Write(1, {pair.a().Local(source, 0, 1 << 20)}, pair.b().Remote(target, 0, 1 << 20)),
      Code::kOk);
  ASSERT_EQ(pair.a().Send(2, {pair.a().Local(source, 0, 10)}, transport::kSolicited), Code::kOk);
  ASSERT_EQ(pair.a().Read(3,
                          {pair.a().Local(back, 0, 100), pair.a().Local(back, 100, 400000),
                           pair.a().Local(back, 400100, (1 << 20) - 400100)},
                          pair.b().Remote(target, 0, 1 << 20)),
            Code::kOk);
  ASSERT_EQ(pair.a().Send(4, {}), Code::kOk);
  ASSERT_EQ(pair.b().Receive(10, {}), Code::kOk);
  ASSERT_TRUE(pair.Run());
  EXPECT_EQ(std::memcmp(pair.b().data(target), pair.a().data(source), 1 << 20), 0);
  EXPECT_EQ(std::memcmp(pair.a().data(back), pair.a().data(source), 1 << 20), 0);
  const auto sent = pair.a().Sends();
  ASSERT_EQ(sent.size(), 4u);
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(sent[i].cookie, i + 1);
  EXPECT_EQ(sent[0].op, Op::kRdmaWrite);
  EXPECT_EQ(sent[0].length, 1u << 20);
  EXPECT_EQ(sent[2].op, Op::kRdmaRead);
  EXPECT_EQ(sent[2].length, 1u << 20);
  const auto received = pair.b().Receives();
  ASSERT_EQ(received.size(), 2u);
  EXPECT_TRUE(received[0].solicited);
  EXPECT_FALSE(received[1].solicited);
  EXPECT_TRUE(pair.a().GuardsIntact() && pair.b().GuardsIntact());
}

TEST_P(StreamBasicTest, GracefulDisconnectDrainsFirst) {
  StreamPair pair(options());
  const size_t source = pair.a().AddBuffer(100000);
  const size_t sink = pair.b().AddBuffer(100000);
  const size_t back = pair.a().AddBuffer(100000);
  Fill(pair.b().data(sink), 100000, 5);
  pair.b().Receive(1, {pair.b().Local(sink, 0, 50000)});
  pair.b().Receive(2, {pair.b().Local(sink, 0, 50000)});
  pair.a().Receive(3, {pair.a().Local(back, 0, 10)});
  pair.a().Send(4, {pair.a().Local(source, 0, 50000)});
  pair.a().Read(5, {pair.a().Local(back, 0, 50000)}, pair.b().Remote(sink, 50000, 50000));
  pair.a().stream->Disconnect(transport::DisconnectMode::kGraceful);
  EXPECT_EQ(pair.a().Send(6, {}), Code::kInvalidState);
  ASSERT_TRUE(pair.Run());
  const auto sent = pair.a().Sends();
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_EQ(sent[0].status, WorkStatus::kSuccess);
  EXPECT_EQ(sent[1].status, WorkStatus::kSuccess);
  EXPECT_EQ(std::memcmp(pair.a().data(back), pair.b().data(sink) + 50000, 50000), 0);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(pair.sides[i]->ends_seen, 1);
    EXPECT_EQ(pair.sides[i]->stream->end().reason, transport::EndReason::kDisconnected)
        << pair.sides[i]->stream->end().why;
  }
  EXPECT_FALSE(pair.a().stream->end().by_peer);
  EXPECT_TRUE(pair.b().stream->end().by_peer);
  const auto flushed = pair.a().Receives();
  ASSERT_EQ(flushed.size(), 1u);
  EXPECT_EQ(flushed[0].status, WorkStatus::kFlushed);
  const auto received = pair.b().Receives();
  ASSERT_EQ(received.size(), 2u);
  EXPECT_EQ(received[0].status, WorkStatus::kSuccess);
  EXPECT_EQ(received[1].status, WorkStatus::kFlushed);
}

// The disconnect comes before the peer has answered the message that opens the stream. There is
// nothing else to wait for.
TEST_P(StreamBasicTest, GracefulDisconnectAtTheVeryBeginning) {
  for (const Rtr rtr : {Rtr::kNone, Rtr::kWrite, Rtr::kRead, Rtr::kSend}) {
    PairOptions o = options();
    o.rtr = rtr;
    StreamPair pair(o);
    pair.Transmit(0);
    pair.a().stream->Disconnect(transport::DisconnectMode::kGraceful);
    ASSERT_TRUE(pair.Run());
    for (const auto& side : pair.sides) {
      EXPECT_TRUE(side->stream->ended()) << static_cast<int>(rtr);
      EXPECT_EQ(side->ends_seen, 1) << static_cast<int>(rtr);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(CrcAndSegmentSize, StreamBasicTest,
                         ::testing::Combine(::testing::Bool(),
                                            ::testing::Values(128, 1442, 16384, 65535)));

}  // namespace
}  // namespace softdat::softnet::testing
