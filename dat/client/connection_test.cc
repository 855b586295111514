// SPDX-License-Identifier: BSD-3-Clause
// Two end points of one IA: connecting, the results of a request, and each kind of post.
#include <array>
#include <cstring>

#include "dat/client/client_test.h"
#include "dat/client/endpoint.h"
#include "dat/client/events.h"
#include "dat/client/memory.h"
#include "dat/client/post.h"

namespace softdat::client {
namespace {

class ConnectionTest : public ClientTest {
 protected:
  void SetUp() override {
    ClientTest::SetUp();
    ASSERT_OK(connections_.Create(ia_, DAT_EVD_CONNECTION_FLAG, 8));
    ASSERT_OK(arrivals_.Create(ia_, DAT_EVD_CR_FLAG, 8));
    ASSERT_OK(receives_.Create(ia_, DAT_EVD_DTO_FLAG, 8));
    ASSERT_OK(requests_.Create(ia_, DAT_EVD_DTO_FLAG | DAT_EVD_RMR_BIND_FLAG, 8));
    ASSERT_OK(active_.Create(ia_, pz_, Evds()));
    ASSERT_OK(passive_.Create(ia_, pz_, Evds()));
    ASSERT_OK(service_.ListenAny(ia_, arrivals_));
    ASSERT_TRUE(memory_.Map(4096));
    ASSERT_OK(memory_.Register(ia_, pz_, kEverythingAndAtomics));
  }

  EpEvds Evds() const {
    return {.receives = receives_, .requests = requests_, .connections = connections_};
  }
  static DAT_EVENT Next(const Evd& evd) {
    DAT_EVENT event{};
    EXPECT_OK(WaitEvent(evd, kPatienceUs, &event));
    return event;
  }
  ConnectionRequest NextRequest() { return {ia_, Next(arrivals_)}; }
  void Join() {
    ASSERT_OK(Connect(active_, ia_.address(), service_.qualifier(), kPatienceUs));
    ASSERT_OK(NextRequest().Accept(passive_));
    for (int i = 0; i < 2; ++i)
      ASSERT_EQ(Next(connections_).event_number, DAT_CONNECTION_EVENT_ESTABLISHED);
  }
  // Expects that the next completion succeeded, and returns its cookie.
  static uint64_t Done(const Evd& evd) {
    const DAT_DTO_COMPLETION_EVENT_DATA data = Next(evd).event_data.dto_completion_event_data;
    EXPECT_EQ(data.status, DAT_DTO_SUCCESS);
    return data.user_cookie.as_64;
  }
  uint64_t* Word(size_t index) { return reinterpret_cast<uint64_t*>(memory_.data()) + index; }
  DAT_LMR_TRIPLET Local(size_t index) const { return memory_.Local(8 * index, 8); }
  DAT_RMR_TRIPLET Remote(size_t index) const { return memory_.Remote(8 * index, 8); }

