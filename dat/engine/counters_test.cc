// SPDX-License-Identifier: BSD-3-Clause
// The counters of the InfiniBand extension: what changes them, and how they are read, printed,
// stopped and reset (dat2/api/ib_counters.h).
#include "dat/engine/object/counters.h"

#include <algorithm>
#include <array>
#include <cstdarg>
#include <thread>

#include "dat/engine/testing/engine_test.h"
#include "dat2/dat_ib_extensions.h"

namespace softdat::engine::testing {
namespace {

using ::testing::HasSubstr;
using transport::Completion;
using transport::EndReason;
using transport::Op;
using transport::RejectReason;
using transport::WorkStatus;

// dat_extension_op(), after the handle was looked up.
DAT_RETURN Extension(DAT_HANDLE handle, int op, ...) {
  va_list args;
  va_start(args, op);
  const DAT_RETURN ret = slots::HandleExtendedop(handle, op, args);
  va_end(args);
  return ret;
}

constexpr DAT_UINT64 kUnread = ~DAT_UINT64{0};

class CountersTest : public EngineTest {
 protected:
  static DAT_UINT64 Read(DAT_HANDLE handle, int counter, int reset = 0) {
    DAT_UINT64 value = kUnread;
    EXPECT_EQ(Extension(handle, DAT_IB_QUERY_COUNTERS_OP, counter, &value, reset), DAT_SUCCESS);
    return value;
  }
  DAT_UINT64 Ia(DAT_IA_COUNTERS counter) { return Read(ia_, counter); }
  FakeCompletionQueue& recv_queue() {
    return *static_cast<FakeCompletionQueue*>(adapter().last_qp().attributes.recv_cq);
  }
  void Arrive(DAT_EP_HANDLE ep, Op op, uint64_t length, WorkStatus status = WorkStatus::kSuccess) {
    Completion completion;
    completion.context = ep;
    completion.op = op;
    completion.length = length;
    completion.status = status;
    recv_queue().Add(completion);
  }

