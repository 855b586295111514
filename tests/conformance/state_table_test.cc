// SPDX-License-Identifier: BSD-3-Clause
// The table of semantics 8.3, (EP state x call), as data. Seven states are reached over real
// connections. The other two, COMPLETION_PENDING and DISCONNECT_PENDING, last only while a
// handshake or a drain is under way. A test cannot hold them from outside, so they are in
// dat/engine/ep_call_table_test.cc.
#include <netinet/in.h>

#include <cstddef>
#include <cstring>
#include <map>
#include <string>

#include "tests/conformance/fixture.h"

namespace softdat::conformance {
namespace {

// The state after a call that succeeds. "IS": INVALID_STATE with the state's own subtype, and the
// state is unchanged. "--": the handle is gone.
struct Row {
  const char* call;
  std::map<std::string, const char*> cell;
};

// covers: semantics 8.2, 8.3
// clang-format off
const Row kTable[] = {
    {"connect", {{"UC", "AP"}, {"RS", "IS"}, {"PP", "IS"}, {"TP", "IS"}, {"AP", "IS"}, {"CO", "IS"}, {"DI", "IS"}}},
    {"dup_connect", {{"UC", "AP"}, {"RS", "IS"}, {"PP", "IS"}, {"TP", "IS"}, {"AP", "IS"}, {"CO", "IS"}, {"DI", "IS"}}},
    {"rsp_create", {{"UC", "RS"}, {"RS", "IS"}, {"PP", "IS"}, {"TP", "IS"}, {"AP", "IS"}, {"CO", "IS"}, {"DI", "IS"}}},
    {"disconnect", {{"UC", "IS"}, {"RS", "IS"}, {"PP", "IS"}, {"TP", "IS"}, {"AP", "DI"}, {"CO", "DI"}, {"DI", "DI"}}},
    {"graceful", {{"UC", "IS"}, {"RS", "IS"}, {"PP", "IS"}, {"TP", "IS"}, {"AP", "DI"}, {"CO", "DI"}, {"DI", "DI"}}},
    {"reset", {{"UC", "UC"}, {"RS", "IS"}, {"PP", "IS"}, {"TP", "IS"}, {"AP", "IS"}, {"CO", "IS"}, {"DI", "UC"}}},
    {"free", {{"UC", "--"}, {"RS", "IS"}, {"PP", "IS"}, {"TP", "IS"}, {"AP", "--"}, {"CO", "--"}, {"DI", "--"}}},
    {"post_recv", {{"UC", "UC"}, {"RS", "RS"}, {"PP", "PP"}, {"TP", "TP"}, {"AP", "AP"}, {"CO", "CO"}, {"DI", "DI"}}},
    {"post_send", {{"UC", "IS"}, {"RS", "IS"}, {"PP", "IS"}, {"TP", "IS"}, {"AP", "IS"}, {"CO", "CO"}, {"DI", "DI"}}},
    {"rmr_bind", {{"UC", "IS"}, {"RS", "IS"}, {"PP", "IS"}, {"TP", "IS"}, {"AP", "IS"}, {"CO", "CO"}, {"DI", "DI"}}},
    {"rdma_write", {{"UC", "IS"}, {"RS", "IS"}, {"PP", "IS"}, {"TP", "IS"}, {"AP", "IS"}, {"CO", "CO"}, {"DI", "DI"}}},
    {"rdma_read", {{"UC", "IS"}, {"RS", "IS"}, {"PP", "IS"}, {"TP", "IS"}, {"AP", "IS"}, {"CO", "CO"}, {"DI", "DI"}}},
    {"query", {{"UC", "UC"}, {"RS", "RS"}, {"PP", "PP"}, {"TP", "TP"}, {"AP", "AP"}, {"CO", "CO"}, {"DI", "DI"}}},
    {"recv_query", {{"UC", "UC"}, {"RS", "RS"}, {"PP", "PP"}, {"TP", "TP"}, {"AP", "AP"}, {"CO", "CO"}, {"DI", "DI"}}},
    {"get_status", {{"UC", "UC"}, {"RS", "RS"}, {"PP", "PP"}, {"TP", "TP"}, {"AP", "AP"}, {"CO", "CO"}, {"DI", "DI"}}},
    {"modify_pz", {{"UC", "UC"}, {"RS", "IS"}, {"PP", "IS"}, {"TP", "TP"}, {"AP", "IS"}, {"CO", "IS"}, {"DI", "IS"}}},
    {"modify_evd", {{"UC", "UC"}, {"RS", "RS"}, {"PP", "PP"}, {"TP", "TP"}, {"AP", "IS"}, {"CO", "IS"}, {"DI", "IS"}}},
    {"modify_qos", {{"UC", "UC"}, {"RS", "RS"}, {"PP", "PP"}, {"TP", "TP"}, {"AP", "IS"}, {"CO", "IS"}, {"DI", "IS"}}},
#if DAT_VERSION_MAJOR >= 2
    {"common_connect", {{"UC", "AP"}, {"RS", "IS"}, {"PP", "IS"}, {"TP", "IS"}, {"AP", "IS"}, {"CO", "IS"}, {"DI", "IS"}}},
    {"send_invalidate", {{"UC", "IS"}, {"RS", "IS"}, {"PP", "IS"}, {"TP", "IS"}, {"AP", "IS"}, {"CO", "CO"}, {"DI", "DI"}}},
#endif
};
// clang-format on

struct StateInfo {
  DAT_EP_STATE state;
  DAT_RETURN_SUBTYPE subtype;
};
const std::map<std::string, StateInfo> kStates = {
    {"UC", {DAT_EP_STATE_UNCONNECTED, DAT_INVALID_STATE_EP_UNCONNECTED}},
    {"RS", {DAT_EP_STATE_RESERVED, DAT_INVALID_STATE_EP_RESERVED}},
    {"PP", {DAT_EP_STATE_PASSIVE_CONNECTION_PENDING, DAT_INVALID_STATE_EP_PASSCONNPENDING}},
    {"TP", {DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING, DAT_INVALID_STATE_EP_TENTCONNPENDING}},
    {"AP", {DAT_EP_STATE_ACTIVE_CONNECTION_PENDING, DAT_INVALID_STATE_EP_ACTCONNPENDING}},
    {"CO", {DAT_EP_STATE_CONNECTED, DAT_INVALID_STATE_EP_CONNECTED}},
    {"DI", {DAT_EP_STATE_DISCONNECTED, DAT_INVALID_STATE_EP_DISCONNECTED}},
};

class StateTableTest : public ConformanceTest {
 protected:
  // Brings an EP of b_ into the given state. What keeps the EP there stays until Release().
  void Reach(const std::string& state);
  void Release(bool freed);
  DAT_RETURN Run(const std::string& call);
  DAT_RETURN CommonConnect();
  DAT_RETURN Unbind();

