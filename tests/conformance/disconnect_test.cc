// SPDX-License-Identifier: BSD-3-Clause
// Disconnecting in all ways, and exactly one final event on each side (semantics 8.3, 9.6).
#include "tests/conformance/fixture.h"

namespace softdat::conformance {
namespace {

class DisconnectTest : public ConnectedTest {
 protected:
  void ExpectOneDisconnectedEach() {
    a_->ExpectConnection(a_->ep, DAT_CONNECTION_EVENT_DISCONNECTED);
    b_->ExpectConnection(b_->ep, DAT_CONNECTION_EVENT_DISCONNECTED);
    EXPECT_EQ(StateOf(a_->ep), DAT_EP_STATE_DISCONNECTED);
    EXPECT_EQ(StateOf(b_->ep), DAT_EP_STATE_DISCONNECTED);
    // Another disconnect, by either side, succeeds and causes no further event.
    for (const DAT_CLOSE_FLAGS flags : {DAT_CLOSE_ABRUPT_FLAG, DAT_CLOSE_GRACEFUL_FLAG}) {
      EXPECT_OK(dat_ep_disconnect(a_->ep, flags));
      EXPECT_OK(dat_ep_disconnect(b_->ep, flags));
    }
    ExpectNothingMore();
  }
};
CONFORMANCE_ALL_VARIANTS(DisconnectTest);

// covers: semantics 8.3, 9.6
TEST_P(DisconnectTest, AbruptByTheActiveSide) {
  ASSERT_OK(dat_ep_disconnect(a_->ep, DAT_CLOSE_ABRUPT_FLAG));
  ExpectOneDisconnectedEach();
}

// covers: semantics 8.3, 9.6
TEST_P(DisconnectTest, AbruptByThePassiveSide) {
  ASSERT_OK(dat_ep_disconnect(b_->ep, DAT_CLOSE_ABRUPT_FLAG));
  ExpectOneDisconnectedEach();
}

// covers: semantics 8.3, 9.6
TEST_P(DisconnectTest, Graceful) {
  ASSERT_OK(dat_ep_disconnect(a_->ep, DAT_CLOSE_GRACEFUL_FLAG));
  ExpectOneDisconnectedEach();
}

// covers: semantics 8.3
TEST_P(DisconnectTest, BothSidesAtOnce) {
  ASSERT_OK(dat_ep_disconnect(a_->ep, DAT_CLOSE_ABRUPT_FLAG));
  ASSERT_OK(dat_ep_disconnect(b_->ep, DAT_CLOSE_GRACEFUL_FLAG));
  ExpectOneDisconnectedEach();
}

// covers: semantics 8.3
TEST_P(DisconnectTest, BothSidesGracefullyAtOnce) {
  ASSERT_OK(dat_ep_disconnect(a_->ep, DAT_CLOSE_GRACEFUL_FLAG));
  ASSERT_OK(dat_ep_disconnect(b_->ep, DAT_CLOSE_GRACEFUL_FLAG));
  ExpectOneDisconnectedEach();
}

// covers: semantics 8.3
TEST_P(DisconnectTest, AbruptOvertakesGraceful) {
  const auto memory = a_->MakeBuffer(8);
  ASSERT_OK(PostSend(a_->ep, {memory->local()}, 1));  // no receive at the peer
  ASSERT_OK(dat_ep_disconnect(a_->ep, DAT_CLOSE_GRACEFUL_FLAG));
  ASSERT_OK(dat_ep_disconnect(a_->ep, DAT_CLOSE_GRACEFUL_FLAG));
  ASSERT_OK(dat_ep_disconnect(a_->ep, DAT_CLOSE_ABRUPT_FLAG));
  ExpectOneDisconnectedEach();
}

// covers: semantics 9.6
TEST_P(DisconnectTest, GracefulDeliversWhatWasPosted) {
  constexpr size_t kSize = 100'000;
  const auto from = a_->MakeBuffer(kSize), to = b_->MakeBuffer(kSize * 3);
  from->FillPattern(77);
  for (size_t i = 0; i < 3; ++i) ASSERT_OK(PostRecv(b_->ep, {to->local(i * kSize, kSize)}, i));
  for (size_t i = 0; i < 3; ++i) ASSERT_OK(PostSend(a_->ep, {from->local()}, i));
  ASSERT_OK(dat_ep_disconnect(a_->ep, DAT_CLOSE_GRACEFUL_FLAG));
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(b_->ExpectDto(b_->recv_evd, b_->ep, i).transfered_length, kSize);
    a_->ExpectDto(a_->request_evd, a_->ep, i);
    EXPECT_TRUE(std::equal(from->data(), from->data() + kSize, to->data() + i * kSize));
  }
  ExpectOneDisconnectedEach();
}

// covers: semantics 8.3
TEST_P(DisconnectTest, FreeingAConnectedEpDisconnectsThePeer) {
  const DAT_EP_HANDLE active = a_->MakeEp(), passive = b_->MakeEp();
  Join(*a_, active, *b_, passive);
  a_->FreeEp(active);
  b_->ExpectConnection(passive, DAT_CONNECTION_EVENT_DISCONNECTED);
  ExpectNothingMore();
}

// The messages are more than any buffer on the way holds, and none of them finds a receive.
// covers: semantics 9.6
TEST_P(DisconnectTest, AbruptBehindMessagesWithoutAReceive) {
  constexpr size_t kSize = 1 << 20;
  const auto memory = a_->MakeBuffer(kSize);
  for (uint64_t i = 0; i < 6; ++i) ASSERT_OK(PostSend(a_->ep, {memory->local()}, i));
  ASSERT_OK(dat_ep_disconnect(a_->ep, DAT_CLOSE_ABRUPT_FLAG));
  ExpectOneDisconnectedEach();
}

// covers: semantics 9.6
TEST_P(DisconnectTest, FreeingAnEpBehindMessagesWithoutAReceive) {
  constexpr size_t kSize = 1 << 20;
  const auto memory = a_->MakeBuffer(kSize);
  const DAT_EP_HANDLE active = a_->MakeEp(), passive = b_->MakeEp();
  Join(*a_, active, *b_, passive);
  for (uint64_t i = 0; i < 6; ++i) ASSERT_OK(PostSend(active, {memory->local()}, i));
  a_->FreeEp(active);
  b_->ExpectConnection(passive, DAT_CONNECTION_EVENT_DISCONNECTED);
  ExpectNothingMore();
}

// covers: semantics 8.3, 8.4, 19
TEST_P(DisconnectTest, ResetAndReuseOfTheSameEps) {
  const auto from = a_->MakeBuffer(32, 0x3C), to = b_->MakeBuffer(32);
  for (uint64_t round = 0; round < 5; ++round) {
    SCOPED_TRACE(round);
    ASSERT_OK(PostRecv(b_->ep, {to->local()}, round));
    ASSERT_OK(PostSend(a_->ep, {from->local()}, round));
    b_->ExpectDto(b_->recv_evd, b_->ep, round);
    a_->ExpectDto(a_->request_evd, a_->ep, round);
    ASSERT_OK(dat_ep_disconnect(round % 2 != 0 ? a_->ep : b_->ep, DAT_CLOSE_ABRUPT_FLAG));
    a_->ExpectConnection(a_->ep, DAT_CONNECTION_EVENT_DISCONNECTED);
    b_->ExpectConnection(b_->ep, DAT_CONNECTION_EVENT_DISCONNECTED);
    ResetBoth();
    EXPECT_EQ(StateOf(a_->ep), DAT_EP_STATE_UNCONNECTED);
    Join();
  }
}

// covers: semantics 17
TEST_P(DisconnectTest, AnUnknownFlagIsABadArgument) {
  EXPECT_RETURN(dat_ep_disconnect(a_->ep, static_cast<DAT_CLOSE_FLAGS>(2)), BadArgument(2));
  EXPECT_EQ(StateOf(a_->ep), DAT_EP_STATE_CONNECTED);
}

// covers: semantics 3.1
TEST_P(DisconnectTest, IaCloseDisconnectsThePeer) {
  std::string name = TheOptions().ia;
  DAT_IA_HANDLE ia = DAT_HANDLE_NULL;
  DAT_EVD_HANDLE async = DAT_HANDLE_NULL, dto = DAT_HANDLE_NULL, conn = DAT_HANDLE_NULL;
  DAT_PZ_HANDLE pz = DAT_HANDLE_NULL;
  DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
  ASSERT_OK(dat_ia_open(name.data(), 8, &async, &ia));
  ASSERT_OK(dat_pz_create(ia, &pz));
  ASSERT_OK(dat_evd_create(ia, 8, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG, &dto));
  ASSERT_OK(dat_evd_create(ia, 8, DAT_HANDLE_NULL, DAT_EVD_CONNECTION_FLAG, &conn));
  ASSERT_OK(dat_ep_create(ia, pz, dto, dto, conn, nullptr, &ep));
  const DAT_EP_HANDLE passive = b_->MakeEp();
  DAT_CONN_QUAL qualifier = 0;
  const DAT_PSP_HANDLE psp = Listen(*b_, &qualifier);
  ASSERT_OK(Connect(ep, qualifier));
  ASSERT_OK(dat_cr_accept(NextRequest(*b_), passive, 0, nullptr));
  b_->ExpectConnection(passive, DAT_CONNECTION_EVENT_ESTABLISHED);
  EXPECT_RETURN(dat_ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG), BadState(DAT_INVALID_STATE_IA_IN_USE));
  ASSERT_OK(dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG));
  b_->ExpectConnection(passive, DAT_CONNECTION_EVENT_DISCONNECTED);
  // All objects of the IA are gone.
  EXPECT_RETURN(dat_ep_free(ep), BadHandle(DAT_INVALID_HANDLE_EP));
  EXPECT_RETURN(dat_pz_free(pz), BadHandle(DAT_INVALID_HANDLE_PZ));
  EXPECT_RETURN(dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG), BadHandle(DAT_INVALID_HANDLE_IA));
  EXPECT_OK(dat_psp_free(psp));
}

}  // namespace
}  // namespace softdat::conformance
