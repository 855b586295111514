// SPDX-License-Identifier: BSD-3-Clause
// Failures, the Terminate for each, and what both consumers see (RFC 5040 §7, semantics 10.5).
#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <functional>

#include "provider_softnet/iwarp/stream_pair.h"
#include "wire/iwarp/fpdu.h"
#include "wire/test_support.h"

namespace softdat::softnet::testing {
namespace {

using transport::Completion;
using transport::EndReason;
using transport::Op;
using transport::WorkStatus;
using Bytes = std::vector<uint8_t>;

PairOptions Plain(bool crc = false) {
  PairOptions o;
  o.crc = crc;
  o.rtr = Rtr::kNone;
  o.whole_steps = true;
  return o;
}

// One FPDU around a DDP segment.
Bytes Fpdu(const Bytes& ulpdu, bool crc = false) {
  Bytes out(iwarp::kFpduLengthSize);
  StoreBe16(out.data(), static_cast<uint16_t>(ulpdu.size()));
  out.insert(out.end(), ulpdu.begin(), ulpdu.end());
  const uint32_t state = Crc32cExtend(kCrc32cInit, out.data(), out.size());
  uint8_t trailer[iwarp::kFpduMaxTrailer];
  const size_t n = crc ? iwarp::StoreFpduTrailer(trailer, ulpdu.size(), state)
                       : iwarp::StoreFpduTrailerWithoutCrc(trailer, ulpdu.size());
  out.insert(out.end(), trailer, trailer + n);
  return out;
}

Bytes Tagged(iwarp::Opcode op, uint32_t stag, uint64_t to, size_t payload, bool last = true) {
  Bytes b(iwarp::kTaggedHeaderSize + payload, 0x77);
  iwarp::EncodeTagged(b.data(), op, last, stag, to);
  return b;
}

Bytes Untagged(iwarp::Opcode op, uint32_t msn, uint32_t mo, const Bytes& payload, bool last = true,
               uint32_t inval = 0) {
  Bytes b(iwarp::kUntaggedHeaderSize);
  iwarp::EncodeUntagged(b.data(), op, last, inval, iwarp::QueueOf(op), msn, mo);
  b.insert(b.end(), payload.begin(), payload.end());
  return b;
}

Bytes ReadRequest(uint32_t msn, uint32_t source, uint64_t to, uint32_t size) {
  Bytes b(iwarp::kReadRequestSize);
  iwarp::EncodeReadRequest(b.data(), {5, 0, size, source, to});
  return Untagged(iwarp::Opcode::kReadRequest, msn, 0, b);
}

Bytes AtomicRequest(uint32_t msn, uint8_t op, uint32_t stag, uint64_t to) {
  Bytes b(iwarp::kAtomicRequestSize);
  iwarp::AtomicRequest r;
  r.op = op;
  r.stag = stag;
  r.to = to;
  r.add_or_swap = 1;
  iwarp::EncodeAtomicRequest(b.data(), r);
  return Untagged(iwarp::Opcode::kAtomicRequest, msn, 0, b);
}

std::vector<WorkStatus> Statuses(const std::vector<Completion>& all) {
  std::vector<WorkStatus> s;
  for (const auto& c : all) s.push_back(c.status);
  return s;
}

// Both ends must be over and broken, by a Terminate that side `sender` sent.
void ExpectTerminated(StreamPair& pair, int sender, iwarp::TerminateCode code) {
  for (int i = 0; i < 2; ++i) {
    const StreamEnd& end = pair.sides[i]->stream->end();
    EXPECT_EQ(pair.sides[i]->ends_seen, 1);
    EXPECT_EQ(end.reason, EndReason::kBroken) << end.why;
    EXPECT_EQ(end.terminate, code) << i << ": " << end.why;
    EXPECT_EQ(end.by_peer, i != sender) << end.why;
    EXPECT_FALSE(end.why.empty());
    EXPECT_TRUE(pair.sides[i]->send_queue.empty());
    EXPECT_TRUE(pair.sides[i]->receive_queue.empty());
    EXPECT_TRUE(pair.sides[i]->GuardsIntact());
  }
}

TEST(StreamErrors, NegativeVectors) {
  const auto json = wire_test::ReadJson("wire/iwarp/testdata/iwarp_negative.json");
  size_t seen = 0;
  for (const auto& v : json["vectors"]) {
    SCOPED_TRACE(v["name"].get<std::string>());
    const std::string expect = v["expect"];
    StreamPair pair(Plain(/*crc=*/true));
    const size_t buffer = pair.b().AddBuffer(64);
    pair.b().Receive(1, {pair.b().Local(buffer, 0, 64)});
    pair.b().Receive(2, {pair.b().Local(buffer, 0, 64)});
    pair.Inject(1, wire_test::FromHex(v["hex"]));
    ASSERT_TRUE(pair.Run());
    ++seen;
    if (expect == "accept") {
      EXPECT_FALSE(pair.b().stream->ended()) << pair.b().stream->end().why;
      EXPECT_EQ(pair.b().Receives().size(), 1u);
      continue;
    }
    const size_t at = expect.rfind('(');
    unsigned layer = 2, etype = 0, code = 3;  // the short segment has no code of its own
    if (expect[at + 2] == '/') {
      ASSERT_EQ(sscanf(expect.c_str() + at, "(%u/%u/%u)", &layer, &etype, &code), 3);
    }
    ExpectTerminated(
        pair, 1,
        {static_cast<uint8_t>(layer), static_cast<uint8_t>(etype), static_cast<uint8_t>(code)});
    EXPECT_EQ(Statuses(pair.b().Receives()),
              (std::vector<WorkStatus>{WorkStatus::kFlushed, WorkStatus::kFlushed}));
    EXPECT_EQ(pair.b().data(buffer)[0], Side::kGuardByte) << "memory untouched";
  }
  EXPECT_EQ(seen, 9u);
}

TEST(StreamErrors, RefusedFrames) {
  struct Case {
    const char* name;
    std::function<Bytes(Side&)> ulpdu;
    iwarp::TerminateCode code;
  };
  using O = iwarp::Opcode;
  const auto base = [](Side& s) { return reinterpret_cast<uintptr_t>(s.data(0)); };
  const std::vector<Case> cases = {
      {"write, unknown key",
       [&](Side& s) { return Tagged(O::kWrite, s.buffers[0].key ^ 1, base(s), 8); },
       iwarp::kTermTaggedInvalidStag},
      {"write, behind",
       [&](Side& s) { return Tagged(O::kWrite, s.buffers[0].key, base(s) + 57, 8); },
       iwarp::kTermTaggedBounds},
      {"write, before",
       [&](Side& s) { return Tagged(O::kWrite, s.buffers[0].key, base(s) - 1, 8); },
       iwarp::kTermTaggedBounds},
      {"write, wrap",
       [&](Side& s) { return Tagged(O::kWrite, s.buffers[0].key, ~uint64_t{0} - 3, 8); },
       iwarp::kTermTaggedToWrap},
      {"write, no right",
       [&](Side& s) {
         return Tagged(O::kWrite, s.buffers[1].key, reinterpret_cast<uintptr_t>(s.data(1)), 8);
       },
       iwarp::kTermRemoteAccess},
      {"write, foreign zone",
       [&](Side& s) {
         const uint32_t other = s.memory->NewProtectionDomainId();
         const uint32_t key =
             s.memory->RegisterRegion(s.data(0), 64, kPrivRemoteWrite, false, other);
         return Tagged(O::kWrite, key, base(s), 8);
       },
       iwarp::kTermTaggedStagNotAssociated},
      {"read, unknown key",
       [&](Side& s) { return ReadRequest(1, s.buffers[0].key ^ 1, base(s), 8); },
       iwarp::kTermRemoteInvalidStag},
      {"read, bounds", [&](Side& s) { return ReadRequest(1, s.buffers[0].key, base(s), 65); },
       iwarp::kTermRemoteBounds},
      {"read, wrap", [&](Side& s) { return ReadRequest(1, s.buffers[0].key, ~uint64_t{0}, 65); },
       iwarp::kTermRemoteToWrap},
      {"read, no right",
       [&](Side& s) {
         return ReadRequest(1, s.buffers[1].key, reinterpret_cast<uintptr_t>(s.data(1)), 8);
       },
       iwarp::kTermRemoteAccess},
      {"read, MSN", [&](Side& s) { return ReadRequest(2, s.buffers[0].key, base(s), 8); },
       iwarp::kTermMsnRange},
      {"atomic, alignment",
       [&](Side& s) { return AtomicRequest(1, 0, s.buffers[0].key, base(s) + 4); },
       iwarp::kTermStreamCatastrophic},
      {"atomic, no right",
       [&](Side& s) {
         return AtomicRequest(1, 0, s.buffers[1].key, reinterpret_cast<uintptr_t>(s.data(1)));
       },
       iwarp::kTermRemoteAccess},
      {"atomic, operation 1",
       [&](Side& s) { return AtomicRequest(1, 1, s.buffers[0].key, base(s)); },
       iwarp::kTermUnexpectedOpcode},
      {"a response to nothing",
       [&](Side& s) { return Tagged(O::kReadResponse, s.buffers[0].key, base(s), 8); },
       iwarp::kTermTaggedInvalidStag},
      {"an atomic response to nothing",
       [&](Side&) { return Untagged(O::kAtomicResponse, 1, 0, Bytes(12)); },
       iwarp::kTermUnexpectedOpcode},
      {"invalidates a region",
       [&](Side& s) { return Untagged(O::kSendInvalidate, 1, 0, {}, true, s.buffers[0].key); },
       iwarp::kTermRemoteCannotInvalidate},
      {"read request of 27 bytes",
       [&](Side&) { return Untagged(O::kReadRequest, 1, 0, Bytes(27)); },
       iwarp::kTermRemoteOperationUnspecified},
      {"immediate of 9 bytes", [&](Side&) { return Untagged(O::kImmediate, 1, 0, Bytes(9)); },
       iwarp::kTermMessageTooLong},
      {"send in the wrong place", [&](Side&) { return Untagged(O::kSend, 1, 4, Bytes(4)); },
       iwarp::kTermInvalidMo},
      {"longer than the receive", [&](Side&) { return Untagged(O::kSend, 1, 0, Bytes(33)); },
       iwarp::kTermMessageTooLong},
  };
  for (const bool crc : {false, true}) {
    for (const Case& c : cases) {
      SCOPED_TRACE(c.name);
      StreamPair pair(Plain(crc));
      Side& b = pair.b();
      b.AddBuffer(64, kPrivLocalWrite | kPrivRemoteRead | kPrivRemoteWrite | kPrivRemoteAtomic);
      b.AddBuffer(64, kPrivLocalWrite);
      const size_t into = b.AddBuffer(32);
      b.Receive(1, {b.Local(into, 0, 32)});
      pair.Inject(1, Fpdu(c.ulpdu(b), crc));
      ASSERT_TRUE(pair.Run());
      ExpectTerminated(pair, 1, c.code);
      for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(b.data(i)[0], Side::kGuardByte) << "memory touched";
      }
    }
  }
}

TEST(StreamErrors, MoreReadsThanAgreed) {
  StreamPair pair(Plain());
  Side& b = pair.b();
  b.AddBuffer(64);
  for (uint32_t i = 1; i <= 5; ++i) {  // agreed: 4; nothing can be sent in between
    pair.Inject(1,
                Fpdu(ReadRequest(i, b.buffers[0].key, reinterpret_cast<uintptr_t>(b.data(0)), 8)));
  }
  while (pair.Receive(1)) {
  }
  EXPECT_FALSE(b.stream->ended()) << "the four are answered first";
  while (pair.Transmit(1)) {
  }
  EXPECT_TRUE(b.stream->ended());
  EXPECT_EQ(b.stream->end().terminate, iwarp::kTermStreamCatastrophic);
}

TEST(StreamErrors, RefusedReadIsBlamedExactly) {
  StreamPair pair(Plain());
  Side &a = pair.a(), &b = pair.b();
  const size_t sink = a.AddBuffer(64);
  const size_t source = b.AddBuffer(64);
  a.Receive(9, {a.Local(sink, 0, 64)});
  DAT_RMR_TRIPLET bad = b.Remote(source, 0, 8);
  bad.rmr_context ^= 1;
  a.Read(1, {a.Local(sink, 0, 8)}, b.Remote(source, 0, 8));
  a.Read(2, {a.Local(sink, 8, 8)}, bad);
  a.Send(3, {});
  a.Read(4, {a.Local(sink, 16, 8)}, b.Remote(source, 0, 8));
  ASSERT_TRUE(pair.Run());
  ExpectTerminated(pair, 1, iwarp::kTermRemoteInvalidStag);
  const auto sent = a.Sends();
  ASSERT_EQ(sent.size(), 4u);
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(sent[i].cookie, i + 1) << "post order";
  EXPECT_EQ(sent[1].status, WorkStatus::kRemoteAccess);
  EXPECT_EQ(sent[2].status, WorkStatus::kFlushed);
  EXPECT_EQ(sent[3].status, WorkStatus::kFlushed);
  EXPECT_EQ(Statuses(a.Receives()), std::vector<WorkStatus>{WorkStatus::kFlushed});
}

TEST(StreamErrors, RefusedWriteBehindAPendingReadIsBlamed) {
  PairOptions options = Plain();
  options.confirm = true;
  StreamPair pair(options);
  Side &a = pair.a(), &b = pair.b();
  const size_t buffer = a.AddBuffer(64), target = b.AddBuffer(64);
  DAT_RMR_TRIPLET bad = b.Remote(target, 0, 8);
  bad.virtual_address += 60;
  a.Read(1, {a.Local(buffer, 0, 8)}, b.Remote(target, 0, 8));
  a.Write(2, {a.Local(buffer, 0, 8)}, bad);
  a.Send(3, {});
  while (pair.Transmit(0)) {
  }
  ASSERT_TRUE(pair.Run());
  ExpectTerminated(pair, 1, iwarp::kTermTaggedBounds);
  EXPECT_EQ(Statuses(a.Sends()),
            (std::vector<WorkStatus>{WorkStatus::kSuccess, WorkStatus::kRemoteAccess,
                                     WorkStatus::kFlushed}));
}

TEST(StreamErrors, TooLongForTheReceive) {
  StreamPair pair(Plain());
  Side &a = pair.a(), &b = pair.b();
  const size_t source = a.AddBuffer(64), sink = b.AddBuffer(64);
  b.Receive(1, {b.Local(sink, 0, 31)});
  b.Receive(2, {b.Local(sink, 32, 32)});
  b.Send(3, {});
  a.Send(4, {a.Local(source, 0, 32)});
  while (pair.Transmit(0)) {
  }
  ASSERT_TRUE(pair.Run());
  ExpectTerminated(pair, 1, iwarp::kTermMessageTooLong);
  const auto received = b.Receives();
  EXPECT_EQ(Statuses(received),
            (std::vector<WorkStatus>{WorkStatus::kLocalLength, WorkStatus::kFlushed}));
  EXPECT_EQ(received[0].cookie, 1u);
  EXPECT_EQ(Statuses(b.Sends()), std::vector<WorkStatus>{WorkStatus::kFlushed});
  EXPECT_EQ(b.data(sink)[0], Side::kGuardByte);
}

TEST(StreamErrors, MemoryFreedWhileQueued) {
  enum { kSendSource, kReceiveBuffer, kReadSink, kBindRegion };
  for (const int what : {kSendSource, kReceiveBuffer, kReadSink}) {
    for (const uint32_t size : {100u, 5000u}) {
      SCOPED_TRACE(what * 10000 + size);
      StreamPair pair(Plain());
      Side &a = pair.a(), &b = pair.b();
      const size_t buffer = a.AddBuffer(8192), other = b.AddBuffer(8192);
      if (what == kReadSink) {
        a.Read(1, {a.Local(buffer, 0, size)}, b.Remote(other, 0, size));
      } else {
        b.Receive(1, {b.Local(other, 0, size)});
        // Behind a message that is too long to be copied by its post, a small one waits, too.
        if (what == kSendSource) {
          a.Write(0, {a.Local(a.AddBuffer(5000), 0, 5000)}, b.Remote(other, 0, 5000));
        }
        a.Send(1, {a.Local(buffer, 0, size)});
      }
      if (what == kSendSource) {
        ASSERT_TRUE(a.memory->DeregisterRegion(a.buffers[buffer].key));
      }
      if (what == kReceiveBuffer) {
        ASSERT_TRUE(b.memory->DeregisterRegion(b.buffers[other].key));
      }
      if (what == kReadSink) {
        ASSERT_TRUE(pair.Transmit(0));
        ASSERT_TRUE(a.memory->DeregisterRegion(a.buffers[buffer].key));
      }
      ASSERT_TRUE(pair.Run());
      const iwarp::TerminateCode codes[] = {iwarp::kTermLocalCatastrophic,
                                            iwarp::kTermRemoteOperationUnspecified,
                                            iwarp::kTermTaggedInvalidStag};
      ExpectTerminated(pair, what == kReceiveBuffer ? 1 : 0, codes[what]);
      if (what == kReceiveBuffer) {
        EXPECT_EQ(Statuses(b.Receives()), std::vector<WorkStatus>{WorkStatus::kLocalProtection});
      } else {
        std::vector<WorkStatus> expected{WorkStatus::kLocalProtection};
        if (what == kSendSource) expected.insert(expected.begin(), WorkStatus::kSuccess);
        EXPECT_EQ(Statuses(a.Sends()), expected);
      }
    }
  }
}

// A post that finds nothing in front of it but messages that were copied copies a small message, so
// the memory is no longer needed. A message that it cannot read is refused as in any other post,
// and leaves no trace.
TEST(StreamErrors, SmallMessagesAreCopiedByTheirPosts) {
  StreamPair pair(Plain());
  Side &a = pair.a(), &b = pair.b();
  const size_t buffer = a.AddBuffer(8192), other = b.AddBuffer(8192);
  for (uint64_t i = 1; i <= 2; ++i) {
    b.Receive(i, {b.Local(other, 0, 100)});
    a.Send(i, {a.Local(buffer, 0, 100)});
  }
  ASSERT_TRUE(a.memory->DeregisterRegion(a.buffers[buffer].key));
  transport::SendRequest request;
  const Segment gone = a.Local(buffer, 0, 100);
  request.local = {&gone, 1};
  EXPECT_EQ(a.stream->PostSend(request), Code::kProtection);
  ASSERT_TRUE(pair.Run());
  EXPECT_EQ(Statuses(b.Receives()), std::vector<WorkStatus>(2, WorkStatus::kSuccess));
  EXPECT_EQ(Statuses(a.Sends()), std::vector<WorkStatus>(2, WorkStatus::kSuccess));
  EXPECT_EQ(a.stream->PostSend(request), Code::kProtection);  // nothing is in front of it now
  EXPECT_TRUE(a.send_queue.empty());
  ASSERT_TRUE(pair.Run());
  EXPECT_EQ(a.ends_seen, 0);
}

// Posts that find no room for a copy wait for their turn, in order, and those that cannot be read
// are refused among them as well.
TEST(StreamErrors, MoreSmallMessagesThanRoomForCopies) {
  PairOptions o = Plain();
  o.queue = 512;
  StreamPair pair(o);
  Side &a = pair.a(), &b = pair.b();
  constexpr uint32_t kMessages = 400;
  const size_t from = a.AddBuffer(kMessages * 8), to = b.AddBuffer(kMessages * 8);
  Segment wrong = a.Local(from, 0, 8);
  wrong.lmr_context ^= 0xffff00;
  for (uint32_t i = 0; i < kMessages; ++i) {
    std::memcpy(a.data(from) + size_t{i} * 8, &i, sizeof(i));
    ASSERT_EQ(b.Receive(i, {b.Local(to, i * 8, 8)}), Code::kOk);
    ASSERT_EQ(a.Send(i, {a.Local(from, i * 8, 8)}), Code::kOk);
    EXPECT_EQ(a.Send(i, {wrong}), Code::kProtection);
  }
  ASSERT_TRUE(pair.Run());
  const auto received = b.Receives();
  ASSERT_EQ(received.size(), kMessages);
  for (uint32_t i = 0; i < kMessages; ++i) ASSERT_EQ(received[i].cookie, i);
  EXPECT_EQ(Statuses(received), std::vector<WorkStatus>(kMessages, WorkStatus::kSuccess));
  EXPECT_EQ(Statuses(a.Sends()), std::vector<WorkStatus>(kMessages, WorkStatus::kSuccess));
  EXPECT_EQ(std::memcmp(a.data(from), b.data(to), size_t{kMessages} * 8), 0);
}

TEST(StreamErrors, MemoryFreedInTheMiddleOfATransfer) {
  PairOptions o = Plain();
  o.mulpdu = 65535;
  o.pipe_capacity = 5000;  // the first FPDU is sent in part
  StreamPair pair(o);
  Side &a = pair.a(), &b = pair.b();
  const size_t buffer = a.AddBuffer(100000), other = b.AddBuffer(100000);
  a.Write(1, {a.Local(buffer, 0, 100000)}, b.Remote(other, 0, 100000));
  ASSERT_TRUE(pair.Transmit(0));
  ASSERT_TRUE(a.memory->DeregisterRegion(a.buffers[buffer].key));
  pair.Transmit(0);
  EXPECT_TRUE(pair.Receive(1));
  pair.Transmit(0);
  EXPECT_TRUE(a.stream->ended());
  EXPECT_TRUE(a.saw(kActAbort)) << "an FPDU that cannot be finished leaves nothing but a reset";
  EXPECT_EQ(Statuses(a.Sends()), std::vector<WorkStatus>{WorkStatus::kLocalProtection});
  ASSERT_TRUE(pair.Run());
  EXPECT_EQ(b.stream->end().reason, EndReason::kBroken);
}

TEST(StreamErrors, BadReadResponses) {
  const struct {
    const char* name;
    int stag, to, size;
    bool last;
  } cases[] = {{"other key", 1, 0, 16, true},
               {"other offset", 0, 1, 16, true},
               {"too short", 0, 0, 15, true},
               {"too long", 0, 0, 17, true},
               {"no last mark", 0, 0, 16, false}};
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    StreamPair pair(Plain());
    Side& a = pair.a();
    const size_t sink = a.AddBuffer(64), far = pair.b().AddBuffer(64);
    a.Read(1, {a.Local(sink, 0, 16)}, pair.b().Remote(far, 0, 16));
    while (pair.Transmit(0)) {
    }
    pair.pipes[0].Clear();
    pair.Inject(0,
                Fpdu(Tagged(iwarp::Opcode::kReadResponse,
                            a.buffers[sink].key + static_cast<uint32_t>(c.stag),
                            reinterpret_cast<uintptr_t>(a.data(sink)) + static_cast<uint64_t>(c.to),
                            static_cast<size_t>(c.size), c.last)));
    ASSERT_TRUE(pair.Run());
    EXPECT_EQ(Statuses(a.Sends()), std::vector<WorkStatus>{WorkStatus::kBadResponse});
    EXPECT_EQ(a.data(sink)[0], Side::kGuardByte);
    EXPECT_TRUE(a.stream->ended());
  }
}