  DAT_EP_HANDLE ep_ = DAT_HANDLE_NULL;
  DAT_PSP_HANDLE psp_ = DAT_HANDLE_NULL;
  DAT_RSP_HANDLE rsp_ = DAT_HANDLE_NULL;
  DAT_CR_HANDLE cr_ = DAT_HANDLE_NULL;
  DAT_CONN_QUAL qualifier_ = 0;  // of a PSP of a_ that answers nothing
  DAT_PSP_HANDLE target_ = DAT_HANDLE_NULL;
  DAT_RSP_HANDLE made_rsp_ = DAT_HANDLE_NULL;
  DAT_EP_HANDLE model_ = DAT_HANDLE_NULL;
  DAT_EP_HANDLE model_peer_ = DAT_HANDLE_NULL;
  DAT_RMR_HANDLE rmr_ = DAT_HANDLE_NULL;
};
CONFORMANCE_FAMILIES(StateTableTest);

void StateTableTest::Reach(const std::string& state) {
  target_ = Listen(*a_, &qualifier_);
  ep_ = DAT_HANDLE_NULL;
  psp_ = rsp_ = cr_ = made_rsp_ = model_ = rmr_ = DAT_HANDLE_NULL;
  if (state == "TP") {
    DAT_CONN_QUAL qualifier = 0;
    ASSERT_OK(dat_psp_create_any(b_->ia, &qualifier, b_->cr_evd, DAT_PSP_PROVIDER_FLAG, &psp_));
    ASSERT_OK(Connect(a_->ep, qualifier));
    cr_ = NextRequest(*b_);
    DAT_CR_PARAM param{};
    ASSERT_OK(dat_cr_query(cr_, DAT_CR_FIELD_ALL, &param));
    ep_ = param.local_ep_handle;
    return;
  }
  ASSERT_OK(
      dat_ep_create(b_->ia, b_->pz, b_->recv_evd, b_->request_evd, b_->connect_evd, nullptr, &ep_));
  if (state == "RS" || state == "PP") {
    const DAT_CONN_QUAL qualifier = FreeQualifier();
    ASSERT_OK(dat_rsp_create(b_->ia, qualifier, ep_, b_->cr_evd, &rsp_));
    if (state == "PP") {
      ASSERT_OK(Connect(a_->ep, qualifier));
      cr_ = NextRequest(*b_);
    }
  } else if (state == "AP") {
    ASSERT_OK(Connect(ep_, qualifier_));
    cr_ = NextRequest(*a_);
  } else if (state == "CO" || state == "DI") {
    Join(*a_, a_->ep, *b_, ep_);
    // For the calls that send. If a message finds no receive, some transports end the connection
    // before the test looks at its state.
    if (state == "CO") {
      ASSERT_OK(PostRecv(a_->ep, {}, 1));
    }
    if (state == "DI") {
      ASSERT_OK(dat_ep_disconnect(ep_, DAT_CLOSE_ABRUPT_FLAG));
      b_->ExpectConnection(ep_, DAT_CONNECTION_EVENT_DISCONNECTED);
      a_->ExpectConnection(a_->ep, DAT_CONNECTION_EVENT_DISCONNECTED);
    }
  }
}

// Undoes everything, whatever the call has done.
void StateTableTest::Release(bool freed) {
  if (cr_ != DAT_HANDLE_NULL) Reject(cr_);
  if (rsp_ != DAT_HANDLE_NULL) {
    EXPECT_OK(dat_rsp_free(rsp_));
  }
  if (made_rsp_ != DAT_HANDLE_NULL) {
    EXPECT_OK(dat_rsp_free(made_rsp_));
  }
  if (psp_ != DAT_HANDLE_NULL) {
    EXPECT_OK(dat_psp_free(psp_));
  } else if (!freed) {
    EXPECT_OK(dat_ep_free(ep_));
  }
  if (model_ != DAT_HANDLE_NULL) {
    EXPECT_OK(dat_ep_free(model_));
    EXPECT_OK(dat_ep_free(model_peer_));
  }
  if (rmr_ != DAT_HANDLE_NULL) {
    EXPECT_OK(dat_rmr_free(rmr_));
  }
  EXPECT_OK(dat_psp_free(target_));
  // Makes a new pair of sides. What was on its way to the old ones goes with them.
  a_.reset();
  b_.reset();
  ConformanceTest::SetUp();
}

#if DAT_VERSION_MAJOR >= 2
// Connects to target_. The qualifier of a PSP is a port of the socket name space.
DAT_RETURN StateTableTest::CommonConnect() {
  sockaddr_storage to{};
  std::memcpy(&to, address(),
              GetParam().family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in));
  const in_port_t port = htons(static_cast<uint16_t>(qualifier_));
  if (GetParam().family == AF_INET6) {
    std::memcpy(reinterpret_cast<char*>(&to) + offsetof(sockaddr_in6, sin6_port), &port,
                sizeof port);
  } else {
    std::memcpy(reinterpret_cast<char*>(&to) + offsetof(sockaddr_in, sin_port), &port, sizeof port);
  }
  return dat_ep_common_connect(ep_, reinterpret_cast<DAT_IA_ADDRESS_PTR>(&to), kPatienceUs, 0,
                               nullptr);
}
#endif

// Binds no bytes, which needs no memory.
DAT_RETURN StateTableTest::Unbind() {
  // An EP that the provider made must first get the PZ of the window.
  DAT_EP_PARAM param{};
  param.pz_handle = b_->pz;
  param.request_evd_handle = b_->request_evd;
  dat_ep_modify(ep_, DAT_EP_FIELD_PZ_HANDLE | DAT_EP_FIELD_REQUEST_EVD_HANDLE, &param);
  EXPECT_OK(dat_rmr_create(b_->pz, &rmr_));
  const DAT_LMR_TRIPLET nothing{};
  return BindRmr(rmr_, DAT_HANDLE_NULL, &nothing, DAT_MEM_PRIV_NONE_FLAG, ep_, Cookie(1),
                 DAT_COMPLETION_DEFAULT_FLAG, nullptr);
}

DAT_RETURN StateTableTest::Run(const std::string& call) {
  DAT_RMR_TRIPLET nowhere{};
  DAT_EP_PARAM param{};
  if (call == "connect") return Connect(ep_, qualifier_);
  if (call == "dup_connect") {
    // The model is connected through target_, a PSP of a_ that stays.
    EXPECT_OK(dat_ep_create(b_->ia, b_->pz, b_->recv_evd, b_->request_evd, b_->connect_evd, nullptr,
                            &model_));
    EXPECT_OK(dat_ep_create(a_->ia, a_->pz, a_->recv_evd, a_->request_evd, a_->connect_evd, nullptr,
                            &model_peer_));
    EXPECT_OK(Connect(model_, qualifier_));
    EXPECT_OK(dat_cr_accept(NextRequest(*a_), model_peer_, 0, nullptr));
    b_->ExpectConnection(model_, DAT_CONNECTION_EVENT_ESTABLISHED);
    return dat_ep_dup_connect(ep_, model_, kPatienceUs, 0, nullptr, DAT_QOS_BEST_EFFORT);
  }
  if (call == "rsp_create") {
    return dat_rsp_create(b_->ia, FreeQualifier(), ep_, b_->cr_evd, &made_rsp_);
  }
  if (call == "disconnect") return dat_ep_disconnect(ep_, DAT_CLOSE_ABRUPT_FLAG);
  if (call == "graceful") return dat_ep_disconnect(ep_, DAT_CLOSE_GRACEFUL_FLAG);
  if (call == "reset") return dat_ep_reset(ep_);
  if (call == "free") return dat_ep_free(ep_);
  if (call == "post_recv") return PostRecv(ep_, {}, 1);
  if (call == "post_send") return PostSend(ep_, {}, 1);
  if (call == "rmr_bind") return Unbind();
  if (call == "recv_query") return dat_ep_recv_query(ep_, nullptr, nullptr);
  if (call == "rdma_write") return PostWrite(ep_, {}, nowhere, 1);
  if (call == "rdma_read") return PostRead(ep_, {}, nowhere, 1);
  if (call == "query") return dat_ep_query(ep_, DAT_EP_FIELD_ALL, &param);
  if (call == "get_status") return dat_ep_get_status(ep_, nullptr, nullptr, nullptr);
  param.pz_handle = b_->pz;
  param.recv_evd_handle = b_->recv_evd;
  param.ep_attr.qos = DAT_QOS_BEST_EFFORT;
  if (call == "modify_pz") return dat_ep_modify(ep_, DAT_EP_FIELD_PZ_HANDLE, &param);
  if (call == "modify_evd") return dat_ep_modify(ep_, DAT_EP_FIELD_RECV_EVD_HANDLE, &param);
  if (call == "modify_qos") return dat_ep_modify(ep_, DAT_EP_FIELD_EP_ATTR_QOS, &param);
#if DAT_VERSION_MAJOR >= 2
  if (call == "common_connect") return CommonConnect();
  if (call == "send_invalidate") {
    return dat_ep_post_send_with_invalidate(ep_, 0, nullptr, Cookie(1), DAT_COMPLETION_DEFAULT_FLAG,
                                            DAT_FALSE, 0);
  }
#endif
  ADD_FAILURE() << "no such call: " << call;
  return DAT_SUCCESS;
}

TEST_P(StateTableTest, EveryCell) {
  for (const Row& row : kTable) {
    // The calls of a window need one.
    if (row.call == std::string("rmr_bind") && !HasWindows(b_->ia)) continue;
    for (const auto& [name, info] : kStates) {
      SCOPED_TRACE(std::string(row.call) + " in " + name);
      ASSERT_TRUE(row.cell.contains(name)) << "a cell without an expectation";
      const std::string expected = row.cell.at(name);
      Reach(name);
      if (HasFatalFailure()) return;
      // An EP that the provider made has no PZ and no EVDs yet. Posts need them as well as the
      // state.
      EXPECT_EQ(StateOf(ep_), info.state);
      const DAT_RETURN ret = Run(row.call);
      if (expected == "IS") {
        EXPECT_RETURN(ret, BadState(info.subtype));
        EXPECT_EQ(StateOf(ep_), info.state);
      } else {
        EXPECT_OK(ret);
        if (expected == "DI" && name != "DI") {
          b_->ExpectConnection(ep_, DAT_CONNECTION_EVENT_DISCONNECTED);
        }
        if (expected != "--") {
          EXPECT_EQ(StateOf(ep_), kStates.at(expected).state);
        }
      }
      Release(expected == "--");
      if (HasFatalFailure()) return;
    }
  }
}

}  // namespace
}  // namespace softdat::conformance
