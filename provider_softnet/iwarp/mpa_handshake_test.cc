// SPDX-License-Identifier: BSD-3-Clause
// MPA start-up: both roles with each other and with foreign frames, split in every way.
#include "provider_softnet/iwarp/mpa_handshake.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "wire/iwarp/terminate.h"

namespace softdat::softnet {
namespace {

using Bytes = std::vector<uint8_t>;

Bytes ToBytes(const std::string& s) { return Bytes(s.begin(), s.end()); }
std::string ToString(std::span<const uint8_t> s) { return std::string(s.begin(), s.end()); }

MpaConfig Config() {
  MpaConfig c;
  c.max_read_in = 8;
  c.max_read_out = 4;
  c.conn_qual = 5000;
  return c;
}

// Takes all output, in parts of `step` bytes.
Bytes Drain(MpaHandshake& h, size_t step = 1000) {
  Bytes all;
  while (!h.output().empty()) {
    const auto out = h.output().first(std::min(step, h.output().size()));
    all.insert(all.end(), out.begin(), out.end());
    h.OnSent(out.size());
  }
  return all;
}

// Feeds `in` in parts of `step`, never more than is wanted. Returns how many bytes were taken.
size_t Feed(MpaHandshake& h, const Bytes& in, size_t step = 1000) {
  size_t at = 0;
  while (at < in.size() && h.bytes_wanted() > 0) {
    const size_t n = std::min({step, in.size() - at, h.bytes_wanted()});
    h.OnReceived(in.data() + at, n);
    at += n;
  }
  return at;
}

Bytes Frame(iwarp::MpaStart frame, const Bytes& data = {}) {
  frame.private_data = data;
  Bytes out(iwarp::kMpaMaxFrameSize);
  out.resize(iwarp::EncodeMpaStart(frame, out));
  EXPECT_FALSE(out.empty());
  return out;
}

TEST(MpaHandshake, BothRolesAgreeInEverySplit) {
  for (size_t step = 1; step <= 60; ++step) {
    const Bytes hello = ToBytes("hello"), welcome = ToBytes("welcome, it is a pleasure");
    MpaInitiator a(Config(), hello);
    MpaConfig listen = Config();
    MpaResponder b(listen);
    EXPECT_EQ(Feed(b, Drain(a, step), step), 20u + 4 + 5);
    ASSERT_EQ(b.state(), MpaState::kRequest);
    EXPECT_EQ(b.bytes_wanted(), 0u);
    EXPECT_TRUE(b.output().empty()) << "a responder answers only when told to";
    EXPECT_EQ(ToString(b.peer_private_data()), "hello");
    EXPECT_EQ(b.conn_qual(), 5000u);
    EXPECT_EQ(b.peer_ird(), 8);
    EXPECT_EQ(b.peer_ord(), 4);
    ASSERT_TRUE(b.Accept(3, 100, welcome));
    EXPECT_EQ(b.state(), MpaState::kExchange);
    const Bytes reply = Drain(b, step);
    EXPECT_EQ(b.state(), MpaState::kEstablished);
    EXPECT_EQ(Feed(a, reply, step), reply.size());
    ASSERT_EQ(a.state(), MpaState::kEstablished) << a.reason();
    EXPECT_EQ(ToString(a.peer_private_data()), "welcome, it is a pleasure");
    // Three for the consumer. Four are stated, so that confirmations have room.
    EXPECT_EQ(a.agreement().ord, 4);
    EXPECT_EQ(a.agreement().request_slots_out, 4);
    EXPECT_EQ(a.agreement().ird, 8);
    EXPECT_EQ(b.agreement().ird, 3);
    EXPECT_EQ(b.agreement().request_slots_in, 4);
    EXPECT_EQ(b.agreement().ord, 8);
    EXPECT_EQ(a.agreement().rtr, Rtr::kRead);
    EXPECT_EQ(b.agreement().rtr, Rtr::kRead);
    EXPECT_TRUE(a.agreement().empty_reads);
    EXPECT_TRUE(b.agreement().empty_reads);
    EXPECT_FALSE(a.agreement().crc);
  }
}

// The sends and writes of a consumer without reads are still confirmed. A peer that says that it
// takes no reads is not asked for any.
TEST(MpaHandshake, ConfirmationsHaveRoomWithoutReads) {
  MpaConfig none = Config();
  none.max_read_in = none.max_read_out = 0;
  MpaInitiator a(none, {});
  MpaResponder b(Config());
  Feed(b, Drain(a));
  ASSERT_TRUE(b.Accept(0, 0, {}));
  Feed(a, Drain(b));
  ASSERT_EQ(a.state(), MpaState::kEstablished) << a.reason();
  for (const MpaAgreement& agreed : {a.agreement(), b.agreement()}) {
    EXPECT_EQ(agreed.ird, 0);
    EXPECT_EQ(agreed.ord, 0);
    EXPECT_EQ(agreed.request_slots_in, 4);
    EXPECT_EQ(agreed.request_slots_out, 4);
  }
}

TEST(MpaHandshake, NoRoomForConfirmationsWhereThePeerTakesNoReads) {
  MpaInitiator a(Config(), {});
  iwarp::MpaStart reply;
  reply.reply = reply.enhanced = true;
  reply.revision = 2;
  reply.words.ird = 0;
  reply.words.ord = 4;
  Drain(a);
  Feed(a, Frame(reply));
  ASSERT_EQ(a.state(), MpaState::kEstablished) << a.reason();
  EXPECT_EQ(a.agreement().ord, 0);
  EXPECT_EQ(a.agreement().request_slots_out, 0);
}

TEST(MpaHandshake, ReadsNothingBehindTheFrame) {
  MpaInitiator a(Config(), {});
  Bytes stream = Drain(a);
  const size_t frame = stream.size();
  stream.push_back(0x55);
  MpaResponder b(Config());
  EXPECT_EQ(Feed(b, stream), frame);
}

TEST(MpaHandshake, CrcPolicies) {
  using P = CrcPolicy;
  const struct {
    P active, passive;
    bool works, crc;
  } cases[] = {
      {P::kAuto, P::kAuto, true, false}, {P::kOn, P::kAuto, true, true},
      {P::kAuto, P::kOn, true, true},    {P::kOn, P::kOn, true, true},
      {P::kOff, P::kOff, true, false},   {P::kOff, P::kAuto, true, false},
      {P::kAuto, P::kOff, true, false},  {P::kOn, P::kOff, false, false},
      {P::kOff, P::kOn, false, false},
  };
  for (const auto& c : cases) {
    MpaConfig ca = Config(), cb = Config();
    ca.crc = c.active;
    cb.crc = c.passive;
    MpaInitiator a(ca, {});
    MpaResponder b(cb);
    Feed(b, Drain(a));
    if (b.state() == MpaState::kRequest) b.Accept(1, 1, {});
    Feed(a, Drain(b));
    if (c.works) {
      EXPECT_EQ(a.state(), MpaState::kEstablished);
      EXPECT_EQ(a.agreement().crc, c.crc);
      EXPECT_EQ(b.agreement().crc, c.crc);
    } else {
      EXPECT_EQ(a.state(), MpaState::kFailed);
      EXPECT_FALSE(a.reason().empty());
    }
  }
}

TEST(MpaHandshake, ConsumersRejectAndBackEndsRefusal) {
  MpaInitiator a(Config(), {});
  MpaResponder b(Config());
  Feed(b, Drain(a));
  const Bytes no = ToBytes("no thanks");
  ASSERT_TRUE(b.Reject(no));
  EXPECT_EQ(b.output()[16] & 0x20, 0x20);
  Feed(a, Drain(b));
  EXPECT_EQ(b.state(), MpaState::kRejected);
  EXPECT_EQ(a.state(), MpaState::kRejected);
  EXPECT_EQ(ToString(a.peer_private_data()), "no thanks");

  MpaInitiator c(Config(), {});
  MpaResponder d(Config());
  Feed(d, Drain(c));
  d.Refuse(RefuseReason::kBacklog);
  Feed(c, Drain(d));
  EXPECT_EQ(c.state(), MpaState::kFailed);
  EXPECT_EQ(c.failure(), MpaFailure::kRefusedByBackend);
  EXPECT_TRUE(c.peer_private_data().empty());
  EXPECT_FALSE(c.retry_with_revision1());
}

TEST(MpaHandshake, LargeQualifiersTravelInThePrivateHeader) {
  const uint64_t qualifier = 0x123456789abcdef0;
  MpaConfig active = Config(), passive = Config();
  active.conn_qual = passive.conn_qual = qualifier;
  MpaInitiator a(active, ToBytes("abc"));
  const Bytes request = Drain(a);
  EXPECT_EQ(request.size(), 20u + 4 + 16 + 3);
  MpaResponder right(passive);
  Feed(right, request);
  EXPECT_EQ(right.state(), MpaState::kRequest);
  EXPECT_EQ(ToString(right.peer_private_data()), "abc");
  // Another qualifier that maps to the same port, and a small one.
  for (const uint64_t other : {qualifier + 65536, uint64_t{5000}}) {
    passive.conn_qual = other;
    MpaResponder wrong(passive);
    Feed(wrong, request);
    EXPECT_EQ(wrong.state(), MpaState::kFailed);
    EXPECT_EQ(wrong.failure(), MpaFailure::kQualifier);
    MpaInitiator again(active, ToBytes("abc"));
    Drain(again);
    Feed(again, Drain(wrong));
    EXPECT_EQ(again.failure(), MpaFailure::kRefusedByBackend);
  }
  // A listener on a large qualifier refuses a request that names none.
  MpaInitiator small(Config(), ToBytes("abc"));
  const Bytes plain = Drain(small);
  EXPECT_EQ(plain.size(), 20u + 4 + 3);
  passive.conn_qual = qualifier;
  MpaResponder wrong(passive);
  Feed(wrong, plain);
  EXPECT_EQ(wrong.failure(), MpaFailure::kQualifier);
}

TEST(MpaHandshake, MostPrivateData) {
  MpaConfig config = Config();
  config.conn_qual = 1ull << 40;
  const Bytes most(kMaxConsumerPrivateData, 7);
  MpaInitiator a(config, most);
  MpaResponder b(config);
  Feed(b, Drain(a));
  ASSERT_EQ(b.state(), MpaState::kRequest) << b.reason();
  EXPECT_EQ(b.peer_private_data().size(), most.size());
  const Bytes more(kMaxConsumerPrivateData + 1, 7);
  EXPECT_FALSE(b.Accept(1, 1, more));
  EXPECT_FALSE(b.Reject(more));
  EXPECT_TRUE(b.Accept(1, 1, most));
  EXPECT_EQ(MpaInitiator(config, more).state(), MpaState::kFailed);
}

TEST(MpaHandshake, Revision1HasNoWords) {
  MpaConfig config = Config();
  config.revision = 1;
  MpaInitiator a(config, ToBytes("x"));
  const Bytes request = Drain(a);
  EXPECT_EQ(request.size(), 21u);
  EXPECT_EQ(request[16], 0);
  EXPECT_EQ(request[17], 1);
  MpaResponder b(Config());
  Feed(b, request);
  ASSERT_TRUE(b.Accept(8, 4, {}));
  Feed(a, Drain(b));
  ASSERT_EQ(a.state(), MpaState::kEstablished) << a.reason();
  EXPECT_EQ(a.agreement().revision, 1);
  EXPECT_EQ(a.agreement().ird, 8);
  EXPECT_EQ(a.agreement().ord, 4);
  EXPECT_EQ(b.agreement().rtr, Rtr::kNone);
}

TEST(MpaHandshake, AFrameWithoutPrivateDataIsReadAtOnce) {
  MpaInitiator a(Config(), {});
  MpaResponder b(Config());
  const Bytes request = Drain(a);
  EXPECT_EQ(b.bytes_wanted(), request.size());
  Feed(b, request);
  ASSERT_TRUE(b.Accept(8, 4, {}));
  EXPECT_EQ(a.bytes_wanted(), Drain(b).size());
}

// A frame of revision 1 may be shorter than the first read. Whoever sent it must wait.
TEST(MpaHandshake, NothingMayComeBehindAShortFrame) {
  Bytes request = Frame({.revision = 1}), reply = Frame({.reply = true, .revision = 1});
  request.push_back(0);
  reply.push_back(0);
  MpaResponder b(Config());
  Feed(b, request);
  EXPECT_EQ(b.failure(), MpaFailure::kFrame) << b.reason();
  MpaInitiator a(Config(), {});
  Drain(a);
  Feed(a, reply);
  EXPECT_EQ(a.failure(), MpaFailure::kFrame) << a.reason();
}

TEST(MpaHandshake, AnInitiatorOfRevision1ReadsNoMoreThanAShortFrame) {
  MpaConfig config = Config();
  config.revision = 1;
  MpaInitiator a(config, {});
  Drain(a);
  Bytes reply = Frame({.reply = true, .revision = 1});
  reply.push_back(0);
  EXPECT_EQ(Feed(a, reply), iwarp::kMpaHeaderSize);
  EXPECT_EQ(a.state(), MpaState::kEstablished) << a.reason();
}

TEST(MpaHandshake, AdvisesRevision1OnlyWhenNothingCame) {
  MpaInitiator a(Config(), {});
  Drain(a);
  a.OnClosed("reset by peer");
  EXPECT_EQ(a.failure(), MpaFailure::kClosed);
  EXPECT_TRUE(a.retry_with_revision1());
  MpaInitiator b(Config(), {});
  Drain(b);
  Feed(b, ToBytes("MPA ID Rep"));
  b.OnClosed("reset by peer");
  EXPECT_FALSE(b.retry_with_revision1());
  MpaConfig one = Config();
  one.revision = 1;
  MpaInitiator c(one, {});
  Drain(c);
  c.OnClosed("reset by peer");
  EXPECT_FALSE(c.retry_with_revision1());
}

TEST(MpaHandshake, ResponderTowardsForeignInitiators) {
  struct Case {
    const char* name;
    iwarp::MpaStart frame;
    MpaState state;
    MpaFailure failure;
    Rtr rtr;
  };
  std::vector<Case> cases;
  iwarp::MpaStart plain;  // siw by default: client-server, IRD and ORD 1
  plain.enhanced = true;
  plain.words.ird = plain.words.ord = 1;
  cases.push_back({"siw", plain, MpaState::kRequest, MpaFailure::kNone, Rtr::kNone});
  iwarp::MpaStart p2p = plain;
  p2p.words.peer_to_peer = p2p.words.rtr_write = p2p.words.rtr_read = true;
  cases.push_back({"both", p2p, MpaState::kRequest, MpaFailure::kNone, Rtr::kRead});
  iwarp::MpaStart write_only = plain;
  write_only.words.peer_to_peer = write_only.words.rtr_write = true;
  cases.push_back({"write only", write_only, MpaState::kRequest, MpaFailure::kNone, Rtr::kWrite});
  iwarp::MpaStart read_only = plain;
  read_only.words.peer_to_peer = read_only.words.rtr_read = true;
  cases.push_back({"cxgb4", read_only, MpaState::kRequest, MpaFailure::kNone, Rtr::kRead});
  iwarp::MpaStart send_only = plain;
  send_only.words.peer_to_peer = send_only.words.rtr_send = true;
  cases.push_back({"send only", send_only, MpaState::kRequest, MpaFailure::kNone, Rtr::kSend});
  iwarp::MpaStart bare = plain;  // revision 2 without the words behaves as RFC 5044
  bare.enhanced = false;
  cases.push_back({"no words", bare, MpaState::kRequest, MpaFailure::kNone, Rtr::kNone});
  iwarp::MpaStart newer = plain;
  newer.revision = 7;
  cases.push_back({"revision 7", newer, MpaState::kRequest, MpaFailure::kNone, Rtr::kNone});
  iwarp::MpaStart markers = plain;
  markers.markers = true;
  cases.push_back({"markers", markers, MpaState::kFailed, MpaFailure::kMarkers, Rtr::kNone});
  iwarp::MpaStart reply = plain;
  reply.reply = true;
  cases.push_back({"a reply", reply, MpaState::kFailed, MpaFailure::kFrame, Rtr::kNone});
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    MpaResponder b(Config());
    Feed(b, Frame(c.frame, ToBytes("pd")));
    ASSERT_EQ(b.state(), c.state) << b.reason();
    EXPECT_EQ(b.failure(), c.failure);
    if (c.failure == MpaFailure::kMarkers) {
      EXPECT_EQ(b.output()[16] & 0x20, 0x20) << "answered with a reject";
      continue;
    }
    if (c.state != MpaState::kRequest) continue;
    ASSERT_TRUE(b.Accept(8, 8, {}));
    EXPECT_EQ(b.agreement().rtr, c.rtr);
    EXPECT_EQ(b.agreement().empty_reads, c.frame.words.rtr_read) << "asked for confirmations";
    if (c.frame.enhanced) {
      EXPECT_EQ(b.agreement().ird, 1);
      EXPECT_EQ(b.agreement().ord, 1);
    }
    EXPECT_EQ(b.output()[17], std::min<int>(c.frame.revision, 2));
    EXPECT_EQ((b.output()[16] & 0x10) != 0, c.frame.enhanced);
  }
}

TEST(MpaHandshake, InitiatorTowardsForeignReplies) {
  struct Case {
    const char* name;
    iwarp::MpaStart frame;
    MpaState state;
    MpaFailure failure;
    Rtr rtr = Rtr::kNone;
    bool terminate = false;
  };
  iwarp::MpaStart good;
  good.reply = good.enhanced = true;
  good.words.ird = 2;
  good.words.ord = 8;
  std::vector<Case> cases;
  cases.push_back({"client-server", good, MpaState::kEstablished, MpaFailure::kNone});
  iwarp::MpaStart read = good;
  read.words.peer_to_peer = read.words.rtr_read = true;
  cases.push_back({"read RTR", read, MpaState::kEstablished, MpaFailure::kNone, Rtr::kRead});
  iwarp::MpaStart write = good;  // siw, which can choose between write and read
  write.words.peer_to_peer = write.words.rtr_write = true;
  cases.push_back({"write RTR", write, MpaState::kEstablished, MpaFailure::kNone, Rtr::kWrite});
  iwarp::MpaStart send = good;
  send.words.peer_to_peer = send.words.rtr_send = true;
  cases.push_back({"send RTR", send, MpaState::kFailed, MpaFailure::kRtr, Rtr::kNone, true});
  iwarp::MpaStart deep = good;
  deep.words.ord = 9;
  cases.push_back({"too deep", deep, MpaState::kFailed, MpaFailure::kDepth, Rtr::kNone, true});
  iwarp::MpaStart unspecified = good;
  unspecified.words.ird = unspecified.words.ord = iwarp::kMpaDepthUnspecified;
  cases.push_back({"unspecified", unspecified, MpaState::kEstablished, MpaFailure::kNone});
  iwarp::MpaStart markers = good;
  markers.markers = true;
  cases.push_back({"markers", markers, MpaState::kFailed, MpaFailure::kMarkers});
  iwarp::MpaStart newer = good;
  newer.revision = 3;
  cases.push_back({"revision 3", newer, MpaState::kFailed, MpaFailure::kFrame});
  iwarp::MpaStart older = good;
  older.revision = 1;
  older.enhanced = false;
  cases.push_back({"revision 1", older, MpaState::kEstablished, MpaFailure::kNone});
  iwarp::MpaStart request = good;
  request.reply = false;
  cases.push_back({"a request", request, MpaState::kFailed, MpaFailure::kFrame});
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    MpaInitiator a(Config(), {});
    Drain(a);
    Feed(a, Frame(c.frame));
    EXPECT_EQ(a.state(), c.state) << a.reason();
    EXPECT_EQ(a.failure(), c.failure);
    EXPECT_EQ(a.output().empty(), !c.terminate);
    if (c.state == MpaState::kEstablished) {
      EXPECT_EQ(a.agreement().rtr, c.rtr);
      EXPECT_EQ(a.agreement().empty_reads, c.frame.words.rtr_read) << "asked for confirmations";
      EXPECT_EQ(a.agreement().ord, c.frame.enhanced && c.frame.words.ird == 2 ? 2 : 4);
    } else {
      EXPECT_FALSE(a.reason().empty());
    }
  }
}

TEST(MpaHandshake, GarbageFailsAtTheFirstWrongByte) {
  const Bytes frame = Frame([] {
    iwarp::MpaStart f;
    f.enhanced = true;
    return f;
  }());
  for (size_t wrong = 0; wrong < 16; ++wrong) {
    Bytes bad = frame;
    bad[wrong] ^= 0x80;
    MpaResponder b(Config());
    EXPECT_EQ(Feed(b, bad, 1), wrong + 1);
    EXPECT_EQ(b.failure(), MpaFailure::kNotMpa);
    EXPECT_TRUE(b.output().empty());
  }
  Bytes too_long = frame;
  too_long[18] = 0x02;
  too_long[19] = 0x01;
  MpaResponder b(Config());
  Feed(b, too_long);
  EXPECT_EQ(b.failure(), MpaFailure::kFrame);
}

}  // namespace
}  // namespace softdat::softnet