TEST(StreamErrors, LostConnection) {
  StreamPair pair(Plain());
  Side& a = pair.a();
  const size_t buffer = a.AddBuffer(64);
  const size_t far = pair.b().AddBuffer(64);
  a.Receive(9, {});
  a.Read(1, {a.Local(buffer, 0, 8)}, pair.b().Remote(far, 0, 8));
  a.Send(2, {});
  while (pair.Transmit(0)) {
  }
  a.stream->OnPeerReset("Connection reset by peer");
  EXPECT_EQ(a.stream->end().reason, EndReason::kBroken);
  EXPECT_NE(a.stream->end().why.find("Connection reset"), std::string::npos);
  EXPECT_EQ(Statuses(a.Sends()),
            (std::vector<WorkStatus>{WorkStatus::kTransport, WorkStatus::kFlushed}));
  EXPECT_EQ(Statuses(a.Receives()), std::vector<WorkStatus>{WorkStatus::kFlushed});
  EXPECT_TRUE(a.stream->TakeActions().abort);
}

TEST(StreamErrors, FinAtEveryByte) {
  const Bytes one = Fpdu(Untagged(iwarp::Opcode::kSend, 1, 0, Bytes(10, 3)));
  for (const bool crc : {false, true}) {
    const Bytes frame = crc ? Fpdu(Untagged(iwarp::Opcode::kSend, 1, 0, Bytes(10, 3)), true) : one;
    for (size_t cut = 0; cut <= frame.size(); ++cut) {
      SCOPED_TRACE(cut);
      StreamPair pair(Plain(crc));
      Side& b = pair.b();
      const size_t sink = b.AddBuffer(64);
      b.Receive(1, {b.Local(sink, 0, 64)});
      pair.Inject(1, Bytes(frame.begin(), frame.begin() + static_cast<ptrdiff_t>(cut)));
      pair.pipes[0].fin = true;
      while (pair.Receive(1)) {
      }
      ASSERT_TRUE(b.stream->ended());
      EXPECT_EQ(b.stream->end().reason, EndReason::kDisconnected);
      EXPECT_TRUE(b.saw(kActCloseWrite));
      EXPECT_EQ(b.Receives().size(), 1u);
    }
  }
}

TEST(StreamErrors, IncomingTerminateOfSiwIsReadTolerantly) {
  StreamPair pair(Plain());
  Side& a = pair.a();
  a.Receive(1, {});
  // The nibbles are swapped: layer 1, type 1, code 0 is the same either way. There are no header
  // bits.
  pair.Inject(0, Fpdu(Untagged(iwarp::Opcode::kTerminate, 1, 0, {0x11, 0x00, 0x00, 0x00})));
  ASSERT_TRUE(pair.Run());
  EXPECT_EQ(a.stream->end().terminate, iwarp::kTermTaggedInvalidStag);
  EXPECT_TRUE(a.stream->end().by_peer);
  // A Terminate with no valid content still ends the connection properly.
  StreamPair other(Plain());
  other.Inject(0, Fpdu(Untagged(iwarp::Opcode::kTerminate, 9, 7, {0x11})));
  ASSERT_TRUE(other.Run());
  EXPECT_TRUE(other.a().stream->ended());
  EXPECT_EQ(other.a().stream->end().reason, EndReason::kBroken);
}

}  // namespace
}  // namespace softdat::softnet::testing
