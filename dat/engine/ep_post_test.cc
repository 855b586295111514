// SPDX-License-Identifier: BSD-3-Clause
// Posts: what reaches the back end, which arguments are refused, and what follows from the back
// end's refusals (semantics 10.1, 10.2).
#include <cstring>

#include "dat/engine/testing/engine_test.h"

namespace softdat::engine::testing {
namespace {

using transport::Op;

constexpr DAT_COMPLETION_FLAGS kDefault = DAT_COMPLETION_DEFAULT_FLAG;

class EpPostTest : public EngineTest {
 protected:
  void SetUp() override {
    EngineTest::SetUp();
    ep_ = MakeEpIn(DAT_EP_STATE_CONNECTED);
    cookie_.as_64 = 0xfedcba9876543210;
  }
  FakeQueuePair& qp() { return adapter().last_qp(); }
  const transport::SendRequest& sent() { return qp().sends.back(); }
  static DAT_COMPLETION_FLAGS Flags(int flags) { return static_cast<DAT_COMPLETION_FLAGS>(flags); }

  DAT_EP_HANDLE ep_ = DAT_HANDLE_NULL;
  DAT_LMR_TRIPLET iov_[5] = {
      {0x1000, 10, 1}, {0x2000, 20, 2}, {0x3000, 30, 3}, {0x4000, 40, 4}, {0x5000, 50, 5}};
  DAT_RMR_TRIPLET remote_{0x9000, 60, 77};
};

// covers: semantics 10.1
TEST_F(EpPostTest, SendReachesTheBackEndAsPosted) {
  const int flags = DAT_COMPLETION_SUPPRESS_FLAG | DAT_COMPLETION_SOLICITED_WAIT_FLAG |
                    DAT_COMPLETION_BARRIER_FENCE_FLAG;
  ASSERT_EQ(slots::EpPostSend(ep_, 3, iov_, cookie_, Flags(flags)), DAT_SUCCESS);
  EXPECT_EQ(sent().op, Op::kSend);
  EXPECT_EQ(sent().cookie, 0xfedcba9876543210u);
  EXPECT_EQ(sent().flags, transport::kSuppress | transport::kSolicited | transport::kFence);
  ASSERT_EQ(qp().sent_segments.back().size(), 3u);
  EXPECT_EQ(std::memcmp(qp().sent_segments.back().data(), iov_, 3 * sizeof(iov_[0])), 0);
}

// covers: semantics 10.1
TEST_F(EpPostTest, RdmaCarriesTheRemoteTriplet) {
  ASSERT_EQ(slots::EpPostRdmaWrite(ep_, 1, iov_, cookie_, &remote_, kDefault), DAT_SUCCESS);
  EXPECT_EQ(sent().op, Op::kRdmaWrite);
  EXPECT_EQ(sent().remote.virtual_address, 0x9000u);
  EXPECT_EQ(sent().remote.rmr_context, 77u);
  ASSERT_EQ(slots::EpPostRdmaRead(ep_, 2, iov_, cookie_, &remote_, kDefault), DAT_SUCCESS);
  EXPECT_EQ(sent().op, Op::kRdmaRead);
  EXPECT_EQ(sent().remote.segment_length, 60u);
  EXPECT_FALSE(sent().sink_is_window);
}

// covers: semantics 16.5
TEST_F(EpPostTest, ReadToRmrNamesAWindowAsSink) {
  const DAT_RMR_TRIPLET sink{0x7000, 60, 88};
  ASSERT_EQ(slots::EpPostRdmaReadToRmr(ep_, &sink, cookie_, &remote_, kDefault), DAT_SUCCESS);
  EXPECT_EQ(sent().op, Op::kRdmaRead);
  EXPECT_TRUE(sent().sink_is_window);
  EXPECT_TRUE(sent().invalidate_sink);
  ASSERT_EQ(qp().sent_segments.back().size(), 1u);
  EXPECT_EQ(qp().sent_segments.back()[0].lmr_context, 88u);
  EXPECT_EQ(qp().sent_segments.back()[0].virtual_address, 0x7000u);
  EXPECT_EQ(slots::EpPostRdmaReadToRmr(ep_, nullptr, cookie_, &remote_, kDefault), Arg(2));
  EXPECT_EQ(slots::EpPostRdmaReadToRmr(ep_, &sink, cookie_, nullptr, kDefault), Arg(4));
  EXPECT_EQ(slots::EpPostRdmaReadToRmr(ep_, &sink, cookie_, &remote_, Flags(0x20)), Arg(5));
  adapter().limits.invalidate = false;
  EXPECT_EQ(slots::EpPostRdmaReadToRmr(ep_, &sink, cookie_, &remote_, kDefault),
            Ret(DAT_MODEL_NOT_SUPPORTED));
}

// covers: semantics 16.4
TEST_F(EpPostTest, SendWithInvalidate) {
  ASSERT_EQ(slots::EpPostSendWithInvalidate(ep_, 1, iov_, cookie_, kDefault, DAT_TRUE, 0x55),
            DAT_SUCCESS);
  EXPECT_EQ(sent().op, Op::kSendInvalidate);
  EXPECT_EQ(sent().key, 0x55u);
  ASSERT_EQ(slots::EpPostSendWithInvalidate(ep_, 1, iov_, cookie_, kDefault, DAT_FALSE, 0x55),
            DAT_SUCCESS);
  EXPECT_EQ(sent().op, Op::kSend);
  EXPECT_EQ(slots::EpPostSendWithInvalidate(ep_, 1, iov_, cookie_, kDefault,
                                            static_cast<DAT_BOOLEAN>(3), 1),
            Arg(6));
  adapter().limits.invalidate = false;
  EXPECT_EQ(slots::EpPostSendWithInvalidate(ep_, 1, iov_, cookie_, kDefault, DAT_TRUE, 1),
            Ret(DAT_MODEL_NOT_SUPPORTED));
  EXPECT_EQ(slots::EpPostSendWithInvalidate(ep_, 1, iov_, cookie_, kDefault, DAT_FALSE, 1),
            DAT_SUCCESS);
}

// covers: semantics 10.1
TEST_F(EpPostTest, EmptyMessagesAreMessages) {
  EXPECT_EQ(slots::EpPostSend(ep_, 0, nullptr, cookie_, kDefault), DAT_SUCCESS);
  EXPECT_EQ(slots::EpPostRecv(ep_, 0, nullptr, cookie_, kDefault), DAT_SUCCESS);
  EXPECT_EQ(qp().sends.size(), 1u);
  ASSERT_EQ(qp().receives.size(), 1u);
  EXPECT_EQ(qp().receives[0].cookie, 0xfedcba9876543210u);
}

// covers: semantics 10.1
TEST_F(EpPostTest, Counts) {
  EXPECT_EQ(slots::EpPostSend(ep_, 5, iov_, cookie_, kDefault), Arg(2));
  EXPECT_EQ(slots::EpPostSend(ep_, -1, iov_, cookie_, kDefault), Arg(2));
  EXPECT_EQ(slots::EpPostSend(ep_, 1, nullptr, cookie_, kDefault), Arg(3));
  EXPECT_EQ(slots::EpPostRecv(ep_, 5, iov_, cookie_, kDefault), Arg(2));
  EXPECT_EQ(slots::EpPostRecv(ep_, 1, nullptr, cookie_, kDefault), Arg(3));
  EXPECT_EQ(slots::EpPostRdmaRead(ep_, 5, iov_, cookie_, &remote_, kDefault), Arg(2));
  EXPECT_EQ(slots::EpPostRdmaWrite(ep_, 5, iov_, cookie_, &remote_, kDefault), Arg(2));
  EXPECT_EQ(slots::EpPostRdmaWrite(ep_, 1, nullptr, cookie_, &remote_, kDefault), Arg(3));
  EXPECT_EQ(slots::EpPostRdmaWrite(ep_, 1, iov_, cookie_, nullptr, kDefault), Arg(5));
  EXPECT_EQ(slots::EpPostRdmaRead(ep_, 1, iov_, cookie_, nullptr, kDefault), Arg(5));
  EXPECT_TRUE(qp().sends.empty());
  EXPECT_TRUE(qp().receives.empty());
}

// Each flag with each kind of post on a default EP.
// covers: semantics 10.2
TEST_F(EpPostTest, FlagsByKind) {
  const auto all = [this](int flag) {
    return std::vector<DAT_RETURN>{
        slots::EpPostSend(ep_, 1, iov_, cookie_, Flags(flag)),
        slots::EpPostRdmaRead(ep_, 1, iov_, cookie_, &remote_, Flags(flag)),
        slots::EpPostRdmaWrite(ep_, 1, iov_, cookie_, &remote_, Flags(flag)),
        slots::EpPostRecv(ep_, 1, iov_, cookie_, Flags(flag)),
    };
  };
  using ::testing::ElementsAre;
  EXPECT_THAT(all(DAT_COMPLETION_SUPPRESS_FLAG), ElementsAre(0, 0, 0, Arg(5)));
  EXPECT_THAT(all(DAT_COMPLETION_SOLICITED_WAIT_FLAG), ElementsAre(0, Arg(6), Arg(6), Arg(5)));
  EXPECT_THAT(all(DAT_COMPLETION_UNSIGNALLED_FLAG), ElementsAre(Arg(5), Arg(6), Arg(6), Arg(5)));
  EXPECT_THAT(all(DAT_COMPLETION_BARRIER_FENCE_FLAG), ElementsAre(0, 0, 0, Arg(5)));
  EXPECT_THAT(all(DAT_COMPLETION_EVD_THRESHOLD_FLAG), ElementsAre(Arg(5), Arg(6), Arg(6), Arg(5)));
  EXPECT_THAT(all(DAT_COMPLETION_LMR_INVALIDATE_FENCE_FLAG),
              ElementsAre(Arg(5), Arg(6), Arg(6), Arg(5)));
  EXPECT_THAT(all(0x4000), ElementsAre(Arg(5), Arg(6), Arg(6), Arg(5)));
}

// covers: semantics 8.1, 10.2
TEST_F(EpPostTest, UnsignalledIfTheEpAllowsIt) {
  DAT_EP_ATTR attr;
  std::memset(&attr, 0, sizeof(attr));
  attr.max_recv_dtos = attr.max_request_dtos = attr.max_recv_iov = attr.max_request_iov = 4;
  attr.recv_completion_flags = attr.request_completion_flags = DAT_COMPLETION_UNSIGNALLED_FLAG;
  recv_evd_ = MakeEvd(DAT_EVD_DTO_FLAG);
  request_evd_ = MakeEvd(DAT_EVD_DTO_FLAG);
  const DAT_EP_HANDLE ep = MakeEp(&attr);
  ASSERT_EQ(Connect(ep), DAT_SUCCESS);
  qp().sink().OnEstablished({});
  ASSERT_EQ(slots::EpPostSend(ep, 1, iov_, cookie_, DAT_COMPLETION_UNSIGNALLED_FLAG), DAT_SUCCESS);
  EXPECT_EQ(sent().flags, transport::kQuiet);
  ASSERT_EQ(slots::EpPostRecv(ep, 1, iov_, cookie_, DAT_COMPLETION_UNSIGNALLED_FLAG), DAT_SUCCESS);
  EXPECT_EQ(qp().receives[0].flags, transport::kQuiet);
}

// covers: semantics 10.1
TEST_F(EpPostTest, RefusalsOfTheBackEnd) {
  const auto post = [this](Code code) {
    qp().post_code = code;
    return slots::EpPostSend(ep_, 1, iov_, cookie_, kDefault);
  };
  EXPECT_EQ(post(Code::kQueueFull), Ret(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_TEP));
  EXPECT_EQ(post(Code::kProtection), Ret(DAT_PROTECTION_VIOLATION));
  EXPECT_EQ(post(Code::kPrivileges), Ret(DAT_PRIVILEGES_VIOLATION));
  EXPECT_EQ(DAT_GET_TYPE(post(Code::kOutOfBounds)), DAT_GET_TYPE(DAT_INVALID_PARAMETER));
  EXPECT_EQ(post(Code::kLength), Ret(DAT_LENGTH_ERROR));
  // The queue pair has left the connection, and its upcall is on the way.
  EXPECT_EQ(post(Code::kInvalidState), WrongState(DAT_EP_STATE_DISCONNECT_PENDING));
  EXPECT_EQ(StateOf(ep_), DAT_EP_STATE_CONNECTED);
}

// covers: semantics 3.2
TEST_F(EpPostTest, StaleAndWrongHandles) {
  const DAT_RETURN bad = Ret(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP);
  ASSERT_EQ(slots::EpFree(ep_), DAT_SUCCESS);
  for (const DAT_EP_HANDLE handle :
       {DAT_EP_HANDLE{nullptr}, ep_, pz_, reinterpret_cast<DAT_EP_HANDLE>(uintptr_t{1})}) {
    EXPECT_EQ(slots::EpPostSend(handle, 1, iov_, cookie_, kDefault), bad);
    EXPECT_EQ(slots::EpPostRecv(handle, 1, iov_, cookie_, kDefault), bad);
    EXPECT_EQ(slots::EpPostRdmaRead(handle, 1, iov_, cookie_, &remote_, kDefault), bad);
    EXPECT_EQ(slots::EpPostRdmaWrite(handle, 1, iov_, cookie_, &remote_, kDefault), bad);
    EXPECT_EQ(slots::EpPostSendWithInvalidate(handle, 1, iov_, cookie_, kDefault, DAT_TRUE, 1),
              bad);
    EXPECT_EQ(slots::EpPostRdmaReadToRmr(handle, &remote_, cookie_, &remote_, kDefault), bad);
  }
}

}  // namespace
}  // namespace softdat::engine::testing
