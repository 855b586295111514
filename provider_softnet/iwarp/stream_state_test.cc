// SPDX-License-Identifier: BSD-3-Clause
// Every state of a stream with every event, in a table; posts that are refused; stalls and timers.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "provider_softnet/iwarp/stream_pair.h"

namespace softdat::softnet::testing {
namespace {

using transport::DisconnectMode;
using transport::EndReason;
using transport::WorkStatus;

// The state of side B when the event comes.
enum class State { kHeld, kOpen, kStalled, kDraining, kEnded };
enum class Event {
  kPostSend,
  kPostReceive,
  kReceivePosted,
  kGraceful,
  kAbrupt,
  kFin,
  kHangup,
  kGone,
  kReset,
  kTimer,
  kStaleTimer,
};
constexpr State kStates[] = {State::kHeld, State::kOpen, State::kStalled, State::kDraining,
                             State::kEnded};
constexpr Event kEvents[] = {Event::kPostSend, Event::kPostReceive, Event::kReceivePosted,
                             Event::kGraceful, Event::kAbrupt,      Event::kFin,
                             Event::kHangup,   Event::kGone,        Event::kReset,
                             Event::kTimer,    Event::kStaleTimer};

struct Outcome {
  Code code = Code::kOk;  // of the posts
  bool ended = false;
  EndReason reason = EndReason::kDisconnected;
  bool stalled = false;
  bool transmit = false;  // something must be sent now
  uint32_t actions = 0;   // some of end, close, abort, timer, resumed
};

constexpr uint32_t kWatched = kActEnded | kActCloseWrite | kActAbort | kActTimer | kActResumed;

PairOptions Options(State state) {
  PairOptions o;
  o.whole_steps = true;
  o.rnr_timeout_us = 1000;
  o.rtr = state == State::kHeld ? Rtr::kWrite : Rtr::kNone;
  return o;
}

// Brings side B into the state.
void Enter(StreamPair& pair, State state) {
  Side &a = pair.a(), &b = pair.b();
  if (state == State::kHeld) return;  // no FPDU of the initiator yet
  b.Receive(1, {});
  a.Send(1, {});
  ASSERT_TRUE(pair.Run());
  if (state == State::kStalled) {
    a.Send(2, {});
    ASSERT_TRUE(pair.Run());
  }
  if (state == State::kDraining) {
    const size_t near = b.AddBuffer(8), far = a.AddBuffer(8);
    b.Read(7, {b.Local(near, 0, 8)}, a.Remote(far, 0, 8));
    while (pair.Transmit(1)) {
    }
    b.stream->Disconnect(DisconnectMode::kGraceful);
  }
  if (state == State::kEnded) {
    b.stream->Disconnect(DisconnectMode::kAbrupt);
    while (pair.Transmit(1)) {
    }
  }
  b.stream->TakeActions();
}

Outcome Apply(StreamPair& pair, Event event) {
  Side& b = pair.b();
  Stream& s = *b.stream;
  Outcome out;
  switch (event) {
    case Event::kPostSend:
      out.code = b.Send(9, {});
      break;
    case Event::kPostReceive:
      out.code = b.Receive(9, {});
      break;
    case Event::kReceivePosted:
      s.OnReceivePosted();
      break;
    case Event::kGraceful:
      s.Disconnect(DisconnectMode::kGraceful);
      break;
    case Event::kAbrupt:
      s.Disconnect(DisconnectMode::kAbrupt);
      break;
    case Event::kFin:
      s.OnPeerFin();
      break;
    case Event::kHangup:
      s.OnPeerHangup();
      break;
    case Event::kGone:
      s.OnPeerGone();
      break;
    case Event::kReset:
      s.OnPeerReset("reset");
      break;
    case Event::kTimer:
      s.OnTimer(s.timer().id);
      break;
    case Event::kStaleTimer:
      s.OnTimer(s.timer().id + 1);
      break;
  }
  out.ended = s.ended();
  out.reason = s.end().reason;
  out.stalled = s.stalled();
  out.transmit = s.wants_transmit();
  out.actions = BitsOf(s.TakeActions()) & kWatched;
  return out;
}

const std::map<std::pair<State, Event>, Outcome>& Table() {
  constexpr auto kGone = EndReason::kDisconnected;
  constexpr auto kBroken = EndReason::kBroken;
  constexpr uint32_t kOver = kActEnded | kActCloseWrite;
  constexpr uint32_t kCut = kActEnded | kActAbort;
  static const std::map<std::pair<State, Event>, Outcome> table = {
      // Before the initiator's first FPDU, sends are taken and held.
      {{State::kHeld, Event::kPostSend}, {}},
      {{State::kHeld, Event::kPostReceive}, {}},
      {{State::kHeld, Event::kReceivePosted}, {}},
      {{State::kHeld, Event::kGraceful}, {Code::kOk, true, kGone, false, false, kOver}},
      {{State::kHeld, Event::kAbrupt}, {Code::kOk, true, kGone, false, false, kOver}},
      {{State::kHeld, Event::kFin}, {Code::kOk, true, kGone, false, false, kOver}},
      {{State::kHeld, Event::kHangup}, {}},
      {{State::kHeld, Event::kGone}, {Code::kOk, true, kGone, false, false, kCut}},
      {{State::kHeld, Event::kReset}, {Code::kOk, true, kBroken, false, false, kCut}},
      {{State::kHeld, Event::kTimer}, {}},
      {{State::kHeld, Event::kStaleTimer}, {}},

      // A leaver first says how far it has carried out the peer's messages, so it does not close
      // yet.
      {{State::kOpen, Event::kPostSend}, {Code::kOk, false, kGone, false, true, 0}},
      {{State::kOpen, Event::kPostReceive}, {}},
      {{State::kOpen, Event::kReceivePosted}, {}},
      {{State::kOpen, Event::kGraceful}, {Code::kOk, true, kGone, false, true, kActEnded}},
      {{State::kOpen, Event::kAbrupt}, {Code::kOk, true, kGone, false, true, kActEnded}},
      {{State::kOpen, Event::kFin}, {Code::kOk, true, kGone, false, false, kOver}},
      {{State::kOpen, Event::kHangup}, {}},
      {{State::kOpen, Event::kGone}, {Code::kOk, true, kGone, false, false, kCut}},
      {{State::kOpen, Event::kReset}, {Code::kOk, true, kBroken, false, false, kCut}},
      {{State::kOpen, Event::kTimer}, {}},
      {{State::kOpen, Event::kStaleTimer}, {}},

      // A message waits for a receive.
      {{State::kStalled, Event::kPostSend}, {Code::kOk, false, kGone, true, true, 0}},
      {{State::kStalled, Event::kPostReceive},
       {Code::kOk, false, kGone, false, false, kActResumed | kActTimer}},
      {{State::kStalled, Event::kReceivePosted}, {Code::kOk, false, kGone, true, false, 0}},
      {{State::kStalled, Event::kGraceful},
       {Code::kOk, true, kGone, false, true, kActEnded | kActTimer}},
      {{State::kStalled, Event::kAbrupt},
       {Code::kOk, true, kGone, false, true, kActEnded | kActTimer}},
      // The peer closed. The message gets a limited time to be taken, if the peer is still there.
      {{State::kStalled, Event::kFin}, {Code::kOk, false, kGone, true, true, kActTimer}},
      {{State::kStalled, Event::kHangup}, {Code::kOk, false, kGone, true, true, kActTimer}},
      {{State::kStalled, Event::kGone}, {Code::kOk, true, kGone, false, false, kCut | kActTimer}},
      {{State::kStalled, Event::kReset},
       {Code::kOk, true, kBroken, false, false, kCut | kActTimer}},
      // Terminate 1/2/2 must be sent first, so there is no close yet.
      {{State::kStalled, Event::kTimer}, {Code::kOk, true, kBroken, false, true, kActEnded}},
      {{State::kStalled, Event::kStaleTimer}, {Code::kOk, false, kGone, true, false, 0}},

      // A read is outstanding, and a graceful disconnect was requested.
      {{State::kDraining, Event::kPostSend}, {Code::kInvalidState, false, kGone, false, false, 0}},
      {{State::kDraining, Event::kPostReceive}, {}},
      {{State::kDraining, Event::kReceivePosted}, {}},
      {{State::kDraining, Event::kGraceful}, {}},
      {{State::kDraining, Event::kAbrupt}, {Code::kOk, true, kGone, false, true, kActEnded}},
      {{State::kDraining, Event::kFin}, {Code::kOk, true, kGone, false, false, kOver}},
      {{State::kDraining, Event::kHangup}, {}},
      {{State::kDraining, Event::kGone}, {Code::kOk, true, kGone, false, false, kCut}},
      {{State::kDraining, Event::kReset}, {Code::kOk, true, kBroken, false, false, kCut}},
      {{State::kDraining, Event::kTimer}, {}},
      {{State::kDraining, Event::kStaleTimer}, {}},

      // The stream is over. Posts are flushed, and everything else has no effect.
      {{State::kEnded, Event::kPostSend}, {Code::kOk, true, kGone, false, false, 0}},
      {{State::kEnded, Event::kPostReceive}, {Code::kOk, true, kGone, false, false, 0}},
      {{State::kEnded, Event::kReceivePosted}, {Code::kOk, true, kGone, false, false, 0}},
      {{State::kEnded, Event::kGraceful}, {Code::kOk, true, kGone, false, false, 0}},
      {{State::kEnded, Event::kAbrupt}, {Code::kOk, true, kGone, false, false, 0}},
      {{State::kEnded, Event::kFin}, {Code::kOk, true, kGone, false, false, 0}},
      {{State::kEnded, Event::kHangup}, {Code::kOk, true, kGone, false, false, 0}},
      {{State::kEnded, Event::kGone}, {Code::kOk, true, kGone, false, false, 0}},
      {{State::kEnded, Event::kReset}, {Code::kOk, true, kGone, false, false, 0}},
      {{State::kEnded, Event::kTimer}, {Code::kOk, true, kGone, false, false, 0}},
      {{State::kEnded, Event::kStaleTimer}, {Code::kOk, true, kGone, false, false, 0}},
  };
  return table;
}

TEST(StreamStates, EveryStateAgainstEveryEvent) {
  for (const State state : kStates) {
    for (const Event event : kEvents) {
      SCOPED_TRACE("state " + std::to_string(static_cast<int>(state)) + " event " +
                   std::to_string(static_cast<int>(event)));
      const auto found = Table().find({state, event});
      ASSERT_NE(found, Table().end()) << "a cell without an expectation";
      const Outcome& expect = found->second;
      StreamPair pair(Options(state));
      Enter(pair, state);
      ASSERT_EQ(pair.b().stream->stalled(), state == State::kStalled);
      ASSERT_EQ(pair.b().stream->ended(), state == State::kEnded);
      pair.b().Sends();
      pair.b().Receives();
      const Outcome got = Apply(pair, event);
      EXPECT_EQ(got.code, expect.code);
      EXPECT_EQ(got.ended, expect.ended);
      EXPECT_EQ(got.reason, expect.reason);
      EXPECT_EQ(got.stalled, expect.stalled);
      EXPECT_EQ(got.transmit, expect.transmit);
      EXPECT_EQ(got.actions, expect.actions);
      if (got.ended) {
        // There is exactly one end, everything is flushed, and posts made now are flushed, too.
        EXPECT_TRUE(pair.b().send_queue.empty() && pair.b().receive_queue.empty());
        for (const auto& c : pair.b().Sends()) EXPECT_NE(c.status, WorkStatus::kSuccess);
        EXPECT_EQ(pair.b().Send(77, {}), Code::kOk);
        EXPECT_EQ(pair.b().Receive(78, {}), Code::kOk);
        const auto flushed = pair.b().Sends();
        ASSERT_EQ(flushed.size(), 1u);
        EXPECT_EQ(flushed[0].cookie, 77u);
        EXPECT_EQ(flushed[0].status, WorkStatus::kFlushed);
      }
    }
  }
}

TEST(StreamStates, RefusedPosts) {
  PairOptions o;
  o.queue = 4;
  o.max_segments = 2;
  StreamPair pair(o);
  Side& a = pair.a();
  const size_t all = a.AddBuffer(64), read_only = a.AddBuffer(64, kPrivLocalRead);
  const size_t far = pair.b().AddBuffer(64);
  const auto remote = pair.b().Remote(far, 0, 8);
  Segment stale = a.Local(all, 0, 8);
  stale.lmr_context ^= 1;
  EXPECT_EQ(a.Send(1, {stale}), Code::kProtection);
  EXPECT_EQ(a.Receive(1, {stale}), Code::kProtection);
  EXPECT_EQ(a.Send(1, {a.Local(all, 60, 5)}), Code::kOutOfBounds);
  EXPECT_EQ(a.Receive(1, {a.Local(all, 64, 1)}), Code::kOutOfBounds);
  EXPECT_EQ(a.Receive(1, {a.Local(read_only, 0, 8)}), Code::kPrivileges);
  EXPECT_EQ(a.Read(1, {a.Local(read_only, 0, 8)}, remote), Code::kPrivileges);
  EXPECT_EQ(a.Send(1, {a.Local(read_only, 0, 8)}), Code::kOk) << "local read is always granted";
  EXPECT_EQ(a.Send(1, {a.Local(all, 0, 1), a.Local(all, 1, 1), a.Local(all, 2, 1)}),
            Code::kInvalidArgument);
  EXPECT_EQ(a.Write(1, {a.Local(all, 0, 9)}, remote), Code::kLength);
  EXPECT_EQ(a.Write(1, {a.Local(all, 0, 7)}, remote), Code::kOk);
  EXPECT_EQ(a.Read(1, {a.Local(all, 0, 7)}, remote), Code::kLength);
  EXPECT_EQ(a.Read(1, {a.Local(all, 0, 9)}, remote), Code::kOk)
      << "moves what the remote side names";
  const Segment largest = a.Local(all, 0, 0x80000000), one = a.Local(all, 0, 1);
  EXPECT_EQ(a.Send(1, {largest}), Code::kOutOfBounds) << "the length alone is legal";
  EXPECT_EQ(a.Send(1, {largest, one}), Code::kLength);
  EXPECT_EQ(a.Write(1, {largest, one}, pair.b().Remote(far, 0, 0x80000001)), Code::kLength);
  EXPECT_EQ(a.Read(1, {largest, one}, pair.b().Remote(far, 0, 0x80000001)), Code::kLength);
  Segment empty = stale;
  empty.segment_length = 0;
  EXPECT_EQ(a.Send(1, {empty}), Code::kOk) << "an empty segment is not looked at";
  EXPECT_EQ(a.Send(1, {}), Code::kQueueFull);
  EXPECT_EQ(a.send_queue.count(), 4u);
  pair.b().Receive(1, {pair.b().Local(far, 0, 8)});
  pair.b().Receive(2, {});
  ASSERT_TRUE(pair.Run());
  const auto sent = a.Sends();
  ASSERT_EQ(sent.size(), 4u);
  EXPECT_EQ(sent[2].length, 8u);
  EXPECT_FALSE(a.stream->ended());
}

TEST(StreamStates, NoReadsWhenNoneMayBeOutstanding) {
  PairOptions o;
  o.depth = 0;
  StreamPair pair(o);
  const size_t near = pair.a().AddBuffer(8), far = pair.b().AddBuffer(8);
  EXPECT_EQ(pair.a().Read(1, {pair.a().Local(near, 0, 8)}, pair.b().Remote(far, 0, 8)),
            Code::kNoResources);
  EXPECT_EQ(pair.a().Write(1, {pair.a().Local(near, 0, 8)}, pair.b().Remote(far, 0, 8)), Code::kOk);
}

TEST(StreamStates, ReadyToReceiveMessages) {
  for (const Rtr rtr : {Rtr::kNone, Rtr::kWrite, Rtr::kRead}) {
    PairOptions o;
    o.rtr = rtr;
    o.whole_steps = true;
    StreamPair pair(o);
    Side &a = pair.a(), &b = pair.b();
    a.Receive(1, {});
    b.Receive(2, {});
    ASSERT_EQ(b.Send(3, {}), Code::kOk);
    EXPECT_FALSE(b.stream->wants_transmit()) << "held until the initiator's first FPDU";
    ASSERT_TRUE(pair.Run());
    EXPECT_EQ(a.Receives().size(), rtr == Rtr::kNone ? 0u : 1u);
    EXPECT_EQ(b.saw(kActEstablished), rtr != Rtr::kNone);
    if (rtr != Rtr::kNone) continue;
    a.Send(4, {});
    ASSERT_TRUE(pair.Run());
    EXPECT_EQ(a.Receives().size(), 1u) << "any message of the initiator opens the gate";
    EXPECT_TRUE(b.saw(kActEstablished));
  }
}

TEST(StreamStates, ASendAsReadyMessageTakesNoReceive) {
  PairOptions o;
  o.rtr = Rtr::kSend;
  o.whole_steps = true;
  StreamPair pair(o);
  Side& b = pair.b();
  b.Receive(1, {});
  // An untagged Send of no bytes with MSN 1, then one with MSN 2.
  std::vector<uint8_t> frame(iwarp::kUntaggedFpduHeaderSize + 4, 0);
  for (uint32_t msn = 1; msn <= 2; ++msn) {
    iwarp::EncodeUntaggedFpduHeader(frame.data(), iwarp::Opcode::kSend, true, 0, 0, msn, 0, 0);
    pair.Inject(1, frame);
  }
  while (pair.Receive(1)) {
  }
  EXPECT_EQ(b.Receives().size(), 1u);
  EXPECT_FALSE(b.stream->ended());
}

TEST(StreamStates, TheWrongFirstMessageIsRefused) {
  for (const Rtr rtr : {Rtr::kWrite, Rtr::kRead, Rtr::kSend}) {
    PairOptions o;
    o.rtr = rtr;
    o.whole_steps = true;
    StreamPair pair(o);
    const size_t near = pair.b().AddBuffer(8);
    pair.b().Receive(1, {pair.b().Local(near, 0, 8)});
    std::vector<uint8_t> frame(iwarp::kUntaggedFpduHeaderSize + 4 + 4, 0);
    iwarp::EncodeUntaggedFpduHeader(frame.data(), iwarp::Opcode::kSend, true, 0, 0, 1, 0, 4);
    pair.Inject(1, frame);
    while (pair.Receive(1)) {
    }
    EXPECT_TRUE(pair.b().stream->ended());
    EXPECT_EQ(pair.b().stream->end().terminate, iwarp::kTermMpaNoMatchingRtr);
  }
}

TEST(StreamStates, StalledDataAreDeliveredAfterThePeerHasGone) {
  PairOptions o;
  o.depth = 0;  // the end needs to wait for no confirmation
  o.whole_steps = true;
  StreamPair pair(o);
  Side &a = pair.a(), &b = pair.b();
  const size_t sink = b.AddBuffer(64);
  for (int i = 0; i < 3; ++i) a.Send(1, {});
  ASSERT_TRUE(pair.Run());
  a.stream->Disconnect(DisconnectMode::kGraceful);
  ASSERT_TRUE(pair.Run());
  EXPECT_TRUE(a.stream->ended());
  EXPECT_FALSE(b.stream->ended());
  EXPECT_TRUE(b.stream->stalled());
  b.stream->OnPeerFin();
  for (int i = 0; i < 3; ++i) {
    EXPECT_NE(b.stream->timer().id, 0u) << "a bounded time";
    EXPECT_FALSE(b.stream->ended());
    ASSERT_EQ(b.Receive(i, {b.Local(sink, 0, 64)}), Code::kOk);
  }
  EXPECT_TRUE(b.stream->ended());
  EXPECT_EQ(b.stream->end().reason, EndReason::kDisconnected);
  const auto got = b.Receives();
  ASSERT_EQ(got.size(), 3u);
  for (const auto& c : got) EXPECT_EQ(c.status, WorkStatus::kSuccess);
}

TEST(StreamStates, GraceEndsWhenNobodyPosts) {
  PairOptions o;
  o.whole_steps = true;
  StreamPair pair(o);
  pair.a().Send(1, {});
  ASSERT_TRUE(pair.Run());
  pair.b().stream->OnPeerHangup();
  pair.b().stream->OnTimer(pair.b().stream->timer().id);
  EXPECT_TRUE(pair.b().stream->ended());
  EXPECT_EQ(pair.b().stream->end().reason, EndReason::kDisconnected);
}

TEST(StreamStates, SharedReceives) {
  PairOptions o;
  o.share_receives = true;
  StreamPair pair(o);
  Side &a = pair.a(), &b = pair.b();
  const size_t source = a.AddBuffer(10000), sink = b.AddBuffer(40000);
  EXPECT_TRUE(b.shared->SetLimit(2)) << "below it already";
  for (uint64_t i = 0; i < 3; ++i) {
    b.Receive(i, {b.Local(sink, i * 10000, 10000)});
    a.Send(i, {a.Local(source, 0, 10000)});
  }
  EXPECT_FALSE(b.shared->SetLimit(2));
  a.Send(3, {a.Local(source, 0, 10000)});
  ASSERT_TRUE(pair.Run());
  EXPECT_TRUE(b.saw(kActSharedLimit));
  EXPECT_TRUE(b.stream->stalled());
  EXPECT_EQ(b.Receives().size(), 3u);
  b.Receive(3, {b.Local(sink, 30000, 10000)});
  ASSERT_TRUE(pair.Run());
  EXPECT_TRUE(b.saw(kActResumed));
  const auto got = b.Receives();
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(got[0].cookie, 3u);
  // The end flushes what the stream has taken, but not what waits in the shared queue.
  b.Receive(4, {});
  b.stream->Disconnect(DisconnectMode::kAbrupt);
  EXPECT_EQ(b.Receives().size(), 0u);
  EXPECT_EQ(b.shared->Available(), 1u);
}

// Messages that one segment does not hold are judged whole as well, although small ones are copied
// by their posts.
TEST(StreamPosts, AreRefusedForMemoryBehindTheFirstSegment) {
  constexpr uint32_t kBuffer = 4096;
  for (const size_t mulpdu : {size_t{128}, size_t{1460}}) {
    PairOptions options;
    options.mulpdu = mulpdu;
    StreamPair pair(options);
    ASSERT_TRUE(pair.Run());
    Side& a = pair.a();
    const size_t buffer = a.AddBuffer(kBuffer);
    const size_t target = pair.b().AddBuffer(kBuffer);
    const auto inside = static_cast<uint32_t>(mulpdu + 100);
    const Segment wrong = a.Local(buffer, kBuffer - inside, inside + 1);
    EXPECT_EQ(a.Send(1, {wrong}), Code::kOutOfBounds) << mulpdu;
    EXPECT_EQ(a.Write(2, {wrong}, pair.b().Remote(target, 0, inside + 1)), Code::kOutOfBounds);
    EXPECT_TRUE(a.send_queue.empty());
  }
}

}  // namespace
}  // namespace softdat::softnet::testing
