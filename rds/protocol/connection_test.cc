// SPDX-License-Identifier: BSD-3-Clause
// What two addresses say to each other: the order of frames, what each header carries, and what a
// peer must not send. Loss of connections is simulated (tests/sim/rds_program.h).
#include "rds/protocol/connection.h"

#include <gtest/gtest.h>

#include <string>

namespace softdat::rds {
namespace {

struct ConnectionTest : testing::Test {
  void Up(uint32_t credit = 0) {
    for (int i = 0; i < 2; ++i) {
      ends[i].Up(ends[1 - i].ack_sequence(), credit, credit);
    }
  }
  void Send(int i, size_t size, uint16_t port = 4001) {
    OutgoingMessage out;
    out.id = ++last_id;
    out.message.source_port = 4000;
    out.message.destination_port = port;
    out.message.payload.assign(size, static_cast<uint8_t>(last_id));
    ends[i].Send(std::move(out));
  }
  // Everything that end `i` wants to send reaches the other one. Returns the headers.
  std::vector<Header> Pass(int i) {
    std::vector<Header> headers;
    while (const std::optional<Frame> frame = ends[i].NextFrame()) {
      std::vector<uint8_t> octets(frame->header.begin(), frame->header.end());
      octets.insert(octets.end(), frame->payload.begin(), frame->payload.end());
      Header header;
      EXPECT_EQ(ParseHeader(octets, &header), HeaderParse::kOk);
      headers.push_back(header);
      EXPECT_TRUE(ends[1 - i].Receive(octets)) << ends[1 - i].why();
    }
    return headers;
  }
  // "arrived 5000", "done 1", "dropped 2", "freed 400".
  std::vector<std::string> Events(int i) {
    struct Text {
      std::string operator()(const Arrived& e) {
        return "arrived " + std::to_string(e.message.payload.size());
      }
      std::string operator()(const Done& e) { return "done " + std::to_string(e.id); }
      std::string operator()(const Dropped& e) { return "dropped " + std::to_string(e.id); }
      std::string operator()(const Freed& e) { return "freed " + std::to_string(e.groups); }
      std::string operator()(const MapCame&) { return {}; }
      std::string operator()(const Met&) { return {}; }
    };
    std::vector<std::string> out;
    while (const auto event = ends[i].TakeEvent()) {
      const std::string text = std::visit(Text{}, *event);
      if (!text.empty()) out.push_back(text);
    }
    return out;
  }
  // Why end 0 gives up its connection when this comes; empty when it does not.
  std::string Refused(const Header& header, size_t payload) {
    std::vector<uint8_t> octets(kHeaderSize + payload);
    EXPECT_TRUE(EncodeHeader(header, std::span(octets).first<kHeaderSize>()));
    return ends[0].Receive(octets) ? "" : std::string(ends[0].why());
  }

