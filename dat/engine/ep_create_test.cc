// SPDX-License-Identifier: BSD-3-Clause
// Creation, attributes, query, modification and life of endpoints (semantics 8.1, 8.2).
#include <cstring>

#include "dat/engine/testing/engine_test.h"
#include "dat2/softdat.h"

namespace softdat::engine::testing {
namespace {

DAT_EP_ATTR SomeAttributes() {
  DAT_EP_ATTR attr;
  std::memset(&attr, 0, sizeof(attr));
  attr.max_recv_dtos = attr.max_request_dtos = 10;
  attr.max_recv_iov = attr.max_request_iov = 2;
  return attr;
}

// Writes any value that a C program can put there.
template <typename Enum>
void SetRaw(Enum* e, int value) {
  std::memcpy(e, &value, sizeof(value));
}

class EpCreateTest : public EngineTest {
 protected:
  DAT_EP_PARAM Query(DAT_EP_HANDLE ep) {
    DAT_EP_PARAM param;
    EXPECT_EQ(slots::EpQuery(ep, DAT_EP_FIELD_ALL, &param), DAT_SUCCESS);
    return param;
  }
  DAT_RETURN Create(const DAT_EP_ATTR& attr) {
    return slots::EpCreate(ia_, pz_, recv_evd_, request_evd_, connect_evd_, &attr, &ep_);
  }

