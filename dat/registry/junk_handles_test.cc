// SPDX-License-Identifier: BSD-3-Clause
// Calls every function with every kind of junk as its handle. Each must return INVALID_HANDLE with
// the subtype of the expected kind, and never crash.
#include <dat2/softdat.h>
#include <dat2/udat.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <functional>
#include <memory>
#include <vector>

#include "dat/registry/testing/child.h"

namespace softdat::registry::testing {
namespace {

using AnyCall = std::function<DAT_RETURN(DAT_HANDLE)>;

// A call with the given handle, and zeros for all further arguments.
template <typename... Args>
AnyCall Call(DAT_RETURN (*function)(DAT_HANDLE, Args...)) {
  return [function](DAT_HANDLE handle) { return function(handle, Args{}...); };
}

struct CallRow {
  const char* name;
  AnyCall call;
  DAT_RETURN_SUBTYPE expected;
};

// The subtypes are those that OFA uDAPL 2.1.10 returns for NULL handles, where it has the call.
const std::vector<CallRow>& AllCalls() {
  static const std::vector<CallRow> rows = {
      {"dat_cno_create", Call(dat_cno_create), DAT_INVALID_HANDLE_IA},
      {"dat_cno_fd_create", Call(dat_cno_fd_create), DAT_INVALID_HANDLE_IA},
      {"dat_cno_free", Call(dat_cno_free), DAT_INVALID_HANDLE_CNO},
      {"dat_cno_modify_agent", Call(dat_cno_modify_agent), DAT_INVALID_HANDLE_CNO},
      {"dat_cno_query", Call(dat_cno_query), DAT_INVALID_HANDLE_CNO},
      {"dat_cno_trigger", Call(dat_cno_trigger), DAT_INVALID_HANDLE_CNO},
      {"dat_cno_wait", Call(dat_cno_wait), DAT_INVALID_HANDLE_CNO},
      {"dat_cr_accept", Call(dat_cr_accept), DAT_INVALID_HANDLE_CR},
      {"dat_cr_handoff", Call(dat_cr_handoff), DAT_INVALID_HANDLE_CR},
      {"dat_cr_query", Call(dat_cr_query), DAT_INVALID_HANDLE_CR},
      {"dat_cr_reject", Call(dat_cr_reject), DAT_INVALID_HANDLE_CR},
      {"dat_csp_create", Call(dat_csp_create), DAT_INVALID_HANDLE_IA},
      {"dat_csp_free", Call(dat_csp_free), DAT_INVALID_HANDLE_CSP},
      {"dat_csp_query", Call(dat_csp_query), DAT_INVALID_HANDLE_CSP},
      {"dat_ep_common_connect", Call(dat_ep_common_connect), DAT_INVALID_HANDLE_EP},
      {"dat_ep_connect", Call(dat_ep_connect), DAT_INVALID_HANDLE_EP},
      {"dat_ep_create", Call(dat_ep_create), DAT_INVALID_HANDLE_IA},
      {"dat_ep_create_with_srq", Call(dat_ep_create_with_srq), DAT_INVALID_HANDLE_IA},
      {"dat_ep_disconnect", Call(dat_ep_disconnect), DAT_INVALID_HANDLE_EP},
      {"dat_ep_dup_connect", Call(dat_ep_dup_connect), DAT_INVALID_HANDLE_EP},
      {"dat_ep_free", Call(dat_ep_free), DAT_INVALID_HANDLE_EP},
      {"dat_ep_get_status", Call(dat_ep_get_status), DAT_INVALID_HANDLE_EP},
      {"dat_ep_modify", Call(dat_ep_modify), DAT_INVALID_HANDLE_EP},
      {"dat_ep_post_rdma_read", Call(dat_ep_post_rdma_read), DAT_INVALID_HANDLE_EP},
      {"dat_ep_post_rdma_read_to_rmr", Call(dat_ep_post_rdma_read_to_rmr), DAT_INVALID_HANDLE_EP},
      {"dat_ep_post_rdma_write", Call(dat_ep_post_rdma_write), DAT_INVALID_HANDLE_EP},
      {"dat_ep_post_recv", Call(dat_ep_post_recv), DAT_INVALID_HANDLE_EP},
      {"dat_ep_post_send", Call(dat_ep_post_send), DAT_INVALID_HANDLE_EP},
      {"dat_ep_post_send_with_invalidate", Call(dat_ep_post_send_with_invalidate),
       DAT_INVALID_HANDLE_EP},
      {"dat_ep_query", Call(dat_ep_query), DAT_INVALID_HANDLE_EP},
      {"dat_ep_recv_query", Call(dat_ep_recv_query), DAT_INVALID_HANDLE_EP},
      {"dat_ep_reset", Call(dat_ep_reset), DAT_INVALID_HANDLE_EP},
      {"dat_ep_set_watermark", Call(dat_ep_set_watermark), DAT_INVALID_HANDLE_EP},
      {"dat_evd_clear_unwaitable", Call(dat_evd_clear_unwaitable), DAT_INVALID_HANDLE_EVD_REQUEST},
      {"dat_evd_create", Call(dat_evd_create), DAT_INVALID_HANDLE_IA},
      {"dat_evd_dequeue", Call(dat_evd_dequeue), DAT_INVALID_HANDLE_EVD_REQUEST},
      {"dat_evd_disable", Call(dat_evd_disable), DAT_INVALID_HANDLE_EVD_REQUEST},
      {"dat_evd_enable", Call(dat_evd_enable), DAT_INVALID_HANDLE_EVD_REQUEST},
      {"dat_evd_free", Call(dat_evd_free), DAT_INVALID_HANDLE_EVD_REQUEST},
      {"dat_evd_modify_cno", Call(dat_evd_modify_cno), DAT_INVALID_HANDLE_EVD_REQUEST},
      {"dat_evd_post_se", Call(dat_evd_post_se), DAT_INVALID_HANDLE_EVD_REQUEST},
      {"dat_evd_query", Call(dat_evd_query), DAT_INVALID_HANDLE_EVD_REQUEST},
      {"dat_evd_resize", Call(dat_evd_resize), DAT_INVALID_HANDLE_EVD_REQUEST},
      {"dat_evd_set_unwaitable", Call(dat_evd_set_unwaitable), DAT_INVALID_HANDLE_EVD_REQUEST},
      {"dat_evd_wait", Call(dat_evd_wait), DAT_INVALID_HANDLE_EVD_REQUEST},
      {"dat_get_consumer_context", Call(dat_get_consumer_context), DAT_INVALID_HANDLE1},
      {"dat_get_handle_type", Call(dat_get_handle_type), DAT_INVALID_HANDLE1},
      {"dat_ia_close", Call(dat_ia_close), DAT_INVALID_HANDLE_IA},
      {"dat_ia_query", Call(dat_ia_query), DAT_INVALID_HANDLE_IA},
      {"dat_lmr_create", Call(dat_lmr_create), DAT_INVALID_HANDLE_IA},
      {"dat_lmr_free", Call(dat_lmr_free), DAT_INVALID_HANDLE_LMR},
      {"dat_lmr_query", Call(dat_lmr_query), DAT_INVALID_HANDLE_LMR},
      {"dat_lmr_sync_rdma_read", Call(dat_lmr_sync_rdma_read), DAT_INVALID_HANDLE_IA},
      {"dat_lmr_sync_rdma_write", Call(dat_lmr_sync_rdma_write), DAT_INVALID_HANDLE_IA},
      {"dat_psp_create", Call(dat_psp_create), DAT_INVALID_HANDLE_IA},
      {"dat_psp_create_any", Call(dat_psp_create_any), DAT_INVALID_HANDLE_IA},
      {"dat_psp_free", Call(dat_psp_free), DAT_INVALID_HANDLE_PSP},
      {"dat_psp_query", Call(dat_psp_query), DAT_INVALID_HANDLE_PSP},
      {"dat_pz_create", Call(dat_pz_create), DAT_INVALID_HANDLE_IA},
      {"dat_pz_free", Call(dat_pz_free), DAT_INVALID_HANDLE_PZ},
      {"dat_pz_query", Call(dat_pz_query), DAT_INVALID_HANDLE_PZ},
      {"dat_rmr_bind", Call(dat_rmr_bind), DAT_INVALID_HANDLE_RMR},
      {"dat_rmr_create", Call(dat_rmr_create), DAT_INVALID_HANDLE_PZ},
      {"dat_rmr_create_for_ep", Call(dat_rmr_create_for_ep), DAT_INVALID_HANDLE_PZ},
      {"dat_rmr_free", Call(dat_rmr_free), DAT_INVALID_HANDLE_RMR},
      {"dat_rmr_query", Call(dat_rmr_query), DAT_INVALID_HANDLE_RMR},
      {"dat_rsp_create", Call(dat_rsp_create), DAT_INVALID_HANDLE_IA},
      {"dat_rsp_free", Call(dat_rsp_free), DAT_INVALID_HANDLE_RSP},
      {"dat_rsp_query", Call(dat_rsp_query), DAT_INVALID_HANDLE_RSP},
      {"dat_set_consumer_context", Call(dat_set_consumer_context), DAT_INVALID_HANDLE1},
      {"dat_srq_create", Call(dat_srq_create), DAT_INVALID_HANDLE_IA},
      {"dat_srq_free", Call(dat_srq_free), DAT_INVALID_HANDLE_SRQ},
      {"dat_srq_post_recv", Call(dat_srq_post_recv), DAT_INVALID_HANDLE_SRQ},
      {"dat_srq_query", Call(dat_srq_query), DAT_INVALID_HANDLE_SRQ},
      {"dat_srq_resize", Call(dat_srq_resize), DAT_INVALID_HANDLE_SRQ},
      {"dat_srq_set_lw", Call(dat_srq_set_lw), DAT_INVALID_HANDLE_SRQ},
  };
  return rows;
}

void ExpectRefusedByAll(DAT_HANDLE handle, const char* what) {
  for (const auto& row : AllCalls()) {
    EXPECT_EQ(row.call(handle), DAT_CLASS_ERROR | DAT_INVALID_HANDLE | row.expected)
        << row.name << " with " << what;
  }
  EXPECT_EQ(dat_extension_op(handle, 5, 1L),
            DAT_CLASS_ERROR | DAT_INVALID_HANDLE | DAT_INVALID_HANDLE1)
      << what;
  EXPECT_THAT(LastReason(), ::testing::HasSubstr("dat_extension_op"));
}

void ExpectAllJunkRefused() {
  static long words[64] = {};
  const long on_stack[2] = {0, 0};
  auto on_heap = std::make_unique<std::vector<long>>(64);
  void* unreadable = mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const std::pair<uintptr_t, const char*> values[] = {
      {0, "NULL"},
      {1, "1"},
      {63, "63"},
      {4095, "4095"},
      {4096, "an unmapped address"},
      {~uintptr_t{0}, "-1"},
      {~uintptr_t{7}, "-8"},
      {uintptr_t{1} << 47, "a non-canonical address"},
      {reinterpret_cast<uintptr_t>(words), "static memory"},
      {reinterpret_cast<uintptr_t>(words) + 1, "a misaligned address"},
      {reinterpret_cast<uintptr_t>(on_stack), "the stack"},
      {reinterpret_cast<uintptr_t>(on_heap->data()), "the heap"},
      {reinterpret_cast<uintptr_t>(&dat_evd_wait) & ~uintptr_t{7}, "code"},
      {reinterpret_cast<uintptr_t>(unreadable), "an unreadable page"},
  };
  for (const auto& [value, what] : values) {
    ExpectRefusedByAll(reinterpret_cast<DAT_HANDLE>(value), what);
  }
  munmap(unreadable, 4096);
}

Scenario WithLibrary(const std::string& library) {
  Scenario scenario;
  scenario.conf = ConfLine("ia0", library);
  return scenario;
}

// covers: semantics 2.4
TEST(JunkHandles, WithoutAnyProvider) {
  InChild({}, [](FakeControl*) { ExpectAllJunkRefused(); });
}

class JunkHandles : public ::testing::TestWithParam<const char*> {};

// covers: semantics 2.4
TEST_P(JunkHandles, WithAProviderLoaded) {
  InChild(WithLibrary(GetParam()), [](FakeControl*) {
    DAT_IA_HANDLE first = nullptr;
    DAT_IA_HANDLE ia = nullptr;
    ASSERT_EQ(Open("ia0", &first), DAT_SUCCESS);
    ASSERT_EQ(Open("ia0", &ia), DAT_SUCCESS);
    // Integer 1 is free again, and 2 is open.
    ASSERT_EQ(dat_ia_close(first, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS);
    ExpectAllJunkRefused();
  });
}

// covers: semantics 2.4, 19
TEST_P(JunkHandles, IaHandleIsNoOtherHandle) {
  InChild(WithLibrary(GetParam()), [](FakeControl*) {
    DAT_IA_HANDLE ia = nullptr;
    ASSERT_EQ(Open("ia0", &ia), DAT_SUCCESS);
    for (const auto& row : AllCalls()) {
      if (row.expected == DAT_INVALID_HANDLE_IA || row.expected == DAT_INVALID_HANDLE1) continue;
      EXPECT_EQ(row.call(ia), DAT_CLASS_ERROR | DAT_INVALID_HANDLE | row.expected) << row.name;
    }
  });
}

// covers: semantics 2.4, 3.2
TEST_P(JunkHandles, FreedObjectsAndObjectsOfClosedIas) {
  InChild(WithLibrary(GetParam()), [](FakeControl*) {
    DAT_IA_HANDLE ia = nullptr;
    DAT_PZ_HANDLE pz = nullptr;
    DAT_EVD_HANDLE evd = nullptr;
    ASSERT_EQ(Open("ia0", &ia), DAT_SUCCESS);
    ASSERT_EQ(dat_pz_create(ia, &pz), DAT_SUCCESS);
    ASSERT_EQ(dat_evd_create(ia, 8, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG, &evd), DAT_SUCCESS);
    EXPECT_EQ(dat_pz_free(pz), DAT_SUCCESS);
    EXPECT_EQ(dat_pz_free(pz), DAT_CLASS_ERROR | DAT_INVALID_HANDLE | DAT_INVALID_HANDLE_PZ);
    EXPECT_EQ(dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS);
    ExpectRefusedByAll(ia, "a closed IA");
    ExpectRefusedByAll(evd, "an EVD of an unloaded provider");
  });
}

TEST_P(JunkHandles, GoodHandlesWork) {
  InChild(WithLibrary(GetParam()), [](FakeControl*) {
    DAT_IA_HANDLE ia = nullptr;
    DAT_PZ_HANDLE pz = nullptr;
    DAT_EP_HANDLE ep = nullptr;
    DAT_EVD_HANDLE evd = nullptr;
    ASSERT_EQ(Open("ia0", &ia), DAT_SUCCESS);
    ASSERT_EQ(dat_pz_create(ia, &pz), DAT_SUCCESS);
    ASSERT_EQ(dat_ep_create(ia, pz, nullptr, nullptr, nullptr, nullptr, &ep), DAT_SUCCESS);
    ASSERT_EQ(dat_evd_create(ia, 8, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG, &evd), DAT_SUCCESS);
    DAT_CONTEXT context{};
    context.as_64 = 0x123456789ABCDEF0u;
    DAT_CONTEXT got{};
    const std::pair<DAT_HANDLE, DAT_HANDLE_TYPE> handles[] = {{ia, DAT_HANDLE_TYPE_IA},
                                                              {pz, DAT_HANDLE_TYPE_PZ},
                                                              {ep, DAT_HANDLE_TYPE_EP},
                                                              {evd, DAT_HANDLE_TYPE_EVD}};
    for (const auto& [handle, expected] : handles) {
      DAT_HANDLE_TYPE type = DAT_HANDLE_TYPE_CNO;
      EXPECT_EQ(dat_get_handle_type(handle, &type), DAT_SUCCESS);
      EXPECT_EQ(type, expected);
      EXPECT_EQ(dat_set_consumer_context(handle, context), DAT_SUCCESS);
      EXPECT_EQ(dat_get_consumer_context(handle, &got), DAT_SUCCESS);
      EXPECT_EQ(got.as_64, context.as_64);
    }
    EXPECT_EQ(dat_ep_post_send(ep, 0, nullptr, {}, DAT_COMPLETION_DEFAULT_FLAG), kPostSendResult);
    DAT_EVENT event;
    EXPECT_EQ(dat_evd_dequeue(evd, &event), DAT_CLASS_ERROR | DAT_QUEUE_EMPTY);
    EXPECT_EQ(dat_evd_wait(evd, 0, 1, &event, nullptr), DAT_CLASS_ERROR | DAT_NOT_IMPLEMENTED)
        << "an empty slot";
    // The provider translates its IA to the consumer's integer.
    DAT_EVD_HANDLE translated = nullptr;
    EXPECT_EQ(dat_ia_query(ia, &translated, 0, nullptr, 0, nullptr), DAT_SUCCESS);
    EXPECT_EQ(translated, ia);
  });
}

// The calls that go straight to the provider once their handle is known.
const std::vector<CallRow>& DataPathCalls() {
  static const std::vector<CallRow> rows = {
      {"dat_ep_post_recv", Call(dat_ep_post_recv), DAT_INVALID_HANDLE_EP},
      {"dat_ep_post_rdma_read", Call(dat_ep_post_rdma_read), DAT_INVALID_HANDLE_EP},
      {"dat_ep_post_rdma_write", Call(dat_ep_post_rdma_write), DAT_INVALID_HANDLE_EP},
      {"dat_ep_post_send_with_invalidate", Call(dat_ep_post_send_with_invalidate),
       DAT_INVALID_HANDLE_EP},
      {"dat_ep_post_rdma_read_to_rmr", Call(dat_ep_post_rdma_read_to_rmr), DAT_INVALID_HANDLE_EP},
      {"dat_srq_post_recv", Call(dat_srq_post_recv), DAT_INVALID_HANDLE_SRQ},
      {"dat_rmr_bind", Call(dat_rmr_bind), DAT_INVALID_HANDLE_RMR},
      {"dat_evd_wait", Call(dat_evd_wait), DAT_INVALID_HANDLE_EVD_REQUEST},
  };
  return rows;
}

TEST_P(JunkHandles, DataPathKnowsAHandleUntilItIsFreed) {
  InChild(WithLibrary(GetParam()), [](FakeControl* control) {
    control->fill_data_path = true;
    DAT_IA_HANDLE first = nullptr, ia = nullptr;
    DAT_EP_HANDLE freed = nullptr, closed = nullptr;
    ASSERT_EQ(Open("ia0", &first), DAT_SUCCESS);
    ASSERT_EQ(Open("ia0", &ia), DAT_SUCCESS);
    // Integer 1 is free again, and so is junk for all calls.
    ASSERT_EQ(dat_ia_close(first, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS);
    ASSERT_EQ(dat_ep_create(ia, nullptr, nullptr, nullptr, nullptr, nullptr, &freed), DAT_SUCCESS);
    ASSERT_EQ(dat_ep_create(ia, nullptr, nullptr, nullptr, nullptr, nullptr, &closed), DAT_SUCCESS);
    for (const auto& row : DataPathCalls()) {
      for (int i = 0; i < 2; ++i) {
        EXPECT_EQ(row.call(freed), kDataPathResult) << row.name;
        EXPECT_EQ(row.call(closed), kDataPathResult) << row.name;
      }
    }
    ExpectAllJunkRefused();
    EXPECT_EQ(dat_ep_free(freed), DAT_SUCCESS);
    ExpectRefusedByAll(freed, "a freed EP");
    EXPECT_EQ(dat_ep_post_recv(closed, 0, nullptr, {}, DAT_COMPLETION_DEFAULT_FLAG),
              kDataPathResult);
    EXPECT_EQ(dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS);
    ExpectRefusedByAll(closed, "an EP of an unloaded provider");
  });
}

INSTANTIATE_TEST_SUITE_P(Providers, JunkHandles,
                         ::testing::Values("libdaplfake.so.2", "libdaplforeign.so.2"));

TEST(LastReason, IsTheProvidersAfterItsFailureAndOursAfterOurs) {
  InChild(WithLibrary("libdaplfake.so.2"), [](FakeControl*) {
    EXPECT_EQ(LastReason(), "") << "nothing failed yet";
    DAT_IA_HANDLE ia = nullptr;
    DAT_EP_HANDLE ep = nullptr;
    DAT_EVD_HANDLE evd = nullptr;
    ASSERT_EQ(Open("ia0", &ia), DAT_SUCCESS);
    ASSERT_EQ(dat_ep_create(ia, nullptr, nullptr, nullptr, nullptr, nullptr, &ep), DAT_SUCCESS);
    ASSERT_EQ(dat_evd_create(ia, 8, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG, &evd), DAT_SUCCESS);
    dat_ep_post_send(ep, 0, nullptr, {}, DAT_COMPLETION_DEFAULT_FLAG);
    EXPECT_EQ(LastReason(), "fake: queue full");
    dat_ep_free(nullptr);
    EXPECT_THAT(LastReason(), ::testing::StartsWith("dat_ep_free: "));
    DAT_EVENT event;
    dat_evd_dequeue(evd, &event);
    EXPECT_THAT(LastReason(), ::testing::StartsWith("dat_ep_free: ")) << "empty is no failure";
    dat_ep_post_send(ep, 0, nullptr, {}, DAT_COMPLETION_DEFAULT_FLAG);
    char cut[5] = "xxxx";
    EXPECT_EQ(softdat_last_reason(cut, sizeof cut), 16u);
    EXPECT_STREQ(cut, "fake");
    EXPECT_EQ(dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS);
    EXPECT_THAT(LastReason(), ::testing::HasSubstr("no longer loaded"));
  });
}

TEST(LastReason, OfACallThatWentStraightToTheProvider) {
  InChild(WithLibrary("libdaplfake.so.2"), [](FakeControl* control) {
    control->fill_data_path = true;
    DAT_IA_HANDLE ia = nullptr;
    DAT_EP_HANDLE ep = nullptr;
    ASSERT_EQ(Open("ia0", &ia), DAT_SUCCESS);
    ASSERT_EQ(dat_ep_create(ia, nullptr, nullptr, nullptr, nullptr, nullptr, &ep), DAT_SUCCESS);
    for (int i = 0; i < 3; ++i) {
      dat_ep_free(nullptr);
      EXPECT_THAT(LastReason(), ::testing::StartsWith("dat_ep_free: "));
      dat_ep_post_recv(ep, 0, nullptr, {}, DAT_COMPLETION_DEFAULT_FLAG);
      EXPECT_EQ(LastReason(), "fake: data path");
      EXPECT_NE(dat_ep_query(ep, DAT_EP_FIELD_ALL, nullptr), DAT_SUCCESS) << "an empty slot";
      EXPECT_THAT(LastReason(), ::testing::StartsWith("dat_ep_query: "));
    }
  });
}

// covers: semantics 2.4
TEST(DatsGetIaHandle, TranslatesBothWays) {
  InChild(WithLibrary("libdaplfake.so.2"), [](FakeControl*) {
    DAT_IA_HANDLE ia = nullptr;
    ASSERT_EQ(Open("ia0", &ia), DAT_SUCCESS);
    DAT_IA_HANDLE object = nullptr;
    DAT_IA_HANDLE back = nullptr;
    EXPECT_EQ(dats_get_ia_handle(ia, &object), DAT_SUCCESS);
    EXPECT_NE(object, ia);
    EXPECT_EQ(dats_get_ia_handle(object, &back), DAT_SUCCESS);
    EXPECT_EQ(back, ia);
    EXPECT_EQ(dats_get_ia_handle(nullptr, &back), 0x8005000Bu);
    EXPECT_EQ(dats_get_ia_handle(&back, &back), 0x8005000Bu);
    EXPECT_EQ(dats_get_ia_handle(ia, nullptr) & DAT_TYPE_MASK, DAT_INVALID_PARAMETER);
  });
}

}  // namespace
}  // namespace softdat::registry::testing