  DAT_LMR_TRIPLET local_[2] = {{0x1000, 30, 1}, {0x2000, 12, 1}};
  DAT_RMR_TRIPLET remote_{0x4000, 42, 2};
};

TEST_F(CountersTest, EveryObjectIsCountedWhenItComesAndWhenItGoes) {
  const DAT_UINT64 evds = Ia(DCNT_IA_EVD_CREATE);
  EXPECT_EQ(evds, 5u) << "four of the fixture, and the one for asynchronous errors";
  const DAT_EVD_HANDLE evd = MakeEvd(DAT_EVD_SOFTWARE_FLAG);
  EXPECT_EQ(slots::EvdFree(recv_evd_), DAT_SUCCESS);
  recv_evd_ = MakeEvd(DAT_EVD_DTO_FLAG);
  EXPECT_EQ(Ia(DCNT_IA_EVD_CREATE), evds + 2);
  EXPECT_EQ(Ia(DCNT_IA_EVD_FREE), 1u);
  EXPECT_EQ(slots::EvdFree(evd), DAT_SUCCESS);
  EXPECT_EQ(Ia(DCNT_IA_EVD_FREE), 2u);

  const DAT_EP_HANDLE ep = MakeEp();
  EXPECT_EQ(slots::PzFree(pz_), Ret(DAT_INVALID_STATE, DAT_INVALID_STATE_PZ_IN_USE));
  EXPECT_EQ(Ia(DCNT_IA_PZ_CREATE), 1u);
  EXPECT_EQ(Ia(DCNT_IA_PZ_FREE), 0u) << "refused";
  EXPECT_EQ(slots::EpFree(ep), DAT_SUCCESS);
  EXPECT_EQ(slots::PzFree(pz_), DAT_SUCCESS);
  EXPECT_EQ(Ia(DCNT_IA_EP_CREATE), 1u);
  EXPECT_EQ(Ia(DCNT_IA_EP_FREE), 1u);
  EXPECT_EQ(Ia(DCNT_IA_PZ_FREE), 1u);
}

TEST_F(CountersTest, ServicePointsCountWhenTheyListen) {
  DAT_PSP_HANDLE psp = DAT_HANDLE_NULL, any = DAT_HANDLE_NULL, second = DAT_HANDLE_NULL;
  DAT_CONN_QUAL chosen = 0;
  const auto create = [&](DAT_PSP_HANDLE* out) {
    return slots::PspCreate(ia_, kQual, cr_evd_, DAT_PSP_CONSUMER_FLAG, out);
  };
  ASSERT_EQ(create(&psp), DAT_SUCCESS);
  ASSERT_EQ(create(&second), Ret(DAT_CONN_QUAL_IN_USE));
  ASSERT_EQ(slots::PspCreateAny(ia_, &chosen, cr_evd_, DAT_PSP_CONSUMER_FLAG, &any), DAT_SUCCESS);
  ASSERT_EQ(slots::PspFree(any), DAT_SUCCESS);
  EXPECT_EQ(Ia(DCNT_IA_PSP_CREATE), 1u);
  EXPECT_EQ(Ia(DCNT_IA_PSP_CREATE_ANY), 1u);
  EXPECT_EQ(Ia(DCNT_IA_PSP_FREE), 1u);
  EXPECT_EQ(Ia(DCNT_IA_CM_LISTEN), 2u);
}

// covers: semantics 15.2
TEST_F(CountersTest, PostsAndTheirBytes) {
  const DAT_EP_HANDLE ep = MakeEpIn(DAT_EP_STATE_CONNECTED);
  constexpr auto kFlags = DAT_COMPLETION_DEFAULT_FLAG;
  ASSERT_EQ(slots::EpPostSend(ep, 2, local_, cookie_, kFlags), DAT_SUCCESS);
  ASSERT_EQ(slots::EpPostSend(ep, 0, nullptr, cookie_, kFlags), DAT_SUCCESS);
  ASSERT_EQ(slots::EpPostRecv(ep, 1, local_, cookie_, kFlags), DAT_SUCCESS);
  ASSERT_EQ(slots::EpPostRdmaWrite(ep, 2, local_, cookie_, &remote_, kFlags), DAT_SUCCESS);
  ASSERT_EQ(slots::EpPostRdmaRead(ep, 1, local_ + 1, cookie_, &remote_, kFlags), DAT_SUCCESS);
  ASSERT_EQ(Extension(ep, DAT_IB_RDMA_WRITE_IMMED_OP, 1, local_, cookie_, &remote_, 7, kFlags),
            DAT_SUCCESS);
  ASSERT_EQ(
      Extension(ep, DAT_IB_FETCH_AND_ADD_OP, DAT_UINT64{1}, local_, cookie_, &remote_, kFlags),
      DAT_SUCCESS);
  ASSERT_EQ(Extension(ep, DAT_IB_CMP_AND_SWAP_OP, DAT_UINT64{1}, DAT_UINT64{2}, local_, cookie_,
                      &remote_, kFlags),
            DAT_SUCCESS);
  // A refused post does not count as a post.
  adapter().last_qp().post_code = Code::kQueueFull;
  EXPECT_NE(slots::EpPostSend(ep, 2, local_, cookie_, kFlags), DAT_SUCCESS);
  EXPECT_NE(slots::EpPostRecv(ep, 1, local_, cookie_, kFlags), DAT_SUCCESS);

  std::array<DAT_UINT64, DCNT_EP_ALL_COUNTERS> all;
  ASSERT_EQ(Extension(ep, DAT_IB_QUERY_COUNTERS_OP, int{DCNT_EP_ALL_COUNTERS}, all.data(), 0),
            DAT_SUCCESS);
  std::array<DAT_UINT64, DCNT_EP_ALL_COUNTERS> expected{};
  expected[DCNT_EP_CONNECT] = 1;
  expected[DCNT_EP_POST_SEND] = 2;
  expected[DCNT_EP_POST_SEND_DATA] = 42;
  expected[DCNT_EP_POST_RECV] = 1;
  expected[DCNT_EP_POST_RECV_DATA] = 30;
  expected[DCNT_EP_POST_WRITE] = 1;
  expected[DCNT_EP_POST_WRITE_DATA] = 42;
  expected[DCNT_EP_POST_READ] = 1;
  expected[DCNT_EP_POST_READ_DATA] = 12;
  expected[DCNT_EP_POST_WRITE_IMM] = 1;
  expected[DCNT_EP_POST_WRITE_IMM_DATA] = 30;
  expected[DCNT_EP_POST_FETCH_ADD] = 1;
  expected[DCNT_EP_POST_CMP_SWAP] = 1;
  EXPECT_EQ(all, expected);
}

TEST_F(CountersTest, ReceivesThatBroughtSomething) {
  const DAT_EP_HANDLE ep = MakeEpIn(DAT_EP_STATE_CONNECTED);
  Arrive(ep, Op::kReceive, 100);
  Arrive(ep, Op::kReceiveInvalidate, 20);
  Arrive(ep, Op::kReceiveImmediate, 3);
  Arrive(ep, Op::kReceive, 0, WorkStatus::kFlushed);
  EXPECT_EQ(Take(recv_evd_).size(), 4u);
  EXPECT_EQ(Read(ep, DCNT_EP_RECV), 2u);
  EXPECT_EQ(Read(ep, DCNT_EP_RECV_DATA), 120u);
  EXPECT_EQ(Read(ep, DCNT_EP_RECV_RDMA_IMM), 1u);
  EXPECT_EQ(Read(ep, DCNT_EP_RECV_RDMA_IMM_DATA), 3u);
}

TEST_F(CountersTest, ReceivesOfAnEpThatIsGoneAreNobodys) {
  const DAT_EP_HANDLE ep = MakeEpIn(DAT_EP_STATE_CONNECTED);
  FakeCompletionQueue& queue = recv_queue();
  Arrive(ep, Op::kReceive, 100);
  ASSERT_EQ(slots::EpFree(ep), DAT_SUCCESS);
  Completion junk;
  junk.op = Op::kReceive;
  junk.context = &junk;
  queue.Add(junk);
  EXPECT_EQ(Take(recv_evd_).size(), 2u);
}

TEST_F(CountersTest, AnEpThatMovedBetweenEvdsKeepsItsCount) {
  const DAT_EP_HANDLE ep = MakeEp();
  FakeCompletionQueue& before = recv_queue();
  DAT_EP_PARAM param{};
  param.recv_evd_handle = MakeEvd(DAT_EVD_DTO_FLAG);
  ASSERT_EQ(slots::EpModify(ep, DAT_EP_FIELD_RECV_EVD_HANDLE, &param), DAT_SUCCESS);
  Completion old;
  old.context = ep;
  old.op = Op::kReceive;
  old.length = 1;
  before.Add(old);
  Arrive(ep, Op::kReceive, 2);
  EXPECT_EQ(Take(recv_evd_).size(), 1u);
  EXPECT_EQ(Take(param.recv_evd_handle).size(), 1u);
  EXPECT_EQ(Read(ep, DCNT_EP_RECV), 2u);
  EXPECT_EQ(Read(ep, DCNT_EP_RECV_DATA), 3u);
}

TEST_F(CountersTest, WaitsAndDequeues) {
  DAT_EVENT event;
  DAT_COUNT nmore = 0;
  const DAT_EP_HANDLE ep = MakeEpIn(DAT_EP_STATE_CONNECTED);
  Read(recv_evd_, DCNT_EVD_ALL_COUNTERS - 1);
  std::array<DAT_UINT64, DCNT_EVD_ALL_COUNTERS> all;
  const auto read = [&](int reset) {
    return Extension(recv_evd_, DAT_IB_QUERY_COUNTERS_OP, int{DCNT_EVD_ALL_COUNTERS}, all.data(),
                     reset);
  };
  ASSERT_EQ(read(1), DAT_SUCCESS);

  EXPECT_EQ(DAT_GET_TYPE(slots::EvdDequeue(recv_evd_, &event)), DAT_GET_TYPE(DAT_QUEUE_EMPTY));
  Arrive(ep, Op::kReceive, 1);
  EXPECT_EQ(slots::EvdDequeue(recv_evd_, &event), DAT_SUCCESS);
  Arrive(ep, Op::kReceive, 1);
  EXPECT_EQ(slots::EvdWait(recv_evd_, 1000, 1, &event, &nmore), DAT_SUCCESS);
  adapter().progress = [&](transport::Waiter* waiter, transport::Clock::time_point) {
    if (waiter != nullptr) Arrive(ep, Op::kReceive, 1);
    return transport::ProgressResult::kWorked;
  };
  EXPECT_EQ(slots::EvdWait(recv_evd_, 1000, 1, &event, &nmore), DAT_SUCCESS);

  ASSERT_EQ(read(0), DAT_SUCCESS);
  std::array<DAT_UINT64, DCNT_EVD_ALL_COUNTERS> expected{};
  expected[DCNT_EVD_WAIT] = 2;
  expected[DCNT_EVD_WAIT_BLOCKED] = 1;
  expected[DCNT_EVD_WAIT_NOTIFY] = 1;
  expected[DCNT_EVD_DEQUEUE] = 2;
  expected[DCNT_EVD_DEQUEUE_FOUND] = 1;
  expected[DCNT_EVD_DEQUEUE_NOT_FOUND] = 1;
  expected[DCNT_EVD_DEQUEUE_POLL] = 2;
  expected[DCNT_EVD_DEQUEUE_POLL_FOUND] = 1;
  expected[DCNT_EVD_DTO_CALLBACK] = 1;
  EXPECT_EQ(all, expected);
  EXPECT_EQ(Read(connect_evd_, DCNT_EVD_CONN_CALLBACK), 1u) << "the connection";
}

TEST_F(CountersTest, TheActiveSideOfConnections) {
  MakeEpIn(DAT_EP_STATE_CONNECTED);
  transport::ConnectionSink* sink = &adapter().last_qp().sink();
  EXPECT_EQ(Ia(DCNT_IA_CM_REQ_TX), 1u);
  EXPECT_EQ(Ia(DCNT_IA_CM_REP_RX), 1u);
  EXPECT_EQ(Ia(DCNT_IA_CM_ACTIVE_EST), 1u);
  EXPECT_EQ(Ia(DCNT_IA_CM_PASSIVE_EST), 0u);
  sink->OnEnded(EndReason::kDisconnected, "test");
  EXPECT_EQ(Ia(DCNT_IA_CM_DREQ_RX), 1u);
  EXPECT_EQ(Ia(DCNT_IA_CM_ERR), 0u);
  const DAT_EP_HANDLE broken = MakeEpIn(DAT_EP_STATE_CONNECTED);
  adapter().last_qp().sink().OnEnded(EndReason::kBroken, "test");
  EXPECT_EQ(Ia(DCNT_IA_CM_ERR_RESET), 1u);
  EXPECT_EQ(Read(broken, DCNT_EP_DISCONNECT), 0u);
  const DAT_EP_HANDLE parting = MakeEpIn(DAT_EP_STATE_CONNECTED);
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(slots::EpDisconnect(parting, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS);
  adapter().last_qp().sink().OnEnded(EndReason::kDisconnected, "test");
  EXPECT_EQ(Ia(DCNT_IA_CM_DREQ_TX), 1u);
  EXPECT_EQ(Ia(DCNT_IA_CM_DREQ_RX), 1u) << "this side began";
  EXPECT_EQ(Read(parting, DCNT_EP_DISCONNECT), 1u);
}

TEST_F(CountersTest, AttemptsThatFail) {
  const auto fail = [this](RejectReason reason) {
    MakeEpIn(DAT_EP_STATE_ACTIVE_CONNECTION_PENDING);
    adapter().last_qp().sink().OnFailed(reason, {}, "test");
  };
  fail(RejectReason::kPeer);
  EXPECT_EQ(Ia(DCNT_IA_CM_USER_REJ_RX), 1u);
  EXPECT_EQ(Ia(DCNT_IA_CM_ERR), 0u) << "an answer, not an error";
  fail(RejectReason::kNonPeer);
  EXPECT_EQ(Ia(DCNT_IA_CM_ERR_REFUSED), 1u);
  fail(RejectReason::kTimedOut);
  EXPECT_EQ(Ia(DCNT_IA_CM_ERR_TIMEOUT), 1u);
  fail(RejectReason::kUnreachable);
  EXPECT_EQ(Ia(DCNT_IA_CM_ERR), 3u);
  EXPECT_EQ(Ia(DCNT_IA_CM_ACTIVE_EST), 0u);
}

TEST_F(CountersTest, ThePassiveSideOfConnections) {
  MakeEpIn(DAT_EP_STATE_COMPLETION_PENDING);
  adapter().last_qp().sink().OnEstablished({});
  EXPECT_EQ(Ia(DCNT_IA_CM_REQ_RX), 1u);
  EXPECT_EQ(Ia(DCNT_IA_SP_CR), 1u);
  EXPECT_EQ(Ia(DCNT_IA_SP_CR_ACCEPTED), 1u);
  EXPECT_EQ(Ia(DCNT_IA_CM_REP_TX), 1u);
  EXPECT_EQ(Ia(DCNT_IA_CM_PASSIVE_EST), 1u);
  EXPECT_EQ(Ia(DCNT_IA_CM_ACTIVE_EST), 0u);
}

TEST_F(CountersTest, RequestsThatAreRefused) {
  DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
  const DAT_EVD_HANDLE small = MakeEvd(DAT_EVD_CR_FLAG, 1);
  ASSERT_EQ(slots::PspCreate(ia_, kQual, small, DAT_PSP_CONSUMER_FLAG, &psp), DAT_SUCCESS);
  adapter().Request(kQual);
  EXPECT_TRUE(adapter().Request(kQual)->destroyed) << "no room";
  EXPECT_EQ(Ia(DCNT_IA_CM_REQ_RX), 2u);
  EXPECT_EQ(Ia(DCNT_IA_CM_ERR_REQ_FULLQ), 1u);
  EXPECT_EQ(Ia(DCNT_IA_CM_ERR_REJ_TX), 1u);
  EXPECT_EQ(Ia(DCNT_IA_CM_USER_REJ_TX), 0u);
  const auto requests = Take(small);
  ASSERT_EQ(requests.size(), 1u);
  EXPECT_EQ(slots::CrReject(requests[0].event_data.cr_arrival_event_data.cr_handle, 0, nullptr),
            DAT_SUCCESS);
  EXPECT_EQ(Ia(DCNT_IA_SP_CR_REJECTED), 1u);
  EXPECT_EQ(Ia(DCNT_IA_CM_USER_REJ_TX), 1u);
  // A request that nobody has seen goes away with its EVD.
  adapter().Request(kQual);
  ASSERT_EQ(slots::PspFree(psp), DAT_SUCCESS);
  ASSERT_EQ(slots::EvdFree(small), DAT_SUCCESS);
  EXPECT_EQ(Ia(DCNT_IA_CM_ERR_REJ_TX), 2u);
  EXPECT_EQ(Ia(DCNT_IA_SP_CR_REJECTED), 1u);
}

TEST_F(CountersTest, ErrorsOfRequestsAndOfTheIa) {
  const DAT_EP_HANDLE ep = MakeEpIn(DAT_EP_STATE_CONNECTED);
  for (const WorkStatus status :
       {WorkStatus::kRemoteAccess, WorkStatus::kRemoteResponder, WorkStatus::kReceiverNotReady,
        WorkStatus::kTransport, WorkStatus::kFlushed, WorkStatus::kLocalLength})
    Arrive(ep, Op::kSend, 0, status);
  Take(recv_evd_);
  for (const DAT_IA_COUNTERS counter : {DCNT_IA_DIAG_ERR_SQ_RAE, DCNT_IA_DIAG_ERR_SQ_RIRE,
                                        DCNT_IA_DIAG_ERR_SQ_RREE, DCNT_IA_DIAG_ERR_SQ_TREE})
    EXPECT_EQ(Ia(counter), 1u) << counter;
  recv_queue().sink()->OnOverflow();
  EXPECT_EQ(Ia(DCNT_IA_ASYNC_ERROR), 1u);
  EXPECT_EQ(Ia(DCNT_IA_ASYNC_CQ_ERROR), 1u);
  EXPECT_EQ(Ia(DCNT_IA_ASYNC_QP_ERROR), 0u);
}

TEST_F(CountersTest, AnOverflowOfTheAsyncEvdItselfIsNotCounted) {
  DAT_EVD_PARAM param{};
  ASSERT_EQ(slots::EvdQuery(async_evd_, DAT_EVD_FIELD_ALL, &param), DAT_SUCCESS);
  const DAT_EP_HANDLE ep = MakeEp();
  const DAT_COUNT one_too_many = param.evd_qlen + 1;
  for (DAT_COUNT i = 0; i < one_too_many; ++i) {
    recv_queue().sink()->OnOverflow();
    Arrive(ep, Op::kReceive, 0);
    Take(recv_evd_);  // so that it may overflow again
  }
  EXPECT_EQ(Ia(DCNT_IA_ASYNC_ERROR), static_cast<DAT_UINT64>(one_too_many));
}

TEST_F(CountersTest, AGroupThatIsStoppedStands) {
  const auto group = [this](int op, int type) { return Extension(ia_, op, type); };
  ASSERT_EQ(group(DAT_IB_STOP_COUNTERS_OP, DCNT_IA_CM), DAT_SUCCESS);
  ASSERT_EQ(group(DAT_IB_STOP_COUNTERS_OP, DCNT_IA_CM), DAT_SUCCESS);
  MakeEpIn(DAT_EP_STATE_CONNECTED);
  EXPECT_EQ(Ia(DCNT_IA_CM_REQ_TX), 0u);
  EXPECT_EQ(Ia(DCNT_IA_EP_CREATE), 1u) << "in no group";
  ASSERT_EQ(group(DAT_IB_START_COUNTERS_OP, DCNT_IA_CM), DAT_SUCCESS);
  MakeEpIn(DAT_EP_STATE_CONNECTED);
  ASSERT_EQ(group(DAT_IB_STOP_COUNTERS_OP, DCNT_IA_CM), DAT_SUCCESS);
  MakeEpIn(DAT_EP_STATE_CONNECTED);
  EXPECT_EQ(Ia(DCNT_IA_CM_REQ_TX), 1u);
  EXPECT_EQ(group(DAT_IB_START_COUNTERS_OP, 3), Arg(2));
  EXPECT_EQ(group(DAT_IB_STOP_COUNTERS_OP, -1), Arg(2));
  EXPECT_EQ(Extension(connect_evd_, DAT_IB_START_COUNTERS_OP, int{DCNT_IA_CM}),
            Ret(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA));
}

// covers: semantics 15.2
TEST_F(CountersTest, AResetIsForWhatWasRead) {
  MakeEp();
  EXPECT_EQ(Read(ia_, DCNT_IA_EP_CREATE, 1), 1u);
  EXPECT_EQ(Ia(DCNT_IA_EP_CREATE), 0u);
  EXPECT_EQ(Ia(DCNT_IA_PZ_CREATE), 1u);
  MakeEp();
  EXPECT_EQ(Ia(DCNT_IA_EP_CREATE), 1u);
}

// covers: semantics 15.2
TEST_F(CountersTest, BadQueries) {
  DAT_UINT64 value = kUnread;
  const auto query = [&](DAT_HANDLE handle, int counter, DAT_UINT64* out) {
    return Extension(handle, DAT_IB_QUERY_COUNTERS_OP, counter, out, 1);
  };
  const DAT_EP_HANDLE ep = MakeEp();
  EXPECT_EQ(query(ia_, DCNT_IA_ALL_COUNTERS + 1, &value), Arg(2));
  EXPECT_EQ(query(ep, DCNT_EP_ALL_COUNTERS + 1, &value), Arg(2));
  EXPECT_EQ(query(recv_evd_, DCNT_EVD_ALL_COUNTERS + 1, &value), Arg(2));
  EXPECT_EQ(query(ia_, -1, &value), Arg(2));
  EXPECT_EQ(query(ia_, 0, nullptr), Arg(3));
  EXPECT_EQ(Extension(ia_, DAT_IB_PRINT_COUNTERS_OP, -1, 0), Arg(2));
  const DAT_RETURN bad = Ret(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE1);
  EXPECT_EQ(query(pz_, 0, &value), bad);
  EXPECT_EQ(query(nullptr, 0, &value), bad);
  ASSERT_EQ(slots::EpFree(ep), DAT_SUCCESS);
  EXPECT_EQ(query(ep, 0, &value), bad);
  EXPECT_EQ(Extension(ep, DAT_IB_PRINT_COUNTERS_OP, 0, 0), bad);
  EXPECT_EQ(value, kUnread);
}

TEST_F(CountersTest, PrintsNamesAndNumbers) {
  MakeEp();
  ::testing::internal::CaptureStdout();
  ASSERT_EQ(Extension(ia_, DAT_IB_PRINT_COUNTERS_OP, int{DCNT_IA_EP_CREATE}, 1), DAT_SUCCESS);
  ASSERT_EQ(Extension(ia_, DAT_IB_PRINT_COUNTERS_OP, int{DCNT_IA_ALL_COUNTERS}, 0), DAT_SUCCESS);
  const std::string out = ::testing::internal::GetCapturedStdout();
  EXPECT_EQ(out.find("fake-0 0x"), 0u) << out;
  EXPECT_EQ(std::count(out.begin(), out.end(), '\n'), 1 + DCNT_IA_ALL_COUNTERS);
  EXPECT_THAT(out, HasSubstr(" DCNT_IA_EP_CREATE 1\n"));
  EXPECT_THAT(out, HasSubstr(" DCNT_IA_EP_CREATE 0\n")) << "reset";
  EXPECT_THAT(out, HasSubstr(" DCNT_IA_DIAG_ERR_SQ_TREE 0\n"));
}

// Several threads post at once, among them the one that began. No count is lost, not even by
// resets.
TEST(BiasedCountersTest, AnyThreadCounts) {
  constexpr uint64_t kRounds = 20000;
  BiasedCounters<2> counters;
  CounterReader<2> reader;
  const auto value = [&](size_t i) { return counters.value(i); };
  counters.Add(1, 5);
  const auto count = [&] {
    for (uint64_t i = 0; i < kRounds; ++i) counters.Add(1);
  };
  std::thread first(count), second(count);
  uint64_t seen = 0, sum = 0;
  for (int i = 0; i < 1000; ++i) {
    counters.Add(1);
    reader.Read(1, true, &seen, value);
    sum += seen;
  }
  first.join();
  second.join();
  reader.Read(1, true, &seen, value);
  EXPECT_EQ(sum + seen, 5 + 1000 + 2 * kRounds);
  std::array<uint64_t, 2> all{7, 7};
  reader.Read(2, false, all.data(), value);
  EXPECT_EQ(all, (std::array<uint64_t, 2>{0, 0}));
}

}  // namespace
}  // namespace softdat::engine::testing