  CongestionMap maps[2];
  Connection ends[2] = {Connection(&maps[0]), Connection(&maps[1])};
  uint64_t last_id = 0;
};

TEST_F(ConnectionTest, NothingLeavesWithoutAConnection) {
  Send(0, 10);
  EXPECT_FALSE(ends[0].wants_frame());
  EXPECT_FALSE(ends[0].NextFrame().has_value());
}

TEST_F(ConnectionTest, TheMapGoesFirst) {
  Send(0, 10);
  Up();
  const std::vector<Header> sent = Pass(0);
  ASSERT_EQ(sent.size(), 3u);
  EXPECT_EQ(sent[0].flags, kCongestionBitmap);
  EXPECT_EQ(sent[1].flags, kCongestionBitmap);
  EXPECT_EQ(sent[0].sequence, 0u);
  EXPECT_EQ(sent[2].sequence, 1u);
  EXPECT_EQ(Events(1), std::vector<std::string>{"arrived 10"});
}

TEST_F(ConnectionTest, AMapWaitsForTheEndOfAMessage) {
  Up();
  Pass(0);
  Send(0, 5000);
  ASSERT_TRUE(ends[0].NextFrame().has_value());
  maps[0].Set(1);
  ends[0].MapChanged();
  EXPECT_EQ(ends[0].NextFrame()->payload.size(), 904u);
  EXPECT_EQ(ends[0].NextFrame()->payload.size(), kFragmentSize);
}

TEST_F(ConnectionTest, PortsThatBecomeFreeAreTold) {
  maps[0].Set(4001);
  Up();
  Pass(0);
  EXPECT_TRUE(ends[1].PeerIsCongested(4001));
  EXPECT_EQ(Events(1), std::vector<std::string>{});
  maps[0].Clear(4001);
  ends[0].MapChanged();
  Pass(0);
  EXPECT_EQ(Events(1),
            std::vector<std::string>{"freed " + std::to_string(uint64_t{1} << 4001 % 64)});
}

// Linux acknowledges nothing unasked, and a message behind this one may wait for another host.
TEST(MannerTest, WithLittleRoomAPeerThatIsSilentIsAsked) {
  for (const Manner& manner : {kLinuxManner, kOwnManner}) {
    const CongestionMap map;
    Connection connection(&map, manner);
    connection.Up(0, 0, 0);
    while (connection.wants_frame()) connection.NextFrame();  // the map
    for (const bool little : {false, true}) {
      OutgoingMessage out;
      out.id = little ? 2 : 1;
      out.message.destination_port = 4001;
      out.has_little_room = little;
      connection.Send(std::move(out));
      Header header;
      EXPECT_EQ(ParseHeader(connection.NextFrame()->header, &header), HeaderParse::kOk);
      EXPECT_EQ((header.flags & kAckRequired) != 0, little && manner.silent_peer);
    }
  }
}

TEST_F(ConnectionTest, EachEighthMessageAsksForAnAcknowledgement) {
  Up();
  Pass(0);
  Pass(1);
  for (int k = 0; k < 9; ++k) Send(0, 5000);
  std::vector<uint64_t> asked;
  for (const Header& h : Pass(0)) {
    if ((h.flags & kAckRequired) != 0) asked.push_back(h.sequence);
  }
  EXPECT_EQ(asked, (std::vector<uint64_t>{8, 8})) << "in each of its fragments";
  const std::vector<Header> answer = Pass(1);
  ASSERT_EQ(answer.size(), 1u);
  EXPECT_EQ(answer[0].ack, 9u);
  EXPECT_EQ(answer[0].sequence, 0u);
  EXPECT_EQ(answer[0].length, 0u);
  EXPECT_EQ(Events(0).size(), 9u);
  EXPECT_EQ(ends[0].unacknowledged(), 0u);
}

TEST_F(ConnectionTest, AMessageBringsTheAcknowledgementOfThoseThatCame) {
  Up();
  Pass(0);
  Pass(1);
  Send(0, 10);
  Pass(0);
  EXPECT_FALSE(ends[1].wants_frame()) << "nobody has asked";
  Send(1, 10);
  Pass(1);
  EXPECT_EQ(Events(0), (std::vector<std::string>{"done 1", "arrived 10"}));
}

TEST_F(ConnectionTest, CreditsLimitWhatIsUnderWay) {
  Up(8);
  for (int k = 0; k < 20; ++k) Send(0, 0);
  EXPECT_EQ(Pass(0).size(), 7u) << "the last credit is kept";
  ends[1].PostedReceives(7);
  const std::vector<Header> granted = Pass(1);
  ASSERT_GE(granted.size(), 1u);
  EXPECT_EQ(granted[0].credit, 7);
  EXPECT_EQ(Pass(0).size(), 7u);
}

TEST_F(ConnectionTest, WhatNoPeerSends) {
  Up();
  EXPECT_EQ(Refused({.sequence = 1, .length = 10}, 9),
            "a fragment is shorter or longer than what is left of its message");
  Up();
  EXPECT_EQ(Refused({.sequence = 1, .length = 5000}, 4096), "");
  EXPECT_EQ(Refused({.sequence = 2, .length = 5000}, 4096),
            "a message begins in the middle of another one");
  Up();
  EXPECT_EQ(Refused({.sequence = 1, .length = kMaxMessage + 1}, 4096),
            "a message is longer than any socket sends");
  EXPECT_EQ(Refused({.length = 10, .source_port = 1}, 10), "a message without a sequence");
  EXPECT_EQ(Refused({.length = 10, .flags = kCongestionBitmap}, 10),
            "a congestion map of another size");
  EXPECT_EQ(Refused({}, 1), "a header of nothing has a payload");
  EXPECT_FALSE(ends[0].Receive(std::vector<uint8_t>(kHeaderSize - 1)));
  EXPECT_EQ(ends[0].why(), "a frame is shorter than its header");
  std::vector<uint8_t> wrong(kHeaderSize);
  wrong[30] = 1;
  EXPECT_FALSE(ends[0].Receive(wrong));
  EXPECT_EQ(ends[0].why(), "the checksum of a header is wrong");
}

// Its sender is not to hear that a message came before it hears that it returns.
TEST_F(ConnectionTest, WhatIsReturnedIsAcknowledgedBehindItsReturn) {
  Up();
  Pass(0);
  Pass(1);
  Send(0, 10);
  Send(0, 20);
  Send(0, 30);
  Pass(0);
  const auto give_back = [&](uint64_t sequence) {
    OutgoingMessage out;
    out.id = 100 + sequence;
    out.message.marks = kReturned;
    out.returns = sequence;
    ends[1].Send(std::move(out));
  };
  give_back(2);
  give_back(3);
  std::vector<Header> sent = Pass(1);
  ASSERT_EQ(sent.size(), 3u);
  EXPECT_EQ(sent[0].ack, 1u);
  EXPECT_EQ(sent[1].ack, 2u);
  EXPECT_EQ(sent[2].ack, 3u) << "by itself, at once";
  // Of a return that was not acknowledged, the other end may know nothing.
  EXPECT_EQ(ends[1].ack_sequence(), 1u);
  ends[1].EndReturn(2);
  EXPECT_EQ(ends[1].ack_sequence(), 2u);
  for (Connection& end : ends) end.Down();
  ends[0].Up(ends[1].ack_sequence(), 0, 0);
  ends[1].Up(0, 0, 0);
  sent = Pass(1);
  ASSERT_EQ(sent.size(), 5u) << "the map, both returns, and an acknowledgement";
  EXPECT_EQ(sent[0].ack, 2u);
  EXPECT_EQ(sent[3].ack, 2u);
  EXPECT_EQ(sent[4].ack, 3u);
}

// Those behind it have come, too, but sequences are acknowledged in order.
TEST_F(ConnectionTest, WhatGoesOnIsAcknowledgedWhenItHasArrived) {
  Up();
  Pass(0);
  Pass(1);
  for (int i = 0; i < 3; ++i) Send(0, 10);
  Pass(0);
  ends[1].HoldAck(2);
  ends[1].HoldAck(3);
  ends[1].OweAck();
  Pass(1);
  EXPECT_EQ(Events(0), std::vector<std::string>{"done 1"});
  ends[1].ReleaseAck(3);
  Pass(1);
  EXPECT_EQ(Events(0), std::vector<std::string>{});
  EXPECT_EQ(ends[1].ack_sequence(), 1u);
  ends[1].ReleaseAck(2);
  EXPECT_TRUE(ends[1].wants_frame());
  Pass(1);
  EXPECT_EQ(Events(0), (std::vector<std::string>{"done 2", "done 3"}));
}

// The word that it has come was too early: it had not been sent again.
TEST_F(ConnectionTest, WhatComesAgainIsToldOfAgain) {
  Up();
  Pass(0);
  Pass(1);
  Send(0, 10);
  Pass(0);
  for (Connection& end : ends) end.Down();
  ends[0].Up(0, 0, 0);
  ends[1].Up(0, 0, 0);
  ends[1].OweAck();
  Pass(1);
  EXPECT_EQ(ends[0].unacknowledged(), 1u);
  Pass(0);
  EXPECT_TRUE(ends[1].has_news());
  ends[1].OweAck();
  Pass(1);
  EXPECT_EQ(ends[0].unacknowledged(), 0u);
}

}  // namespace
}  // namespace softdat::rds