  // In the order of their creation. They are destroyed in the opposite order.
  Evd connections_;
  Evd arrivals_;
  Evd receives_;
  Evd requests_;
  ServicePoint service_;
  Memory memory_;
  Ep active_;
  Ep passive_;
};

TEST_F(ConnectionTest, EverythingGoesInReverseOrder) {
  Join();
  passive_.Reset();
  active_.Reset();
  EXPECT_OK(memory_.Deregister());
  EXPECT_OK(service_.Free());
  for (Evd* evd : {&requests_, &receives_, &arrivals_, &connections_}) EXPECT_OK(evd->Free());
  EXPECT_OK(pz_.Free());
  EXPECT_OK(ia_.Close(DAT_CLOSE_GRACEFUL_FLAG));
}

TEST_F(ConnectionTest, PrivateDataTravelBothWays) {
  const std::array<uint8_t, 3> question{1, 2, 3};
  const std::array<uint8_t, 2> answer{8, 9};
  ASSERT_OK(Connect(active_, ia_.address(), service_.qualifier(), kPatienceUs, question));
  ConnectionRequest request = NextRequest();
  DAT_CR_PARAM param{};
  ASSERT_EQ(dat_cr_query(request, DAT_CR_FIELD_ALL, &param), DAT_RETURN{DAT_SUCCESS});
  EXPECT_EQ(std::memcmp(param.private_data, question.data(), question.size()), 0);
  ASSERT_OK(request.Accept(passive_, answer));
  for (int i = 0; i < 2; ++i) {
    const DAT_CONNECTION_EVENT_DATA data = Next(connections_).event_data.connect_event_data;
    if (data.ep_handle != active_.get()) continue;
    EXPECT_EQ(std::memcmp(data.private_data, answer.data(), answer.size()), 0);
  }
}

TEST_F(ConnectionTest, ARequestThatNobodyTakesIsRejected) {
  ASSERT_OK(Connect(active_, ia_.address(), service_.qualifier(), kPatienceUs));
  { const ConnectionRequest request = NextRequest(); }
  EXPECT_EQ(Next(connections_).event_number, DAT_CONNECTION_EVENT_PEER_REJECTED);
}

TEST_F(ConnectionTest, ARequestThatCouldNotBeAcceptedIsStillThere) {
  ASSERT_OK(Connect(active_, ia_.address(), service_.qualifier(), kPatienceUs));
  ConnectionRequest request = NextRequest();
  EXPECT_FALSE(request.Accept(active_).ok());
  EXPECT_OK(request.Accept(passive_));
  EXPECT_EQ(request.get(), DAT_HANDLE_NULL);
}

TEST_F(ConnectionTest, ListensOnAQualifierOfItsChoice) {
  const DAT_CONN_QUAL qualifier = service_.qualifier();
  EXPECT_OK(service_.Free());
  ASSERT_OK(service_.Listen(ia_, arrivals_, qualifier));
  EXPECT_EQ(service_.qualifier(), qualifier);
  Join();
}

TEST_F(ConnectionTest, MessagesOfSeveralSegmentsAndOfNone) {
  Join();
  *Word(0) = 1;
  *Word(2) = 2;
  ASSERT_OK(PostReceive(passive_, {Local(4), Local(6)}, 10));
  ASSERT_OK(PostSend(active_, {Local(0), Local(2)}, 11));
  EXPECT_EQ(Done(receives_), 10u);
  EXPECT_EQ(Done(requests_), 11u);
  EXPECT_EQ(*Word(4), 1u);
  EXPECT_EQ(*Word(6), 2u);
  ASSERT_OK(PostReceive(passive_, Local(4), 12));
  ASSERT_OK(PostSend(active_, {}, 13));
  const DAT_EVENT empty = Next(receives_);
  EXPECT_EQ(empty.event_data.dto_completion_event_data.transfered_length, 0u);
}

TEST_F(ConnectionTest, WritesAndReads) {
  Join();
  *Word(0) = 5;
  ASSERT_OK(PostWrite(active_, Local(0), Remote(8), 1));
  EXPECT_EQ(Done(requests_), 1u);
  EXPECT_EQ(*Word(8), 5u);
  ASSERT_OK(PostRead(active_, Local(1), Remote(8), 2));
  EXPECT_EQ(Done(requests_), 2u);
  EXPECT_EQ(*Word(1), 5u);
}

TEST_F(ConnectionTest, ExtendedOperations) {
  Join();
  *Word(8) = 40;
  ASSERT_OK(PostFetchAndAdd(active_, Local(0), Remote(8), 2, 1));
  EXPECT_EQ(Done(requests_), 1u);
  EXPECT_EQ(*Word(0), 40u);
  ASSERT_OK(PostCompareAndSwap(active_, Local(0), Remote(8), 42, 7, 2));
  EXPECT_EQ(Done(requests_), 2u);
  EXPECT_EQ(*Word(0), 42u);
  EXPECT_EQ(*Word(8), 7u);
  ASSERT_OK(PostReceive(passive_, Local(4), 3));
  ASSERT_OK(PostWriteImmediate(active_, Local(8), Remote(9), 0x1234, 4));
  EXPECT_EQ(Done(receives_), 3u);
  EXPECT_EQ(*Word(9), 7u);
}

TEST_F(ConnectionTest, AWindowOpensAPartOfARegion) {
  Join();
  Window window;
  ASSERT_OK(window.Create(pz_));
  ASSERT_OK(window.Bind(memory_.lmr(), 64, 8, DAT_MEM_PRIV_REMOTE_WRITE_FLAG, passive_, 1));
  const DAT_EVENT bound = Next(requests_);
  EXPECT_EQ(bound.event_data.rmr_completion_event_data.status, DAT_RMR_BIND_SUCCESS);
  EXPECT_EQ(window.Remote().virtual_address, memory_.address() + 64);
  *Word(0) = 3;
  ASSERT_OK(PostWrite(active_, Local(0), window.Remote(), 2));
  EXPECT_EQ(Done(requests_), 2u);
  EXPECT_EQ(*Word(8), 3u);
}

TEST_F(ConnectionTest, ReceivesOfASharedQueue) {
  SharedReceives shared;
  ASSERT_OK(shared.Create(ia_, pz_, 4));
  DAT_EP_PARAM param{};
  ASSERT_EQ(dat_ep_query(passive_, DAT_EP_FIELD_ALL, &param), DAT_RETURN{DAT_SUCCESS});
  param.ep_attr.max_recv_dtos = 4;
  param.ep_attr.max_recv_iov = 1;
  ASSERT_OK(passive_.CreateWithSrq(ia_, pz_, Evds(), shared, param.ep_attr));
  Join();
  *Word(0) = 9;
  ASSERT_OK(PostSharedReceive(shared, Local(4), 1));
  ASSERT_OK(PostSend(active_, Local(0), 2));
  EXPECT_EQ(Done(receives_), 1u);
  EXPECT_EQ(*Word(4), 9u);
  EXPECT_EQ(shared.Free().type(), DAT_RETURN{DAT_INVALID_STATE});
  passive_.Reset();
  EXPECT_OK(shared.Free());
}

}  // namespace
}  // namespace softdat::client
