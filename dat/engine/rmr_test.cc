// SPDX-License-Identifier: BSD-3-Clause
// Memory windows: the rules of dat_rmr_bind one by one (semantics 7.3).
#include <unistd.h>

#include <cstdint>
#include <vector>

#include "dat/engine/testing/engine_test.h"
#include "dat2/dat_ib_extensions.h"

namespace softdat::engine::testing {
namespace {

using transport::Op;

constexpr DAT_COMPLETION_FLAGS kDefault = DAT_COMPLETION_DEFAULT_FLAG;
constexpr auto kReadWrite =
    static_cast<DAT_MEM_PRIV_FLAGS>(DAT_MEM_PRIV_REMOTE_READ_FLAG | DAT_MEM_PRIV_REMOTE_WRITE_FLAG);

class RmrTest : public EngineTest {
 protected:
  void SetUp() override {
    EngineTest::SetUp();
    ep_ = MakeEpIn(DAT_EP_STATE_CONNECTED);
    lmr_ = MakeLmr(pz_, DAT_MEM_PRIV_ALL_FLAG);
    lmr_context_ = last_context_;
    ASSERT_EQ(slots::RmrCreate(pz_, &rmr_), DAT_SUCCESS);
    triplet_ = {reinterpret_cast<uintptr_t>(memory_) + 100, 200, lmr_context_};
    cookie_.as_64 = 0xfedcba9876543210;
  }
  DAT_LMR_HANDLE MakeLmr(DAT_PZ_HANDLE pz, int privileges, DAT_VA_TYPE va_type = DAT_VA_TYPE_VA) {
    DAT_REGION_DESCRIPTION region;
    region.for_va = memory_;
    DAT_LMR_HANDLE lmr = nullptr;
    EXPECT_EQ(slots::LmrCreate(ia_, DAT_MEM_TYPE_VIRTUAL, region, sizeof(memory_), pz,
                               static_cast<DAT_MEM_PRIV_FLAGS>(privileges), va_type, &lmr,
                               &last_context_, nullptr, nullptr, nullptr),
              DAT_SUCCESS);
    return lmr;
  }
  DAT_RETURN Bind(DAT_MEM_PRIV_FLAGS privileges = kReadWrite) {
    return slots::RmrBind(rmr_, lmr_, &triplet_, privileges, DAT_VA_TYPE_VA, ep_, cookie_, kDefault,
                          &context_);
  }
  DAT_RETURN Unbind() {
    DAT_LMR_TRIPLET none{};
    return slots::RmrBind(rmr_, lmr_, &none, DAT_MEM_PRIV_NONE_FLAG, DAT_VA_TYPE_VA, ep_, cookie_,
                          kDefault, &context_);
  }
  FakeQueuePair& qp() { return *adapter().qps.front(); }

  char memory_[1000] = {};
  DAT_EP_HANDLE ep_ = nullptr;
  DAT_LMR_HANDLE lmr_ = nullptr;
  DAT_RMR_HANDLE rmr_ = nullptr;
  DAT_LMR_CONTEXT lmr_context_ = 0;
  DAT_LMR_CONTEXT last_context_ = 0;
  DAT_RMR_CONTEXT context_ = 0;
  DAT_LMR_TRIPLET triplet_{};

