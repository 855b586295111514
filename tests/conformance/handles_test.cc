// SPDX-License-Identifier: BSD-3-Clause
// Wrong handles of every kind at every call: INVALID_HANDLE, never a crash (semantics 2.4, 3.2).
#include <functional>
#include <utility>

#include "tests/conformance/fixture.h"

namespace softdat::conformance {
namespace {

enum class Kind { kIa, kEp, kEvd, kCno, kPz, kLmr, kRmr, kPsp, kRsp, kCsp, kCr, kSrq, kAny };

// A place for results that must not come.
struct Scratch {
  DAT_HANDLE handle = DAT_HANDLE_NULL;
  DAT_EVENT event{};
  DAT_COUNT count = 0;
  DAT_COUNT count2 = 0;
  DAT_CONTEXT context{};
  DAT_HANDLE_TYPE type{};
  DAT_RMR_CONTEXT rmr_context = 0;
  DAT_LMR_TRIPLET iov{};
  DAT_RMR_TRIPLET remote{};
  DAT_IA_ATTR ia{};
  DAT_EP_PARAM ep{};
  DAT_EVD_PARAM evd{};
  DAT_CNO_PARAM cno{};
  DAT_PZ_PARAM pz{};
  DAT_LMR_PARAM lmr{};
  DAT_RMR_PARAM rmr{};
  DAT_PSP_PARAM psp{};
  DAT_RSP_PARAM rsp{};
#if DAT_VERSION_MAJOR >= 2
  DAT_CSP_PARAM csp{};
#endif
  DAT_CR_PARAM cr{};
  DAT_SRQ_PARAM srq{};
  DAT_SRQ_ATTR srq_attr{8, 1, 0};
  DAT_EP_STATE state{};
  DAT_CONN_QUAL qualifier = 0;
  sockaddr_storage address{};
  DAT_IA_ADDRESS_PTR to() { return reinterpret_cast<DAT_IA_ADDRESS_PTR>(&address); }
};

struct Call {
  const char* name;
  Kind kind;  // of the handle that the call takes
  std::function<DAT_RETURN(DAT_HANDLE, Scratch&)> run;
};

using H = DAT_HANDLE;
using S = Scratch&;
constexpr DAT_COMPLETION_FLAGS kFlags = DAT_COMPLETION_DEFAULT_FLAG;

const Call kCalls[] = {
    {"ia_query", Kind::kIa,
     [](H h, S s) { return dat_ia_query(h, nullptr, DAT_IA_FIELD_ALL, &s.ia, 0, nullptr); }},
    {"ia_close", Kind::kIa, [](H h, S) { return dat_ia_close(h, DAT_CLOSE_ABRUPT_FLAG); }},
    {"pz_create", Kind::kIa, [](H h, S s) { return dat_pz_create(h, &s.handle); }},
    {"evd_create", Kind::kIa,
     [](H h, S s) { return dat_evd_create(h, 8, nullptr, DAT_EVD_DTO_FLAG, &s.handle); }},
    {"cno_create", Kind::kIa,
     [](H h, S s) { return dat_cno_create(h, DAT_OS_WAIT_PROXY_AGENT_NULL, &s.handle); }},
    {"lmr_sync_rdma_read", Kind::kIa, [](H h, S) { return dat_lmr_sync_rdma_read(h, nullptr, 0); }},
    {"lmr_sync_rdma_write", Kind::kIa,
     [](H h, S) { return dat_lmr_sync_rdma_write(h, nullptr, 0); }},
    {"evd_query", Kind::kEvd, [](H h, S s) { return dat_evd_query(h, DAT_EVD_FIELD_ALL, &s.evd); }},
    {"evd_modify_cno", Kind::kEvd, [](H h, S) { return dat_evd_modify_cno(h, nullptr); }},
    {"evd_enable", Kind::kEvd, [](H h, S) { return dat_evd_enable(h); }},
    {"evd_disable", Kind::kEvd, [](H h, S) { return dat_evd_disable(h); }},
    {"evd_set_unwaitable", Kind::kEvd, [](H h, S) { return dat_evd_set_unwaitable(h); }},
    {"evd_clear_unwaitable", Kind::kEvd, [](H h, S) { return dat_evd_clear_unwaitable(h); }},
    {"evd_wait", Kind::kEvd, [](H h, S s) { return dat_evd_wait(h, 0, 1, &s.event, &s.count); }},
    {"evd_dequeue", Kind::kEvd, [](H h, S s) { return dat_evd_dequeue(h, &s.event); }},
    {"evd_post_se", Kind::kEvd, [](H h, S s) { return dat_evd_post_se(h, &s.event); }},
    {"evd_resize", Kind::kEvd, [](H h, S) { return dat_evd_resize(h, 8); }},
    {"evd_free", Kind::kEvd, [](H h, S) { return dat_evd_free(h); }},
    {"cno_wait", Kind::kCno, [](H h, S s) { return dat_cno_wait(h, 0, &s.handle); }},
    {"cno_query", Kind::kCno, [](H h, S s) { return dat_cno_query(h, DAT_CNO_FIELD_ALL, &s.cno); }},
    {"cno_modify_agent", Kind::kCno,
     [](H h, S) { return dat_cno_modify_agent(h, DAT_OS_WAIT_PROXY_AGENT_NULL); }},
    {"cno_free", Kind::kCno, [](H h, S) { return dat_cno_free(h); }},
    {"pz_query", Kind::kPz, [](H h, S s) { return dat_pz_query(h, DAT_PZ_FIELD_ALL, &s.pz); }},
    {"pz_free", Kind::kPz, [](H h, S) { return dat_pz_free(h); }},
    {"rmr_create", Kind::kPz, [](H h, S s) { return dat_rmr_create(h, &s.handle); }},
    {"lmr_query", Kind::kLmr, [](H h, S s) { return dat_lmr_query(h, DAT_LMR_FIELD_ALL, &s.lmr); }},
    {"lmr_free", Kind::kLmr, [](H h, S) { return dat_lmr_free(h); }},
    {"rmr_query", Kind::kRmr, [](H h, S s) { return dat_rmr_query(h, DAT_RMR_FIELD_ALL, &s.rmr); }},
    {"rmr_free", Kind::kRmr, [](H h, S) { return dat_rmr_free(h); }},
    {"ep_query", Kind::kEp, [](H h, S s) { return dat_ep_query(h, DAT_EP_FIELD_ALL, &s.ep); }},
    {"ep_modify", Kind::kEp, [](H h, S s) { return dat_ep_modify(h, 0, &s.ep); }},
    {"ep_get_status", Kind::kEp,
     [](H h, S s) { return dat_ep_get_status(h, &s.state, nullptr, nullptr); }},
    {"ep_connect", Kind::kEp,
     [](H h, S s) {
       s.address.ss_family = AF_INET;
       return dat_ep_connect(h, s.to(), 1, 1000, 0, nullptr, DAT_QOS_BEST_EFFORT,
                             DAT_CONNECT_DEFAULT_FLAG);
     }},
    {"ep_dup_connect", Kind::kEp,
     [](H h, S) { return dat_ep_dup_connect(h, h, 1000, 0, nullptr, DAT_QOS_BEST_EFFORT); }},
    {"ep_disconnect", Kind::kEp,
     [](H h, S) { return dat_ep_disconnect(h, DAT_CLOSE_ABRUPT_FLAG); }},
    {"ep_post_send", Kind::kEp,
     [](H h, S) { return dat_ep_post_send(h, 0, nullptr, Cookie(1), kFlags); }},
    {"ep_post_recv", Kind::kEp,
     [](H h, S) { return dat_ep_post_recv(h, 0, nullptr, Cookie(1), kFlags); }},
    {"ep_post_rdma_write", Kind::kEp,
     [](H h, S s) { return dat_ep_post_rdma_write(h, 0, nullptr, Cookie(1), &s.remote, kFlags); }},
    {"ep_post_rdma_read", Kind::kEp,
     [](H h, S s) { return dat_ep_post_rdma_read(h, 0, nullptr, Cookie(1), &s.remote, kFlags); }},
    {"ep_recv_query", Kind::kEp,
     [](H h, S s) { return dat_ep_recv_query(h, &s.count, &s.count2); }},
    {"ep_set_watermark", Kind::kEp, [](H h, S) { return dat_ep_set_watermark(h, 1, 1); }},
    {"ep_reset", Kind::kEp, [](H h, S) { return dat_ep_reset(h); }},
    {"ep_free", Kind::kEp, [](H h, S) { return dat_ep_free(h); }},
    {"psp_query", Kind::kPsp, [](H h, S s) { return dat_psp_query(h, DAT_PSP_FIELD_ALL, &s.psp); }},
    {"psp_free", Kind::kPsp, [](H h, S) { return dat_psp_free(h); }},
    {"rsp_query", Kind::kRsp, [](H h, S s) { return dat_rsp_query(h, DAT_RSP_FIELD_ALL, &s.rsp); }},
    {"rsp_free", Kind::kRsp, [](H h, S) { return dat_rsp_free(h); }},
    {"cr_query", Kind::kCr, [](H h, S s) { return dat_cr_query(h, DAT_CR_FIELD_ALL, &s.cr); }},
    {"cr_accept", Kind::kCr, [](H h, S) { return dat_cr_accept(h, nullptr, 0, nullptr); }},
    {"cr_reject", Kind::kCr, [](H h, S) { return Reject(h); }},
    {"cr_handoff", Kind::kCr, [](H h, S) { return dat_cr_handoff(h, 1); }},
    {"srq_query", Kind::kSrq, [](H h, S s) { return dat_srq_query(h, DAT_SRQ_FIELD_ALL, &s.srq); }},
    {"srq_post_recv", Kind::kSrq,
     [](H h, S) { return dat_srq_post_recv(h, 0, nullptr, Cookie(1)); }},
    {"srq_resize", Kind::kSrq, [](H h, S) { return dat_srq_resize(h, 8); }},
    {"srq_set_lw", Kind::kSrq, [](H h, S) { return dat_srq_set_lw(h, 1); }},
    {"srq_free", Kind::kSrq, [](H h, S) { return dat_srq_free(h); }},
    {"get_consumer_context", Kind::kAny,
     [](H h, S s) { return dat_get_consumer_context(h, &s.context); }},
    {"set_consumer_context", Kind::kAny,
     [](H h, S s) { return dat_set_consumer_context(h, s.context); }},
    {"get_handle_type", Kind::kAny, [](H h, S s) { return dat_get_handle_type(h, &s.type); }},
#if DAT_VERSION_MAJOR >= 2
    {"cno_trigger", Kind::kCno, [](H h, S s) { return dat_cno_trigger(h, &s.handle); }},
    {"rmr_create_for_ep", Kind::kPz, [](H h, S s) { return dat_rmr_create_for_ep(h, &s.handle); }},
    {"ep_common_connect", Kind::kEp,
     [](H h, S s) {
       s.address.ss_family = AF_INET;
       return dat_ep_common_connect(h, s.to(), 1000, 0, nullptr);
     }},
    {"ep_post_send_with_invalidate", Kind::kEp,
     [](H h, S) {
       return dat_ep_post_send_with_invalidate(h, 0, nullptr, Cookie(1), kFlags, DAT_TRUE, 1);
     }},
    {"ep_post_rdma_read_to_rmr", Kind::kEp,
     [](H h, S s) {
       return dat_ep_post_rdma_read_to_rmr(h, &s.remote, Cookie(1), &s.remote, kFlags);
     }},
    {"csp_query", Kind::kCsp, [](H h, S s) { return dat_csp_query(h, DAT_CSP_FIELD_ALL, &s.csp); }},
    {"csp_free", Kind::kCsp, [](H h, S) { return dat_csp_free(h); }},
#endif
};

class HandlesTest : public ConformanceTest {
 protected:
  // Makes a live handle of each kind that needs no peer.
  void SetUp() override {
    ConformanceTest::SetUp();
    memory_ = a_->MakeBuffer(8);
    ASSERT_OK(dat_cno_create(a_->ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &cno_));
    DAT_CONN_QUAL qualifier = 0;
    psp_ = Listen(*a_, &qualifier);
  }
  void TearDown() override {
    EXPECT_OK(dat_cno_free(cno_));
    EXPECT_OK(dat_psp_free(psp_));
    memory_.reset();
    ConformanceTest::TearDown();
  }
  std::vector<std::pair<Kind, DAT_HANDLE>> Live() {
    return {{Kind::kIa, a_->ia}, {Kind::kEp, a_->ep}, {Kind::kEvd, a_->connect_evd},
            {Kind::kPz, a_->pz}, {Kind::kCno, cno_},  {Kind::kLmr, memory_->lmr()},
            {Kind::kPsp, psp_}};
  }
  // A handle of each kind that was valid until just now.
  std::vector<std::pair<Kind, DAT_HANDLE>> Stale() {
    std::vector<std::pair<Kind, DAT_HANDLE>> stale;
    DAT_HANDLE h = DAT_HANDLE_NULL;
    EXPECT_OK(dat_pz_create(a_->ia, &h));
    EXPECT_OK(dat_pz_free(h));
    stale.emplace_back(Kind::kPz, h);
    EXPECT_OK(dat_evd_create(a_->ia, 8, nullptr, DAT_EVD_DTO_FLAG, &h));
    EXPECT_OK(dat_evd_free(h));
    stale.emplace_back(Kind::kEvd, h);
    EXPECT_OK(dat_cno_create(a_->ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &h));
    EXPECT_OK(dat_cno_free(h));
    stale.emplace_back(Kind::kCno, h);
    EXPECT_OK(
        dat_ep_create(a_->ia, a_->pz, a_->recv_evd, a_->request_evd, a_->connect_evd, nullptr, &h));
    EXPECT_OK(dat_ep_free(h));
    stale.emplace_back(Kind::kEp, h);
    const auto buffer = a_->MakeBuffer(8);
    stale.emplace_back(Kind::kLmr, buffer->lmr());
    EXPECT_OK(buffer->Free());
    DAT_CONN_QUAL qualifier = 0;
    h = Listen(*a_, &qualifier);
    EXPECT_OK(dat_psp_free(h));
    stale.emplace_back(Kind::kPsp, h);
    std::string name = TheOptions().ia;
    DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
    EXPECT_OK(dat_ia_open(name.data(), 8, &async, &h));
    EXPECT_OK(dat_ia_close(h, DAT_CLOSE_GRACEFUL_FLAG));
    stale.emplace_back(Kind::kIa, h);
    stale.emplace_back(Kind::kEvd, async);
    return stale;
  }

