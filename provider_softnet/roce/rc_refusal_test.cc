// SPDX-License-Identifier: BSD-3-Clause
// Everything that is refused: the NAK, the status at each end, and memory that stays as it was.
#include <functional>
#include <tuple>

#include "provider_softnet/roce/rc_test.h"

namespace softdat::softnet::testing {
namespace {

using roce::Opcode;
using transport::EndReason;
using transport::WorkStatus;

struct RcRefusalTest : RcTest {
  // The NAKs of side `i` since the last call.
  std::vector<std::string> Naks(int i) {
    std::vector<std::string> naks;
    for (const std::string& line : Sent(i)) {
      if (line.starts_with("NAK")) naks.push_back(line.substr(0, line.find(" MSN")));
    }
    return naks;
  }
};

// -------------------------------------------------------------------------------------------------
// Requests of our own requester

TEST_F(RcRefusalTest, WhatAPeerAsksFor) {
  struct Open : RcRefusalTest {
    using RcTest::a, RcTest::Add, RcTest::b, RcTest::pair, RcTest::far, RcTest::Free, RcTest::near,
        RcTest::SendInvalidate, RcTest::Send;
    void TestBody() override {}
  };
  constexpr WorkStatus kFlushed = WorkStatus::kFlushed;
  const auto wrong_key = [](DAT_RMR_TRIPLET t) {
    t.rmr_context ^= 0xffff00;
    return t;
  };
  const std::vector<
      std::tuple<const char*, std::function<void(Open*)>, const char*, WorkStatus, WorkStatus>>
      cases = {
          {"write with a wrong key",
           [&](Open* t) {
             t->a().Write(2, {t->a().Local(t->near, 0, 8)}, wrong_key(t->b().Remote(t->far, 0, 8)));
           },
           "NAK 62 1", WorkStatus::kRemoteAccess, kFlushed},
          {"write beyond the end",
           [&](Open* t) {
             t->a().Write(2, {t->a().Local(t->near, 0, 5000)},
                          t->b().Remote(t->far, kBytes - 4999, 5000));
           },
           "NAK 62 1", WorkStatus::kRemoteAccess, kFlushed},
          {"read with a wrong key",
           [&](Open* t) {
             t->a().Read(2, {t->a().Local(t->near, 0, 8)}, wrong_key(t->b().Remote(t->far, 0, 8)));
           },
           "NAK 62 1", WorkStatus::kRemoteAccess, kFlushed},
          {"misaligned atomic", [&](Open* t) { t->Add(2, 1, 4); }, "NAK 61 1",
           WorkStatus::kRemoteResponder, kFlushed},
          {"atomic beyond the end",
           [&](Open* t) {
             const Segment local = t->a().Local(t->near, 0, 8);
             transport::SendRequest r;
             r.op = transport::Op::kFetchAdd;
             r.local = {&local, 1};
             r.remote = t->b().Remote(t->far, kBytes, 8);
             t->a().PostSend(r);
           },
           "NAK 62 1", WorkStatus::kRemoteAccess, kFlushed},
          {"message longer than its receive", [&](Open* t) { t->Send(2, 101); }, "NAK 61 1",
           WorkStatus::kRemoteResponder, WorkStatus::kLocalLength},
          {"long message longer than its receive", [&](Open* t) { t->Send(2, 5000); }, "NAK 61 1",
           WorkStatus::kRemoteResponder, WorkStatus::kLocalLength},
          {"invalidates what is no window",
           [&](Open* t) { t->SendInvalidate(2, 8, t->b().buffers[t->far].key); }, "NAK 62 1",
           WorkStatus::kRemoteAccess, WorkStatus::kLocalProtection},
          {"receive without memory",
           [&](Open* t) {
             t->Free(&t->b(), t->b().buffers.size() - 1);
             t->Send(2, 8);
           },
           "NAK 63 1", WorkStatus::kRemoteResponder, WorkStatus::kLocalProtection},
      };
  for (const auto& [name, post, nak, send, receive] : cases) {
    SCOPED_TRACE(name);
    Open t;
    t.a().Write(1, {t.a().Local(t.near, 200, 8)}, t.b().Remote(t.far, 200, 8));
    const size_t inbox = t.b().AddBuffer(100);
    ASSERT_EQ(t.b().Receive(9, {t.b().Local(inbox, 0, 100)}), Code::kOk);
    post(&t);
    t.a().Send(3, {t.a().Local(t.near, 0, 8)});
    ASSERT_TRUE(t.pair->Run());
    const std::vector<std::string> naks = t.Naks(1);  // again for what was on its way
    ASSERT_FALSE(naks.empty());
    EXPECT_EQ(naks, std::vector<std::string>(naks.size(), nak));
    EXPECT_EQ(StatusesOf(t.a().Sends()), (Statuses{WorkStatus::kSuccess, send, kFlushed}));
    EXPECT_EQ(StatusesOf(t.b().Receives()), Statuses{receive});
    for (const auto& side : t.pair->sides) {
      EXPECT_EQ(side->end().reason, EndReason::kBroken);
      EXPECT_EQ(side->ends_seen, 1);
    }
    EXPECT_TRUE(t.b().end().refused);
    EXPECT_TRUE(t.b().GuardsIntact());
  }
}

// The source of the second read goes after it was asked for. The response to the first one is lost,
// and it is still answered.
TEST_F(RcRefusalTest, WhatWasReadBeforeARefusedResponseIsAnsweredAgain) {
  const size_t lost = b().AddBuffer(64);
  pair->losses[1] = {true};
  Read(1, 64);
  Transmit(0);
  Take(1);
  Transmit(1);
  ASSERT_EQ(a().Read(2, {a().Local(near, 64, 64)}, b().Remote(lost, 0, 64)), Code::kOk);
  Transmit(0);
  Take(1);
  Free(&b(), lost);
  ASSERT_TRUE(pair->Run());
  EXPECT_EQ(StatusesOf(a().Sends()), (Statuses{WorkStatus::kSuccess, WorkStatus::kRemoteAccess}));
  EXPECT_TRUE(SameBytes(64));
}

// -------------------------------------------------------------------------------------------------
// Requests that our requester does not make

TEST_F(RcRefusalTest, MalformedRequests) {
  struct Step {
    Opcode opcode;
    size_t payload;
    uint32_t length = 0;  // of a RETH
  };
  const struct {
    const char* name;
    std::vector<Step> steps;  // the last one is refused
  } cases[] = {
      {"an opcode that is reserved", {{static_cast<Opcode>(0x15), 0}}},
      {"an opcode of another service", {{static_cast<Opcode>(0x2a), 8}}},
      {"a middle without a beginning", {{Opcode::kSendMiddle, 1024}}},
      {"an end without a beginning", {{Opcode::kWriteLast, 8}}},
      {"a message within a message", {{Opcode::kSendFirst, 1024}, {Opcode::kSendOnly, 8}}},
      {"a beginning within a message", {{Opcode::kSendFirst, 1024}, {Opcode::kSendFirst, 1024}}},
      {"the end of another kind", {{Opcode::kSendFirst, 1024}, {Opcode::kWriteLast, 8}}},
      {"a read within a message", {{Opcode::kSendFirst, 1024}, {Opcode::kReadRequest, 0, 8}}},
      {"an unknown opcode within one",
       {{Opcode::kSendFirst, 1024}, {static_cast<Opcode>(0x15), 0}}},
      {"a beginning that is short", {{Opcode::kSendFirst, 1020}}},
      {"a packet beyond the MTU", {{Opcode::kSendOnly, 1025}}},
      {"an end without bytes", {{Opcode::kSendFirst, 1024}, {Opcode::kSendLast, 0}}},
      {"a read with bytes", {{Opcode::kReadRequest, 4, 8}}},
      {"a write longer than it said", {{Opcode::kWriteOnly, 16, 8}}},
      {"a long write longer than it said",
       {{Opcode::kWriteFirst, 1024, 1500}, {Opcode::kWriteMiddle, 1024}}},
      {"a write shorter than it said", {{Opcode::kWriteOnly, 8, 16}}},
      {"a write that is too long for any", {{Opcode::kWriteFirst, 1024, 0x80000001}}},
      {"a read that is too long for any", {{Opcode::kReadRequest, 0, 0x80000001}}},
      {"more reads than were agreed on",
       {{Opcode::kReadRequest, 0, 8},
        {Opcode::kReadRequest, 0, 8},
        {Opcode::kReadRequest, 0, 8},
        {Opcode::kReadRequest, 0, 8},
        {Opcode::kReadRequest, 0, 8}}},
      {"more atomics than were agreed on",
       {{Opcode::kReadRequest, 0, 8},
        {Opcode::kReadRequest, 0, 8},
        {Opcode::kReadRequest, 0, 8},
        {Opcode::kReadRequest, 0, 8},
        {Opcode::kFetchAdd, 0}}},
  };
  const std::vector<uint8_t> bytes(2000, 0xee);
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    Make({});
    Receive(9, 4000);
    uint32_t psn = 0;
    for (const Step& s : c.steps) {
      EXPECT_FALSE(b().connection->wants_transmit() && psn == 0);
      roce::Packet p = PacketTo(1, s.opcode, psn++);
      const auto at = b().Remote(far, 8192, 0);
      p.headers.reth = {at.virtual_address, at.rmr_context, s.length};
      p.headers.atomic = {at.virtual_address, at.rmr_context, 1, 0};
      p.payload = {bytes.data(), s.payload};
      pair->Inject(1, p);
    }
    Transmit(1);
    EXPECT_EQ(Naks(1), std::vector<std::string>{"NAK 61 " + std::to_string(c.steps.size() - 1)});
    EXPECT_TRUE(b().ended());
    EXPECT_EQ(b().end().reason, EndReason::kBroken);
    EXPECT_EQ(StatusesOf(b().Receives()), Statuses{WorkStatus::kFlushed});
    EXPECT_EQ(b().data(far)[8192 + 1024], Pattern(2, 8192 + 1024)) << "beyond what was announced";
    // Whoever asks again is told again.
    roce::Packet again = PacketTo(1, Opcode::kSendOnly, psn);
    again.payload = {bytes.data(), 8};
    pair->Inject(1, again);
    Transmit(1);
    EXPECT_EQ(Naks(1), std::vector<std::string>{"NAK 61 " + std::to_string(c.steps.size() - 1)});
  }
}

// -------------------------------------------------------------------------------------------------
// Answers

TEST_F(RcRefusalTest, NaksOfAPeer) {
  const struct {
    uint8_t syndrome;
    WorkStatus status;  // kSuccess: nothing comes of it
  } cases[] = {{0x61, WorkStatus::kRemoteResponder}, {0x62, WorkStatus::kRemoteAccess},
               {0x63, WorkStatus::kRemoteResponder}, {0x64, WorkStatus::kRemoteResponder},
               {0x65, WorkStatus::kSuccess},         {0x7f, WorkStatus::kSuccess},
               {0x40, WorkStatus::kSuccess},         {0x80, WorkStatus::kSuccess},
               {0xff, WorkStatus::kSuccess}};
  for (const auto& c : cases) {
    SCOPED_TRACE(static_cast<int>(c.syndrome));
    Make({});
    for (uint64_t i = 0; i < 3; ++i) Write(i, 8);
    Transmit(0);
    for (const uint32_t psn : {3u, roce::kMask24, 1u}) {  // never sent; old; the second one
      roce::Packet nak = PacketTo(0, Opcode::kAcknowledge, psn);
      nak.headers.aeth.syndrome = c.syndrome;
      ASSERT_FALSE(a().ended());
      pair->Inject(0, nak);
    }
    EXPECT_EQ(a().ended(), c.status != WorkStatus::kSuccess);
    const Statuses expect = {WorkStatus::kSuccess, c.status, WorkStatus::kFlushed};
    EXPECT_EQ(StatusesOf(a().Sends()), a().ended() ? expect : Statuses{});
  }
}

TEST_F(RcRefusalTest, AnswersThatFitNoRequest) {
  const std::vector<uint8_t> bytes(1024, 0xee);
  const struct {
    const char* name;
    Opcode opcode;
    size_t payload;
    uint32_t psn;
    bool fails;
  } cases[] = {
      {"a response that is short", Opcode::kReadResponseFirst, 1023, 1, true},
      {"a response that is empty", Opcode::kReadResponseOnly, 0, 1, true},
      {"the answer to an atomic", Opcode::kAtomicAcknowledge, 0, 1, true},
      {"a response to a write", Opcode::kReadResponseOnly, 8, 0, true},
      {"a response to nothing that was sent", Opcode::kReadResponseOnly, 8, 3, false},
      {"a response of long ago", Opcode::kReadResponseOnly, 8, roce::kMask24, false},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    Make({});
    Write(1, 8, 4096);
    Read(2, 2048);
    Transmit(0);
    roce::Packet p = PacketTo(0, c.opcode, c.psn);
    p.payload = {bytes.data(), c.payload};
    pair->Inject(0, p);
    EXPECT_EQ(a().ended(), c.fails);
    const auto sends = StatusesOf(a().Sends());
    if (c.fails) {
      EXPECT_EQ(sends[c.psn], WorkStatus::kBadResponse);
    }
    EXPECT_EQ(a().data(near)[0], Pattern(1, 0));
  }
}

}  // namespace
}  // namespace softdat::softnet::testing