  static constexpr DAT_RETURN kLmrInUse = Ret(DAT_INVALID_STATE, DAT_INVALID_STATE_LMR_IN_USE);
};

// covers: semantics 7.3
TEST_F(RmrTest, BindIsARequestAndGivesANewContextEachTime) {
  ASSERT_EQ(Bind(), DAT_SUCCESS);
  const transport::SendRequest& request = qp().sends.back();
  EXPECT_EQ(request.op, Op::kBind);
  EXPECT_EQ(request.cookie, 0xfedcba9876543210u);
  EXPECT_EQ(request.key, context_);
  EXPECT_EQ(request.bind.window, adapter().windows.back());
  EXPECT_EQ(request.bind.region->local_key(), lmr_context_);
  EXPECT_EQ(request.bind.privileges, static_cast<uint32_t>(kReadWrite));
  EXPECT_EQ(request.bind.context, rmr_);
  EXPECT_FALSE(request.bind.zero_based);
  EXPECT_EQ(qp().sent_segments.back()[0].segment_length, 200u);
  const DAT_RMR_CONTEXT first = context_;
  ASSERT_EQ(Bind(), DAT_SUCCESS);
  EXPECT_NE(context_, first);
}

// covers: semantics 7.3
TEST_F(RmrTest, QueryTellsTheLatestBinding) {
  DAT_RMR_PARAM param{};
  ASSERT_EQ(slots::RmrQuery(rmr_, DAT_RMR_FIELD_ALL, &param), DAT_SUCCESS);
  EXPECT_EQ(param.pz_handle, pz_);
  EXPECT_EQ(param.rmr_scope, DAT_RMR_SCOPE_PZ);
  EXPECT_EQ(param.rmr_context, 0u);
  ASSERT_EQ(Bind(DAT_MEM_PRIV_REMOTE_READ_FLAG), DAT_SUCCESS);
  ASSERT_EQ(slots::RmrQuery(rmr_, DAT_RMR_FIELD_ALL, &param), DAT_SUCCESS);
  EXPECT_EQ(param.rmr_context, context_);
  EXPECT_EQ(param.mem_priv, DAT_MEM_PRIV_REMOTE_READ_FLAG);
  EXPECT_EQ(param.lmr_triplet.segment_length, 200u);
  EXPECT_EQ(slots::RmrQuery(rmr_, static_cast<DAT_RMR_PARAM_MASK>(0x80), &param), Arg(2));
  EXPECT_EQ(slots::RmrQuery(rmr_, DAT_RMR_FIELD_ALL, nullptr), Arg(3));
}

// covers: semantics 7.3, 16.6
TEST_F(RmrTest, ScopeEp) {
  DAT_RMR_HANDLE rmr;
  ASSERT_EQ(slots::RmrCreateForEp(pz_, &rmr), DAT_SUCCESS);
  DAT_RMR_PARAM param{};
  ASSERT_EQ(slots::RmrQuery(rmr, DAT_RMR_FIELD_ALL, &param), DAT_SUCCESS);
  EXPECT_EQ(param.rmr_scope, DAT_RMR_SCOPE_EP);
}

// covers: semantics 7.3
TEST_F(RmrTest, CreateArguments) {
  DAT_RMR_HANDLE rmr;
  EXPECT_EQ(slots::RmrCreate(ia_, &rmr), Ret(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_PZ));
  EXPECT_EQ(slots::RmrCreate(pz_, nullptr), Arg(2));
  adapter().limits.windows = false;
  EXPECT_EQ(slots::RmrCreate(pz_, &rmr), Ret(DAT_MODEL_NOT_SUPPORTED));
}

// covers: semantics 7.3
TEST_F(RmrTest, Bounds) {
  const auto first = reinterpret_cast<uintptr_t>(memory_);
  triplet_ = {first, sizeof(memory_), lmr_context_};
  EXPECT_EQ(Bind(), DAT_SUCCESS);
  triplet_ = {first, sizeof(memory_) + 1, lmr_context_};
  EXPECT_EQ(Bind(), Arg(3));
  triplet_ = {first - 1, 10, lmr_context_};
  EXPECT_EQ(Bind(), Arg(3));
  triplet_ = {first + sizeof(memory_), 1, lmr_context_};
  EXPECT_EQ(Bind(), Arg(3));
  triplet_ = {UINT64_MAX, 10, lmr_context_};
  EXPECT_EQ(Bind(), Arg(3));
  triplet_ = {first, 10, lmr_context_ + 1};
  EXPECT_EQ(Bind(), Arg(3));
  EXPECT_EQ(qp().sends.size(), 1u);
}

// covers: semantics 7.2, 7.3
TEST_F(RmrTest, ZeroBasedLmrCountsFromZero) {
  lmr_ = MakeLmr(pz_, DAT_MEM_PRIV_ALL_FLAG, DAT_VA_TYPE_ZB);
  triplet_ = {0, sizeof(memory_), last_context_};
  EXPECT_EQ(Bind(), DAT_SUCCESS);
  triplet_ = {reinterpret_cast<uintptr_t>(memory_), 1, last_context_};
  EXPECT_EQ(Bind(), Arg(3));
}

// Verbs address a region from 0 only if it begins with a page.
// covers: semantics 7.2
TEST_F(RmrTest, ZeroBasedLmrsMayHaveToBeginWithAPage) {
  adapter().limits.zero_based = false;
  adapter().limits.zero_based_pages = true;
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  std::vector<uint8_t> pages(2 * page);
  const auto address = reinterpret_cast<uintptr_t>(pages.data());
  const uintptr_t first = (address + page - 1) / page * page;
  const auto create = [&](uintptr_t at, DAT_VA_TYPE type) {
    DAT_REGION_DESCRIPTION region;
    region.for_va = reinterpret_cast<void*>(at);
    DAT_LMR_HANDLE lmr = nullptr;
    return slots::LmrCreate(ia_, DAT_MEM_TYPE_VIRTUAL, region, 8, pz_, DAT_MEM_PRIV_ALL_FLAG, type,
                            &lmr, nullptr, nullptr, nullptr, nullptr);
  };
  EXPECT_EQ(create(first, DAT_VA_TYPE_ZB), DAT_SUCCESS);
  EXPECT_EQ(create(first + 8, DAT_VA_TYPE_ZB), Ret(DAT_MODEL_NOT_SUPPORTED));
  EXPECT_EQ(create(first + 8, DAT_VA_TYPE_VA), DAT_SUCCESS);
  adapter().limits.zero_based_pages = false;
  EXPECT_EQ(create(first, DAT_VA_TYPE_ZB), Ret(DAT_MODEL_NOT_SUPPORTED));
}

// covers: semantics 7.3
TEST_F(RmrTest, ZeroBasedWindow) {
  EXPECT_EQ(slots::RmrBind(rmr_, lmr_, &triplet_, kReadWrite, DAT_VA_TYPE_ZB, ep_, cookie_,
                           kDefault, &context_),
            DAT_SUCCESS);
  EXPECT_TRUE(qp().sends.back().bind.zero_based);
  EXPECT_EQ(slots::RmrBind(rmr_, lmr_, &triplet_, kReadWrite, static_cast<DAT_VA_TYPE>(2), ep_,
                           cookie_, kDefault, &context_),
            Arg(5));
  adapter().limits.zero_based = false;
  EXPECT_EQ(slots::RmrBind(rmr_, lmr_, &triplet_, kReadWrite, DAT_VA_TYPE_ZB, ep_, cookie_,
                           kDefault, &context_),
            Ret(DAT_MODEL_NOT_SUPPORTED));
}

// covers: semantics 7.3
TEST_F(RmrTest, WritePrivilegesNeedLocalWrite) {
  lmr_ = MakeLmr(pz_, DAT_MEM_PRIV_LOCAL_READ_FLAG);
  triplet_.lmr_context = last_context_;
  EXPECT_EQ(Bind(DAT_MEM_PRIV_REMOTE_READ_FLAG), DAT_SUCCESS);
  EXPECT_EQ(Bind(DAT_MEM_PRIV_REMOTE_WRITE_FLAG),
            Ret(DAT_PRIVILEGES_VIOLATION, DAT_PRIVILEGES_WRITE));
  EXPECT_EQ(Bind(static_cast<DAT_MEM_PRIV_FLAGS>(DAT_IB_MEM_PRIV_REMOTE_ATOMIC)),
            Ret(DAT_PRIVILEGES_VIOLATION, DAT_PRIVILEGES_WRITE));
  EXPECT_EQ(Bind(static_cast<DAT_MEM_PRIV_FLAGS>(0x80)), Arg(4));
}

// covers: semantics 7.1, 7.3
TEST_F(RmrTest, AllInOneZone) {
  DAT_PZ_HANDLE other;
  ASSERT_EQ(slots::PzCreate(ia_, &other), DAT_SUCCESS);
  const DAT_LMR_HANDLE mine = lmr_;
  lmr_ = MakeLmr(other, DAT_MEM_PRIV_ALL_FLAG);
  triplet_.lmr_context = last_context_;
  EXPECT_EQ(Bind(), Ret(DAT_PROTECTION_VIOLATION));
  lmr_ = mine;
  triplet_.lmr_context = lmr_context_;
  ASSERT_EQ(slots::RmrCreate(other, &rmr_), DAT_SUCCESS);
  EXPECT_EQ(Bind(), Ret(DAT_PROTECTION_VIOLATION));
}

// covers: semantics 7.3
TEST_F(RmrTest, HandlesAndPointers) {
  const auto bind = [this](DAT_RMR_HANDLE rmr, DAT_LMR_HANDLE lmr, DAT_EP_HANDLE ep,
                           const DAT_LMR_TRIPLET* triplet, DAT_RMR_CONTEXT* context, int flags) {
    return slots::RmrBind(rmr, lmr, triplet, kReadWrite, DAT_VA_TYPE_VA, ep, cookie_,
                          static_cast<DAT_COMPLETION_FLAGS>(flags), context);
  };
  EXPECT_EQ(bind(lmr_, lmr_, ep_, &triplet_, &context_, 0),
            Ret(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_RMR));
  EXPECT_EQ(bind(rmr_, rmr_, ep_, &triplet_, &context_, 0),
            Ret(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_LMR));
  EXPECT_EQ(bind(rmr_, nullptr, ep_, &triplet_, &context_, 0),
            Ret(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_LMR));
  EXPECT_EQ(bind(rmr_, lmr_, rmr_, &triplet_, &context_, 0),
            Ret(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP));
  EXPECT_EQ(bind(rmr_, lmr_, ep_, nullptr, &context_, 0), Arg(3));
  EXPECT_EQ(bind(rmr_, lmr_, ep_, &triplet_, nullptr, 0), Arg(9));
  EXPECT_EQ(bind(rmr_, lmr_, ep_, &triplet_, &context_, DAT_COMPLETION_UNSIGNALLED_FLAG), Arg(8));
  EXPECT_EQ(bind(rmr_, lmr_, ep_, &triplet_, &context_, DAT_COMPLETION_SOLICITED_WAIT_FLAG),
            Arg(8));
  EXPECT_TRUE(qp().sends.empty());
  EXPECT_EQ(bind(rmr_, lmr_, ep_, &triplet_, &context_,
                 DAT_COMPLETION_SUPPRESS_FLAG | DAT_COMPLETION_BARRIER_FENCE_FLAG),
            DAT_SUCCESS);
  EXPECT_EQ(qp().sends.back().flags, transport::kSuppress | transport::kFence);
}

// covers: semantics 7.3, 8.3
TEST_F(RmrTest, EpStates) {
  for (const DAT_EP_STATE state :
       {DAT_EP_STATE_UNCONNECTED, DAT_EP_STATE_RESERVED, DAT_EP_STATE_ACTIVE_CONNECTION_PENDING,
        DAT_EP_STATE_COMPLETION_PENDING, DAT_EP_STATE_DISCONNECT_PENDING}) {
    ep_ = MakeEpIn(state);
    EXPECT_EQ(Bind(), WrongState(state));
    if (state == DAT_EP_STATE_RESERVED) {
      ASSERT_EQ(slots::RspFree(rsp_), DAT_SUCCESS);
    }
  }
  EXPECT_EQ(slots::LmrFree(lmr_), DAT_SUCCESS);  // no refused bind has left a trace
  lmr_ = MakeLmr(pz_, DAT_MEM_PRIV_ALL_FLAG);
  triplet_.lmr_context = last_context_;
  ep_ = MakeEpIn(DAT_EP_STATE_DISCONNECTED);
  EXPECT_EQ(Bind(), DAT_SUCCESS);  // the back end flushes it
}

// covers: semantics 7.3
TEST_F(RmrTest, RequestEvdMustTakeBinds) {
  request_evd_ = MakeEvd(DAT_EVD_DTO_FLAG);
  ep_ = MakeEpIn(DAT_EP_STATE_CONNECTED);
  EXPECT_EQ(Bind(), Ret(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_EVD_REQUEST));
}

TEST_F(RmrTest, RefusedPostLeavesTheBinding) {
  ASSERT_EQ(Bind(), DAT_SUCCESS);
  const DAT_RMR_CONTEXT bound = context_;
  qp().post_code = Code::kQueueFull;
  EXPECT_EQ(Bind(), Ret(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_TEP));
  EXPECT_EQ(context_, bound);  // outputs are written on success only
  DAT_RMR_PARAM param{};
  ASSERT_EQ(slots::RmrQuery(rmr_, DAT_RMR_FIELD_ALL, &param), DAT_SUCCESS);
  EXPECT_EQ(param.rmr_context, bound);
}

// covers: semantics 3.1, 7.3
TEST_F(RmrTest, LmrIsInUseUntilUnboundOrReboundOrFreed) {
  ASSERT_EQ(Bind(), DAT_SUCCESS);
  adapter().windows.back()->bound_key = context_;
  EXPECT_EQ(slots::LmrFree(lmr_), kLmrInUse);
  ASSERT_EQ(Unbind(), DAT_SUCCESS);
  EXPECT_EQ(qp().sends.back().bind.region, nullptr);
  EXPECT_EQ(slots::LmrFree(lmr_), DAT_SUCCESS);

  lmr_ = MakeLmr(pz_, DAT_MEM_PRIV_ALL_FLAG);
  triplet_.lmr_context = last_context_;
  ASSERT_EQ(Bind(), DAT_SUCCESS);
  const DAT_LMR_HANDLE first = lmr_;
  lmr_ = MakeLmr(pz_, DAT_MEM_PRIV_ALL_FLAG);
  triplet_.lmr_context = last_context_;
  ASSERT_EQ(Bind(), DAT_SUCCESS);
  adapter().windows.back()->bound_key = context_;
  EXPECT_EQ(slots::LmrFree(first), DAT_SUCCESS);
  EXPECT_EQ(slots::LmrFree(lmr_), kLmrInUse);
  EXPECT_EQ(slots::RmrFree(rmr_), DAT_SUCCESS);
  EXPECT_EQ(slots::LmrFree(lmr_), DAT_SUCCESS);
  EXPECT_EQ(slots::RmrFree(rmr_), Ret(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_RMR));
}

// covers: semantics 3.1, 7.3
TEST_F(RmrTest, PendingBindHoldsTheLmr) {
  ASSERT_EQ(Bind(), DAT_SUCCESS);
  qp().outstanding_sends = 1;
  EXPECT_EQ(slots::LmrFree(lmr_), kLmrInUse);
}

// covers: semantics 7.3, 16.4
TEST_F(RmrTest, FlushedBindAndRemoteInvalidationLetTheLmrGo) {
  ASSERT_EQ(Bind(), DAT_SUCCESS);
  adapter().windows.back()->bound_key = context_;
  EXPECT_EQ(slots::LmrFree(lmr_), kLmrInUse);
  adapter().windows.back()->bound_key = 0;  // the peer's send with invalidate
  EXPECT_EQ(slots::LmrFree(lmr_), DAT_SUCCESS);
  DAT_RMR_PARAM param{};
  ASSERT_EQ(slots::RmrQuery(rmr_, DAT_RMR_FIELD_ALL, &param), DAT_SUCCESS);
  EXPECT_EQ(param.rmr_context, 0u);
}

// covers: semantics 7.3
TEST_F(RmrTest, UnbindNeedsNoLmr) {
  ASSERT_EQ(Bind(), DAT_SUCCESS);
  const DAT_LMR_TRIPLET none{};
  EXPECT_EQ(slots::RmrBind(rmr_, nullptr, &none, DAT_MEM_PRIV_NONE_FLAG, DAT_VA_TYPE_VA, ep_,
                           cookie_, kDefault, nullptr),
            DAT_SUCCESS);
}

// covers: semantics 5.7
TEST_F(RmrTest, BindCompletionNamesTheRmr) {
  ASSERT_EQ(Bind(), DAT_SUCCESS);
  transport::Completion completion;
  completion.context = qp().sends.back().bind.context;
  completion.cookie = qp().sends.back().cookie;
  completion.op = Op::kBind;
  static_cast<FakeCompletionQueue*>(qp().attributes.send_cq)->Add(completion);
  const std::vector<DAT_EVENT> events = Take(request_evd_);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].event_number, DAT_RMR_BIND_COMPLETION_EVENT);
  EXPECT_EQ(events[0].event_data.rmr_completion_event_data.rmr_handle, rmr_);
}

}  // namespace
}  // namespace softdat::engine::testing