  std::unique_ptr<Buffer> memory_;
  DAT_CNO_HANDLE cno_ = DAT_HANDLE_NULL;
  DAT_PSP_HANDLE psp_ = DAT_HANDLE_NULL;
};
CONFORMANCE_FAMILIES(HandlesTest);

// covers: semantics 2.4, 3.2
TEST_P(HandlesTest, NullAndJunk) {
  char junk[256] = {};  // a pointer to readable memory that is no object
  for (const Call& call : kCalls) {
    for (const DAT_HANDLE handle :
         {DAT_HANDLE_NULL, DAT_HANDLE{junk}, reinterpret_cast<DAT_HANDLE>(uintptr_t{0x777}),
          reinterpret_cast<DAT_HANDLE>(uintptr_t{0xFFFFFFFFFFFFFFF8})}) {
      SCOPED_TRACE(testing::Message() << call.name << " with " << handle);
      Scratch scratch;
      EXPECT_TYPE(call.run(handle, scratch), DAT_INVALID_HANDLE);
    }
  }
}

// covers: semantics 2.4, 3.2, 19
TEST_P(HandlesTest, HandlesOfAnotherKind) {
  for (const Call& call : kCalls) {
    if (call.kind == Kind::kAny) continue;
    for (const auto& [kind, handle] : Live()) {
      if (kind == call.kind) continue;
      SCOPED_TRACE(testing::Message()
                   << call.name << " with a handle of kind " << static_cast<int>(kind));
      Scratch scratch;
      EXPECT_TYPE(call.run(handle, scratch), DAT_INVALID_HANDLE);
    }
  }
  // None of these calls has freed or changed anything.
  EXPECT_EQ(StateOf(a_->ep), DAT_EP_STATE_UNCONNECTED);
}

// covers: semantics 3.2
TEST_P(HandlesTest, StaleHandles) {
  for (const auto& [kind, handle] : Stale()) {
    for (const Call& call : kCalls) {
      SCOPED_TRACE(testing::Message()
                   << call.name << " with a stale handle of kind " << static_cast<int>(kind));
      Scratch scratch;
      EXPECT_TYPE(call.run(handle, scratch), DAT_INVALID_HANDLE);
    }
  }
}

// covers: semantics 13
TEST_P(HandlesTest, EveryHandleTellsItsTypeAndKeepsAContext) {
  const std::pair<DAT_HANDLE, DAT_HANDLE_TYPE> all[] = {{a_->ia, DAT_HANDLE_TYPE_IA},
                                                        {a_->ep, DAT_HANDLE_TYPE_EP},
                                                        {a_->connect_evd, DAT_HANDLE_TYPE_EVD},
                                                        {a_->pz, DAT_HANDLE_TYPE_PZ},
                                                        {cno_, DAT_HANDLE_TYPE_CNO},
                                                        {memory_->lmr(), DAT_HANDLE_TYPE_LMR},
                                                        {psp_, DAT_HANDLE_TYPE_PSP},
                                                        {a_->async_evd, DAT_HANDLE_TYPE_EVD}};
  for (const auto& [handle, expected] : all) {
    DAT_HANDLE_TYPE type = DAT_HANDLE_TYPE_CR;
    EXPECT_OK(dat_get_handle_type(handle, &type));
    EXPECT_EQ(type, expected);
    DAT_CONTEXT context{};
    context.as_64 = 1;
    EXPECT_OK(dat_get_consumer_context(handle, &context));
    EXPECT_EQ(context.as_64, 0u) << "initially NULL";
    context.as_64 = 0xFEDCBA9876543210u;
    EXPECT_OK(dat_set_consumer_context(handle, context));
    context.as_64 = 0;
    EXPECT_OK(dat_get_consumer_context(handle, &context));
    EXPECT_EQ(context.as_64, 0xFEDCBA9876543210u);
    EXPECT_RETURN(dat_get_consumer_context(handle, nullptr), BadArgument(2));
    EXPECT_RETURN(dat_get_handle_type(handle, nullptr), BadArgument(2));
  }
}

// covers: semantics 8.1, 17
TEST_P(HandlesTest, EpCreateNamesTheHandleThatIsWrong) {
  DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
  const auto create = [&](DAT_PZ_HANDLE pz, DAT_EVD_HANDLE recv, DAT_EVD_HANDLE request,
                          DAT_EVD_HANDLE connect) {
    return dat_ep_create(a_->ia, pz, recv, request, connect, nullptr, &ep);
  };
  Side& a = *a_;
  EXPECT_RETURN(create(a.ep, a.recv_evd, a.request_evd, a.connect_evd),
                BadHandle(DAT_INVALID_HANDLE_PZ));
  EXPECT_RETURN(create(a.pz, a.connect_evd, a.request_evd, a.connect_evd),
                BadHandle(DAT_INVALID_HANDLE_EVD_RECV));
  EXPECT_RETURN(create(a.pz, a.recv_evd, a.connect_evd, a.connect_evd),
                BadHandle(DAT_INVALID_HANDLE_EVD_REQUEST));
  EXPECT_RETURN(create(a.pz, a.recv_evd, a.request_evd, a.recv_evd),
                BadHandle(DAT_INVALID_HANDLE_EVD_CONN));
  EXPECT_RETURN(create(a.pz, a.ia, a.request_evd, a.connect_evd),
                BadHandle(DAT_INVALID_HANDLE_EVD_RECV));
  EXPECT_EQ(ep, DAT_HANDLE_NULL);
}

}  // namespace
}  // namespace softdat::conformance