  DAT_EP_HANDLE ep_ = DAT_HANDLE_NULL;
};

// covers: semantics 8.1
TEST_F(EpCreateTest, DefaultsCanBeQueriedAndUsedAgain) {
  DAT_EP_PARAM param = Query(MakeEp());
  EXPECT_EQ(param.ep_state, DAT_EP_STATE_UNCONNECTED);
  EXPECT_EQ(param.pz_handle, pz_);
  EXPECT_EQ(param.recv_evd_handle, recv_evd_);
  EXPECT_EQ(param.request_evd_handle, request_evd_);
  EXPECT_EQ(param.connect_evd_handle, connect_evd_);
  EXPECT_EQ(param.srq_handle, nullptr);
  EXPECT_EQ(param.local_ia_address_ptr->sa_family, AF_INET);
  EXPECT_NE(param.remote_ia_address_ptr, nullptr);
  EXPECT_EQ(param.comm.domain, AF_INET);
  EXPECT_EQ(param.ep_attr.max_recv_dtos, 16);
  EXPECT_EQ(param.ep_attr.max_request_iov, 4);
  EXPECT_EQ(param.ep_attr.max_rdma_read_out, 4);
  EXPECT_EQ(param.ep_attr.max_message_size, 1u << 30);
  param.ep_attr.max_request_dtos = 50;
  ASSERT_EQ(Create(param.ep_attr), DAT_SUCCESS);
  EXPECT_EQ(Query(ep_).ep_attr.max_request_dtos, 50);
}

// covers: semantics 8.1, 19
TEST_F(EpCreateTest, ZeroedAttributesAreServed) {
  ASSERT_EQ(Create(SomeAttributes()), DAT_SUCCESS);
  const DAT_EP_ATTR attr = Query(ep_).ep_attr;
  EXPECT_EQ(attr.max_message_size, 0u);
  EXPECT_EQ(attr.max_rdma_read_iov, 2);
  EXPECT_EQ(attr.max_rdma_write_iov, 2);
  EXPECT_EQ(attr.srq_soft_hw, DAT_HW_DEFAULT);
  EXPECT_EQ(adapter().last_qp().attributes.max_read_out, 4u);
  EXPECT_EQ(adapter().last_qp().attributes.max_send_iov, 2u);
}

// covers: semantics 8.1
TEST_F(EpCreateTest, BadAttributesNameArgument6) {
  const auto bad = [this](auto change) {
    DAT_EP_ATTR attr = SomeAttributes();
    change(attr);
    return Create(attr);
  };
  EXPECT_EQ(bad([](DAT_EP_ATTR& a) { a.max_recv_dtos = -1; }), Arg(6));
  EXPECT_EQ(bad([](DAT_EP_ATTR& a) { a.max_recv_dtos = 0; }), Arg(6));
  EXPECT_EQ(bad([](DAT_EP_ATTR& a) { a.max_request_dtos = 5000; }), Arg(6));
  EXPECT_EQ(bad([](DAT_EP_ATTR& a) { a.max_recv_iov = 0; }), Arg(6));
  EXPECT_EQ(bad([](DAT_EP_ATTR& a) { a.max_request_iov = 9; }), Arg(6));
  EXPECT_EQ(bad([](DAT_EP_ATTR& a) { a.max_rdma_read_in = 17; }), Arg(6));
  EXPECT_EQ(bad([](DAT_EP_ATTR& a) { a.max_rdma_read_out = -1; }), Arg(6));
  EXPECT_EQ(bad([](DAT_EP_ATTR& a) { a.max_rdma_read_iov = 9; }), Arg(6));
  EXPECT_EQ(bad([](DAT_EP_ATTR& a) { a.max_message_size = (1u << 30) + 1; }), Arg(6));
  EXPECT_EQ(bad([](DAT_EP_ATTR& a) { a.recv_completion_flags = DAT_COMPLETION_SUPPRESS_FLAG; }),
            Arg(6));
  EXPECT_EQ(bad([](DAT_EP_ATTR& a) {
              a.request_completion_flags = static_cast<DAT_COMPLETION_FLAGS>(
                  DAT_COMPLETION_UNSIGNALLED_FLAG | DAT_COMPLETION_EVD_THRESHOLD_FLAG);
            }),
            Arg(6));
  EXPECT_EQ(bad([](DAT_EP_ATTR& a) { a.ep_provider_specific_count = 1; }), Arg(6));
  EXPECT_EQ(bad([](DAT_EP_ATTR& a) { a.qos = DAT_QOS_ECONOMY; }), Ret(DAT_MODEL_NOT_SUPPORTED));
  EXPECT_EQ(bad([](DAT_EP_ATTR& a) { a.service_type = static_cast<DAT_SERVICE_TYPE>(1); }),
            Ret(DAT_MODEL_NOT_SUPPORTED));
  // Values outside of their enumerations.
  EXPECT_EQ(bad([](DAT_EP_ATTR& a) { SetRaw(&a.service_type, 77); }), Arg(6));
  EXPECT_EQ(bad([](DAT_EP_ATTR& a) { SetRaw(&a.qos, -1); }), Ret(DAT_MODEL_NOT_SUPPORTED));
  EXPECT_EQ(bad([](DAT_EP_ATTR& a) { SetRaw(&a.recv_completion_flags, 0x4000); }), Arg(6));
  EXPECT_EQ(bad([](DAT_EP_ATTR& a) { SetRaw(&a.request_completion_flags, -1); }), Arg(6));
  EXPECT_EQ(ep_, nullptr);
  EXPECT_TRUE(adapter().qps.empty());
}

// covers: semantics 8.1
TEST_F(EpCreateTest, StreamsOfOneEvdMayDiffer) {
  recv_evd_ = request_evd_ = MakeEvd(DAT_EVD_DTO_FLAG);
  const auto state = [this] {
    DAT_EVD_PARAM param{};
    EXPECT_EQ(slots::EvdQuery(recv_evd_, DAT_EVD_FIELD_ALL, &param), DAT_SUCCESS);
    return param.evd_state & ~0xf;
  };
  DAT_EP_ATTR attr = SomeAttributes();
  attr.request_completion_flags = DAT_COMPLETION_UNSIGNALLED_FLAG;
  ASSERT_EQ(Create(attr), DAT_SUCCESS);
  EXPECT_EQ(state(), DAT_EVD_STATE_CONFIG_THRESHOLD);
  attr.recv_completion_flags = DAT_COMPLETION_SOLICITED_WAIT_FLAG;
  const DAT_EP_HANDLE mixed = ep_;
  ASSERT_EQ(Create(attr), DAT_SUCCESS);
  EXPECT_EQ(state(), DAT_EVD_STATE_CONFIG_THRESHOLD);
  ASSERT_EQ(slots::EpFree(mixed), DAT_SUCCESS);  // now each stream has some that do not notify
  EXPECT_EQ(state(), DAT_EVD_STATE_CONFIG_NOTIFY);
  DAT_EP_PARAM param{};
  param.request_evd_handle = MakeEvd(DAT_EVD_DTO_FLAG);
  ASSERT_EQ(slots::EpModify(ep_, DAT_EP_FIELD_REQUEST_EVD_HANDLE, &param), DAT_SUCCESS);
  EXPECT_EQ(state(), DAT_EVD_STATE_CONFIG_SOLICITED);
  ASSERT_EQ(slots::EpFree(ep_), DAT_SUCCESS);
  EXPECT_EQ(state(), DAT_EVD_STATE_CONFIG_THRESHOLD);
}

// covers: semantics 8.1
TEST_F(EpCreateTest, Handles) {
  const auto create = [](DAT_IA_HANDLE ia, DAT_PZ_HANDLE pz, DAT_EVD_HANDLE recv,
                         DAT_EVD_HANDLE request, DAT_EVD_HANDLE connect, DAT_EP_HANDLE* out) {
    return slots::EpCreate(ia, pz, recv, request, connect, nullptr, out);
  };
  DAT_PZ_HANDLE stale;
  ASSERT_EQ(slots::PzCreate(ia_, &stale), DAT_SUCCESS);
  ASSERT_EQ(slots::PzFree(stale), DAT_SUCCESS);
  EXPECT_EQ(create(pz_, pz_, recv_evd_, request_evd_, connect_evd_, &ep_),
            Ret(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA));
  EXPECT_EQ(create(ia_, stale, recv_evd_, request_evd_, connect_evd_, &ep_),
            Ret(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_PZ));
  EXPECT_EQ(create(ia_, pz_, connect_evd_, request_evd_, connect_evd_, &ep_),
            Ret(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EVD_RECV));
  EXPECT_EQ(create(ia_, pz_, recv_evd_, connect_evd_, connect_evd_, &ep_),
            Ret(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EVD_REQUEST));
  EXPECT_EQ(create(ia_, pz_, recv_evd_, request_evd_, recv_evd_, &ep_),
            Ret(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EVD_CONN));
  EXPECT_EQ(create(ia_, pz_, recv_evd_, request_evd_, connect_evd_, nullptr), Arg(7));
  EXPECT_EQ(create(ia_, nullptr, nullptr, nullptr, nullptr, &ep_), DAT_SUCCESS);
  int junk = 0;
  EXPECT_EQ(slots::EpQuery(&junk, DAT_EP_FIELD_ALL, nullptr),
            Ret(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP));
  EXPECT_EQ(slots::EpQuery(ep_, DAT_EP_FIELD_ALL, nullptr), Arg(3));
  EXPECT_EQ(slots::EpQuery(ep_, UINT64_C(0x80000000), nullptr), Arg(2));
}

// OFA's dapltest uses a connect EVD of another instance of the IA, but only DTO EVDs of its own.
// covers: semantics 4, 19
TEST_F(EpCreateTest, EvdsOfAnotherInstance) {
  char name[] = "fake-0";
  DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
  DAT_IA_HANDLE other;
  ASSERT_EQ(slots::IaOpen(name, 8, &async, &other), DAT_SUCCESS);
  DAT_PZ_HANDLE pz;
  ASSERT_EQ(slots::PzCreate(other, &pz), DAT_SUCCESS);
  EXPECT_EQ(slots::EpCreate(other, pz_, nullptr, nullptr, connect_evd_, nullptr, &ep_),
            Ret(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_PZ));
  EXPECT_EQ(slots::EpCreate(other, pz, recv_evd_, nullptr, connect_evd_, nullptr, &ep_),
            Ret(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EVD_RECV));
  EXPECT_EQ(slots::EpCreate(other, pz, nullptr, nullptr, connect_evd_, nullptr, &ep_), DAT_SUCCESS);
  EXPECT_EQ(slots::EvdFree(connect_evd_), Ret(DAT_INVALID_STATE, DAT_INVALID_STATE_EVD_IN_USE));
  EXPECT_EQ(slots::IaClose(other, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS);
  EXPECT_EQ(slots::EvdFree(connect_evd_), DAT_SUCCESS);
}

TEST_F(EpCreateTest, FailureOfTheBackEndGivesEverythingBack) {
  adapter().next_status = Status(Code::kNoResources, "test");
  EXPECT_EQ(Create(SomeAttributes()), Ret(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_TEP));
  EXPECT_EQ(slots::EvdFree(recv_evd_), DAT_SUCCESS);
  EXPECT_EQ(slots::EvdFree(request_evd_), DAT_SUCCESS);
  EXPECT_EQ(slots::EvdFree(connect_evd_), DAT_SUCCESS);
  EXPECT_EQ(slots::PzFree(pz_), DAT_SUCCESS);
}

// covers: semantics 3.1, 3.2
TEST_F(EpCreateTest, FreeReleasesPartsAndKillsTheHandle) {
  const DAT_EP_HANDLE ep = MakeEp();
  EXPECT_EQ(slots::PzFree(pz_), Ret(DAT_INVALID_STATE, DAT_INVALID_STATE_PZ_IN_USE));
  EXPECT_EQ(slots::EvdFree(recv_evd_), Ret(DAT_INVALID_STATE, DAT_INVALID_STATE_EVD_IN_USE));
  ASSERT_EQ(slots::EpFree(ep), DAT_SUCCESS);
  EXPECT_TRUE(adapter().qps.empty());
  EXPECT_EQ(slots::EpFree(ep), Ret(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP));
  EXPECT_EQ(slots::PzFree(pz_), DAT_SUCCESS);
  EXPECT_EQ(slots::EvdFree(recv_evd_), DAT_SUCCESS);
}

// covers: semantics 8.1
TEST_F(EpCreateTest, StatusTellsIdleness) {
  const DAT_EP_HANDLE ep = MakeEp();
  DAT_BOOLEAN recv_idle = DAT_FALSE;
  DAT_BOOLEAN request_idle = DAT_FALSE;
  ASSERT_EQ(slots::EpGetStatus(ep, nullptr, &recv_idle, &request_idle), DAT_SUCCESS);
  EXPECT_EQ(recv_idle, DAT_TRUE);
  EXPECT_EQ(request_idle, DAT_TRUE);
  adapter().last_qp().outstanding_receives = 3;
  adapter().last_qp().outstanding_sends = 1;
  ASSERT_EQ(slots::EpGetStatus(ep, nullptr, &recv_idle, &request_idle), DAT_SUCCESS);
  EXPECT_EQ(recv_idle, DAT_FALSE);
  EXPECT_EQ(request_idle, DAT_FALSE);
  DAT_COUNT buffers = 0;
  DAT_COUNT span = 0;
  ASSERT_EQ(slots::EpRecvQuery(ep, &buffers, &span), DAT_SUCCESS);
  EXPECT_EQ(buffers, 3);
  EXPECT_EQ(span, 3);
}

// covers: semantics 8.1
TEST_F(EpCreateTest, QueryShowsWhereTheConnectionLeads) {
  const DAT_EP_HANDLE ep = MakeEpIn(DAT_EP_STATE_CONNECTED);
  std::memcpy(&adapter().last_qp().addresses.remote, &peer_, sizeof(peer_));
  std::memcpy(&adapter().last_qp().addresses.local, &peer_, sizeof(peer_));
  adapter().last_qp().addresses.remote_port = 4000;
  const DAT_EP_PARAM param = Query(ep);
  EXPECT_EQ(reinterpret_cast<sockaddr_in*>(param.remote_ia_address_ptr)->sin_addr.s_addr,
            peer_.sin_addr.s_addr);
  EXPECT_EQ(param.remote_port_qual, 4000u);
}

// The IA confirms completions, but the peer does not. A program may make another EP from the
// attributes that it queried.
TEST_F(EpCreateTest, QueryTellsOfAPeerThatDoesNotConfirm) {
  adapter().limits.confirmed_completions = true;
  const DAT_EP_HANDLE ep = MakeEpIn(DAT_EP_STATE_CONNECTED);
  EXPECT_EQ(Query(ep).ep_attr.ep_provider_specific_count, 0);
  adapter().last_qp().confirms = false;
  DAT_EP_ATTR attr = Query(ep).ep_attr;
  ASSERT_EQ(attr.ep_provider_specific_count, 1);
  EXPECT_STREQ(attr.ep_provider_specific[0].name, SOFTDAT_ATTR_COMPLETION);
  EXPECT_STREQ(attr.ep_provider_specific[0].value, "taken");
  EXPECT_EQ(Query(MakeEp(&attr)).ep_attr.ep_provider_specific_count, 0);
}

// covers: semantics 8.2
TEST_F(EpCreateTest, ModifyReplacesParts) {
  const DAT_EP_HANDLE ep = MakeEp();
  const DAT_EVD_HANDLE other = MakeEvd(DAT_EVD_DTO_FLAG);
  DAT_EP_PARAM param{};
  param.recv_evd_handle = other;
  param.ep_attr.max_recv_dtos = 33;
  ASSERT_EQ(slots::EpModify(ep, DAT_EP_FIELD_RECV_EVD_HANDLE | DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS,
                            &param),
            DAT_SUCCESS);
  EXPECT_EQ(adapter().last_qp().attributes.max_recv, 33u);
  EXPECT_EQ(Query(ep).recv_evd_handle, other);
  EXPECT_EQ(Query(ep).request_evd_handle, request_evd_);
  EXPECT_EQ(slots::EvdFree(recv_evd_), DAT_SUCCESS);
  EXPECT_EQ(slots::EvdFree(other), Ret(DAT_INVALID_STATE, DAT_INVALID_STATE_EVD_IN_USE));
}

// covers: semantics 8.2
TEST_F(EpCreateTest, ModifyIsAllOrNothing) {
  const DAT_EP_HANDLE ep = MakeEp();
  const DAT_EVD_HANDLE other = MakeEvd(DAT_EVD_DTO_FLAG);
  DAT_EP_PARAM param{};
  param.recv_evd_handle = other;
  param.ep_attr.max_recv_dtos = 100000;
  const DAT_EP_PARAM_MASK mask = DAT_EP_FIELD_RECV_EVD_HANDLE | DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS;
  EXPECT_EQ(slots::EpModify(ep, mask, &param), Arg(3));
  param.ep_attr.max_recv_dtos = 5;
  adapter().last_qp().next_status = Status(Code::kNoMemory, "test");
  EXPECT_EQ(slots::EpModify(ep, mask, &param),
            Ret(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY));
  EXPECT_EQ(Query(ep).recv_evd_handle, recv_evd_);
  EXPECT_EQ(Query(ep).ep_attr.max_recv_dtos, 16);
  EXPECT_EQ(slots::EvdFree(other), DAT_SUCCESS);
  EXPECT_EQ(slots::EvdFree(recv_evd_), Ret(DAT_INVALID_STATE, DAT_INVALID_STATE_EVD_IN_USE));
}

// covers: semantics 8.2
TEST_F(EpCreateTest, ModifyOfFlagsAlone) {
  ASSERT_EQ(Create(SomeAttributes()), DAT_SUCCESS);
  DAT_EP_PARAM param{};
  param.ep_attr.request_completion_flags = DAT_COMPLETION_UNSIGNALLED_FLAG;
  ASSERT_EQ(slots::EpModify(ep_, DAT_EP_FIELD_EP_ATTR_REQUEST_COMPLETION_FLAGS, &param),
            DAT_SUCCESS);
  EXPECT_EQ(Query(ep_).ep_attr.request_completion_flags, DAT_COMPLETION_UNSIGNALLED_FLAG);
  const auto config = [this] {
    DAT_EVD_PARAM evd{};
    EXPECT_EQ(slots::EvdQuery(request_evd_, DAT_EVD_FIELD_ALL, &evd), DAT_SUCCESS);
    return evd.evd_state & ~0xf;
  };
  EXPECT_EQ(config(), DAT_EVD_STATE_CONFIG_NOTIFY);
  param.ep_attr.request_completion_flags = DAT_COMPLETION_DEFAULT_FLAG;
  ASSERT_EQ(slots::EpModify(ep_, DAT_EP_FIELD_EP_ATTR_REQUEST_COMPLETION_FLAGS, &param),
            DAT_SUCCESS);
  EXPECT_EQ(config(), DAT_EVD_STATE_CONFIG_THRESHOLD);
}

// covers: semantics 8.2
TEST_F(EpCreateTest, ModifyRefusesWhatIsFixedOrWrong) {
  const DAT_EP_HANDLE ep = MakeEp();
  DAT_EP_PARAM param{};
  SetRaw(&param.ep_attr.qos, 0x100);
  EXPECT_EQ(slots::EpModify(ep, DAT_EP_FIELD_EP_ATTR_QOS, &param), Ret(DAT_MODEL_NOT_SUPPORTED));
  for (const DAT_EP_PARAM_MASK mask :
       {DAT_EP_FIELD_IA_HANDLE, DAT_EP_FIELD_EP_STATE, DAT_EP_FIELD_COMM,
        DAT_EP_FIELD_LOCAL_IA_ADDRESS_PTR, DAT_EP_FIELD_LOCAL_PORT_QUAL,
        DAT_EP_FIELD_REMOTE_IA_ADDRESS_PTR, DAT_EP_FIELD_REMOTE_PORT_QUAL,
        DAT_EP_FIELD_SRQ_HANDLE}) {
    EXPECT_EQ(slots::EpModify(ep, mask, &param), Arg(3)) << mask;
  }
  EXPECT_EQ(slots::EpModify(ep, UINT64_C(0x80000000), &param), Arg(2));
  EXPECT_EQ(slots::EpModify(ep, DAT_EP_FIELD_PZ_HANDLE, nullptr), Arg(3));
  EXPECT_EQ(slots::EpModify(ep, DAT_EP_FIELD_PZ_HANDLE, &param),
            Ret(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_PZ));
  param.connect_evd_handle = recv_evd_;
  EXPECT_EQ(slots::EpModify(ep, DAT_EP_FIELD_CONNECT_EVD_HANDLE, &param),
            Ret(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EVD_CONN));
  EXPECT_TRUE(adapter().last_qp().calls.empty());
}

TEST_F(EpCreateTest, NothingElseWhileTheBackEndIsReconfigured) {
  const DAT_EP_HANDLE ep = MakeEp();
  adapter().last_qp().during = [&](const std::string& call) {
    if (call != "configure") return;
    EXPECT_EQ(Connect(ep), Ret(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_PROVIDERCONTROL));
    DAT_EP_PARAM param{};
    param.pz_handle = pz_;
    EXPECT_EQ(slots::EpModify(ep, DAT_EP_FIELD_PZ_HANDLE, &param),
              Ret(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_PROVIDERCONTROL));
  };
  DAT_EP_PARAM param{};
  param.pz_handle = pz_;
  ASSERT_EQ(slots::EpModify(ep, DAT_EP_FIELD_PZ_HANDLE, &param), DAT_SUCCESS);
  EXPECT_EQ(Connect(ep), DAT_SUCCESS);
}

}  // namespace
}  // namespace softdat::engine::testing
