// SPDX-License-Identifier: BSD-3-Clause
// Contract: datagrams that arrive, and datagrams that are lost.
#include <netinet/in.h>

#include <cstring>
#include <numeric>

#include "dat/transport/contract/datagram_fixture.h"

namespace softdat::transport {
namespace {

constexpr size_t kRoom = 256;  // bytes of a receive

// Whether the header names the sender, whose address has the family of `own`.
bool NamesSender(const uint8_t* header, const sockaddr_storage& own) {
  if (own.ss_family == AF_INET6) {
    sockaddr_in6 in6{};
    std::memcpy(&in6, &own, sizeof in6);
    return header[0] >> 4 == 6 && std::memcmp(header + 8, &in6.sin6_addr, 16) == 0;
  }
  sockaddr_in in{};
  std::memcpy(&in, &own, sizeof in);
  uint32_t sum = 0;  // the sum of an IPv4 header with its checksum is 0xFFFF
  for (size_t i = 20; i < kDatagramHeader; i += 2)
    sum += static_cast<uint32_t>(header[i]) << 8 | header[i + 1];
  while (sum > 0xFFFF) sum = (sum & 0xFFFF) + (sum >> 16);
  return header[20] == 0x45 && sum == 0xFFFF && std::memcmp(header + 32, &in.sin_addr, 4) == 0;
}

// covers: semantics 15.2
TEST_F(DatagramContractTest, ADatagramComesBehindItsHeader) {
  const Both met = Meet(*a_, *b_);
  const auto from = MakeMemory(*pd_, 100), to = MakeMemory(*pd_, kRoom, 0x77);
  from->FillPattern(3);
  ASSERT_EQ(Post(*b_, to->local(), 8), Code::kOk);
  ASSERT_EQ(Send(*a_, met.acceptor, from->local(), 7), Code::kOk);
  const Completion got = Next(*b_->recv_queue);
  EXPECT_EQ(got.op, Op::kReceiveDatagram);
  EXPECT_EQ(got.context, b_.get());
  EXPECT_EQ(got.cookie, 8u);
  EXPECT_EQ(got.status, WorkStatus::kSuccess);
  EXPECT_EQ(got.length, kDatagramHeader + 100);
  EXPECT_EQ(got.key, met.requester.number);
  EXPECT_TRUE(NamesSender(to->data(), adapter_->attributes().address));
  EXPECT_EQ(std::memcmp(to->data() + kDatagramHeader, from->data(), 100), 0);
  EXPECT_EQ(to->data()[kDatagramHeader + 100], 0x77);
  EXPECT_TRUE(to->guards_intact());
  const Completion sent = Next(*a_->send_queue);
  EXPECT_EQ(sent.op, Op::kSendDatagram);
  EXPECT_EQ(sent.context, a_.get());
  EXPECT_EQ(sent.cookie, 7u);
  EXPECT_EQ(sent.status, WorkStatus::kSuccess);
  EXPECT_EQ(sent.length, 100u);
}

// covers: semantics 15.2
TEST_F(DatagramContractTest, TheAcceptorAnswers) {
  const Both met = Meet(*a_, *b_);
  const auto from = MakeMemory(*pd_, 4, 0x11), to = MakeMemory(*pd_, kRoom);
  ASSERT_EQ(Post(*a_, to->local()), Code::kOk);
  ASSERT_EQ(Send(*b_, met.requester, from->local()), Code::kOk);
  const Completion got = Next(*a_->recv_queue);
  EXPECT_EQ(got.length, kDatagramHeader + 4);
  EXPECT_EQ(got.key, met.acceptor.number);
  EXPECT_EQ(to->data()[kDatagramHeader + 3], 0x11);
}

// covers: semantics 15.2
TEST_F(DatagramContractTest, TheHeaderGoesAcrossSegments) {
  const Both met = Meet(*a_, *b_);
  const auto from = MakeMemory(*pd_, 60), to = MakeMemory(*pd_, 100);
  from->FillPattern(9);
  const DAT_LMR_TRIPLET parts[] = {to->local(0, 33), to->local(33, 50), to->local(83, 17)};
  ReceiveRequest receive;
  receive.local = parts;
  ASSERT_EQ(b_->qp->PostReceive(receive), Code::kOk);
  ASSERT_EQ(Send(*a_, met.acceptor, from->local()), Code::kOk);
  EXPECT_EQ(Next(*b_->recv_queue).length, 100u);
  EXPECT_EQ(std::memcmp(to->data() + kDatagramHeader, from->data(), 60), 0);
}

// covers: semantics 15.2
TEST_F(DatagramContractTest, FromOneSenderTheyComeInOrder) {
  const Both met = Meet(*a_, *b_);
  constexpr uint64_t kMany = 32;
  const auto from = MakeMemory(*pd_, kMany), to = MakeMemory(*pd_, kMany * 64);
  std::iota(from->data(), from->data() + kMany, uint8_t{1});
  for (uint64_t i = 0; i < kMany; ++i) ASSERT_EQ(Post(*b_, to->local(i * 64, 64), i), Code::kOk);
  for (uint64_t i = 0; i < kMany; ++i)
    ASSERT_EQ(Send(*a_, met.acceptor, from->local(i, 1), i, kSuppress), Code::kOk);
  for (uint64_t i = 0; i < kMany; ++i) {
    EXPECT_EQ(Next(*b_->recv_queue).cookie, i);
    EXPECT_EQ(to->data()[i * 64 + kDatagramHeader], i + 1);
  }
  EXPECT_TRUE(Drain(*a_->send_queue).empty());  // all were suppressed
}

// covers: semantics 15.2
TEST_F(DatagramContractTest, WhatFindsNoReceiveIsLost) {
  const Both met = Meet(*a_, *b_);
  const auto from = MakeMemory(*pd_, 8, 0x22), to = MakeMemory(*pd_, kRoom);
  ASSERT_EQ(Send(*a_, met.acceptor, from->local(0, 8), 1), Code::kOk);
  EXPECT_EQ(Next(*a_->send_queue).status, WorkStatus::kSuccess);
  Settle();
  ASSERT_EQ(Post(*b_, to->local()), Code::kOk);
  Settle();
  EXPECT_TRUE(to->untouched());
  ASSERT_EQ(Send(*a_, met.acceptor, from->local(0, 5), 2), Code::kOk);
  EXPECT_EQ(Next(*b_->recv_queue).length, kDatagramHeader + 5);
}

// covers: semantics 15.2
TEST_F(DatagramContractTest, ShortReceivesStayForShorterOnes) {
  const Both met = Meet(*a_, *b_);
  const auto from = MakeMemory(*pd_, 8, 0x22), to = MakeMemory(*pd_, kDatagramHeader + 7);
  ASSERT_EQ(Post(*b_, to->local(), 4), Code::kOk);
  ASSERT_EQ(Send(*a_, met.acceptor, from->local(0, 8)), Code::kOk);
  EXPECT_EQ(Next(*a_->send_queue).status, WorkStatus::kSuccess);
  Settle();
  EXPECT_EQ(b_->qp->OutstandingReceives(), 1u);
  ASSERT_EQ(Send(*a_, met.acceptor, from->local(0, 7)), Code::kOk);
  const Completion got = Next(*b_->recv_queue);
  EXPECT_EQ(got.cookie, 4u);
  EXPECT_EQ(got.length, kDatagramHeader + 7);
  EXPECT_TRUE(to->guards_intact());
}

// covers: semantics 15.2
TEST_F(DatagramContractTest, AShortReceiveOfAnSrqFailsAndThePairGoesOn) {
  auto srq = adapter_->CreateSharedReceiveQueue(*pd_, 8, 1, nullptr);
  ASSERT_TRUE(srq.ok()) << srq.status().reason();
  auto pair = MakeDatagramPair(srq.value().get());
  const Both met = Meet(*a_, *pair);
  const auto from = MakeMemory(*pd_, 8), to = MakeMemory(*pd_, kRoom);
  const auto post = [&](size_t room, uint64_t cookie) {
    const DAT_LMR_TRIPLET local = to->local(0, room);
    ReceiveRequest receive;
    receive.cookie = cookie;
    receive.local = {&local, 1};
    return srq.value()->PostReceive(receive);
  };
  ASSERT_EQ(post(kDatagramHeader + 7, 1), Code::kOk);
  ASSERT_EQ(post(kRoom, 2), Code::kOk);
  ASSERT_EQ(Send(*a_, met.acceptor, from->local()), Code::kOk);
  const Completion failed = Next(*pair->recv_queue);
  EXPECT_EQ(failed.cookie, 1u);
  EXPECT_NE(failed.status, WorkStatus::kSuccess);
  EXPECT_EQ(failed.context, pair.get());
  ASSERT_EQ(Send(*a_, met.acceptor, from->local()), Code::kOk);
  const Completion got = Next(*pair->recv_queue);
  EXPECT_EQ(got.cookie, 2u);
  EXPECT_EQ(got.status, WorkStatus::kSuccess);
  pair.reset();  // the pair must be destroyed before its queue
}

// covers: semantics 15.2
TEST_F(DatagramContractTest, AnotherQkeyOrNumberIsLost) {
  Both met = Meet(*a_, *b_);
  const auto from = MakeMemory(*pd_, 8), to = MakeMemory(*pd_, kRoom);
  ASSERT_EQ(Post(*b_, to->local()), Code::kOk);
  const uint32_t qkey = met.acceptor.qkey, number = met.acceptor.number;
  met.acceptor.qkey = qkey + 1;
  ASSERT_EQ(Send(*a_, met.acceptor, from->local(), 1), Code::kOk);
  met.acceptor.qkey = qkey;
  met.acceptor.number = number + 0x1000;
  ASSERT_EQ(Send(*a_, met.acceptor, from->local(), 2), Code::kOk);
  for (uint64_t i = 1; i <= 2; ++i) {
    const Completion sent = Next(*a_->send_queue);
    EXPECT_EQ(sent.cookie, i);
    EXPECT_EQ(sent.status, WorkStatus::kSuccess);
  }
  Settle();
  EXPECT_TRUE(to->untouched());
  EXPECT_EQ(b_->qp->OutstandingReceives(), 1u);
}

// covers: semantics 15.2
TEST_F(DatagramContractTest, ToAPairThatIsGoneTheyAreLost) {
  const Both met = Meet(*a_, *b_);
  const auto from = MakeMemory(*pd_, 8);
  b_->qp.reset();
  ASSERT_EQ(Send(*a_, met.acceptor, from->local()), Code::kOk);
  EXPECT_EQ(Next(*a_->send_queue).status, WorkStatus::kSuccess);
  EXPECT_EQ(a_->told(), 0u);
}

// covers: semantics 15.2
TEST_F(DatagramContractTest, TheLongestArrivesAndALongerOneIsRefused) {
  const Both met = Meet(*a_, *b_);
  const uint32_t longest = adapter_->attributes().max_datagram;
  ASSERT_GE(longest, 256u);
  const auto from = MakeMemory(*pd_, longest + 1), to = MakeMemory(*pd_, longest + kRoom);
  from->FillPattern(1);
  ASSERT_EQ(Post(*b_, to->local()), Code::kOk);
  EXPECT_EQ(Send(*a_, met.acceptor, from->local()), Code::kLength);
  ASSERT_EQ(Send(*a_, met.acceptor, from->local(0, longest)), Code::kOk);
  EXPECT_EQ(Next(*b_->recv_queue).length, kDatagramHeader + longest);
  EXPECT_EQ(std::memcmp(to->data() + kDatagramHeader, from->data(), longest), 0);
  EXPECT_EQ(Drain(*a_->send_queue).size(), 1u);
}

// covers: semantics 15.2
TEST_F(DatagramContractTest, AnEmptyOneIsAHeaderAlone) {
  const Both met = Meet(*a_, *b_);
  const auto to = MakeMemory(*pd_, kDatagramHeader);
  ASSERT_EQ(Post(*b_, to->local()), Code::kOk);
  ASSERT_EQ(Send(*a_, met.acceptor, to->local(0, 0)), Code::kOk);
  EXPECT_EQ(Next(*b_->recv_queue).length, kDatagramHeader);
}

// covers: semantics 10.2, 15.2
TEST_F(DatagramContractTest, ASolicitedOneIsSo) {
  const Both met = Meet(*a_, *b_);
  const auto from = MakeMemory(*pd_, 8), to = MakeMemory(*pd_, kRoom);
  ASSERT_EQ(Post(*b_, to->local(0, 128)), Code::kOk);
  ASSERT_EQ(Post(*b_, to->local(128, 128)), Code::kOk);
  ASSERT_TRUE(b_->recv_queue->cq->Arm(true));
  ASSERT_EQ(Send(*a_, met.acceptor, from->local()), Code::kOk);
  Settle();
  EXPECT_EQ(b_->recv_queue->completions.load(), 0);
  ASSERT_EQ(Send(*a_, met.acceptor, from->local(), 0, kSolicited), Code::kOk);
  ASSERT_TRUE(Until([&] { return b_->recv_queue->completions.load() == 1; }));
}

// covers: semantics 15.2
TEST_F(DatagramContractTest, NothingButDatagramsIsPosted) {
  const Both met = Meet(*a_, *b_);
  const auto from = MakeMemory(*pd_, 8);
  const DAT_LMR_TRIPLET local = from->local();
  for (const Op op : {Op::kSend, Op::kRdmaWrite, Op::kRdmaRead, Op::kFetchAdd}) {
    SendRequest request;
    request.op = op;
    request.local = {&local, 1};
    request.remote = from->remote();
    EXPECT_EQ(a_->qp->PostSend(request), Code::kInvalidArgument);
  }
  auto reliable = MakePair(pd_.get()), peer = MakePair(pd_.get());
  Join(*reliable, *peer);
  SendRequest request;
  request.op = Op::kSendDatagram;
  request.local = {&local, 1};
  request.datagram = {.to = met.acceptor.handle.get(), .number = met.acceptor.number, .qkey = 0};
  EXPECT_EQ(reliable->qp->PostSend(request), Code::kInvalidArgument);
}

// covers: semantics 7.2, 15.2
TEST_F(DatagramContractTest, MemoryIsJudgedAtThePost) {
  const Both met = Meet(*a_, *b_);
  const auto from = MakeMemory(*pd_, 8);
  DAT_LMR_TRIPLET bad = from->local();
  bad.lmr_context ^= 0x5a5a5a;
  EXPECT_NE(Send(*a_, met.acceptor, bad), Code::kOk);
  EXPECT_NE(Send(*a_, met.acceptor, from->local(0, 9)), Code::kOk);
  Settle();
  EXPECT_TRUE(Drain(*a_->send_queue).empty());
}

}  // namespace
}  // namespace softdat::transport
