// SPDX-License-Identifier: BSD-3-Clause
// Every (state x call) of semantics 8.3: the return code, and the state that follows.
#include <functional>
#include <map>
#include <tuple>

#include "dat/engine/testing/engine_test.h"

namespace softdat::engine::testing {
namespace {

// UC unconnected, RS reserved, PP passive pending, TP tentative pending, AP active pending,
// CP completion pending, CO connected, DP disconnect pending, DI disconnected.
// A cell: the state after a call that succeeds. "IS": INVALID_STATE with the subtype of the state,
// which stays. "--": the handle is dead after a call that succeeds.
struct Row {
  const char* call;
  const char* cell[9];  // in the order of kAllStates
};

// covers: semantics 8.3
const Row kTable[] = {
    //                     UC    RS    PP    TP    AP    CP    CO    DP    DI
    {"connect", {"AP", "IS", "IS", "IS", "IS", "IS", "IS", "IS", "IS"}},
    {"dup_connect", {"AP", "IS", "IS", "IS", "IS", "IS", "IS", "IS", "IS"}},
    {"common_connect", {"AP", "IS", "IS", "IS", "IS", "IS", "IS", "IS", "IS"}},
    {"rsp_create", {"RS", "IS", "IS", "IS", "IS", "IS", "IS", "IS", "IS"}},
    {"cr_accept", {"CP", "IS", "IS", "IS", "IS", "IS", "IS", "IS", "IS"}},
    {"disconnect", {"IS", "IS", "IS", "IS", "DP", "DP", "DP", "DP", "DI"}},
    {"graceful", {"IS", "IS", "IS", "IS", "DP", "DP", "DP", "DP", "DI"}},
    {"reset", {"UC", "IS", "IS", "IS", "IS", "IS", "IS", "IS", "UC"}},
    {"free", {"--", "IS", "IS", "IS", "--", "--", "--", "--", "--"}},
    {"post_recv", {"UC", "RS", "PP", "TP", "AP", "CP", "CO", "DP", "DI"}},
    {"post_send", {"IS", "IS", "IS", "IS", "IS", "IS", "CO", "IS", "DI"}},
    {"rdma_read", {"IS", "IS", "IS", "IS", "IS", "IS", "CO", "IS", "DI"}},
    {"rdma_write", {"IS", "IS", "IS", "IS", "IS", "IS", "CO", "IS", "DI"}},
    {"send_invalidate", {"IS", "IS", "IS", "IS", "IS", "IS", "CO", "IS", "DI"}},
    {"read_to_rmr", {"IS", "IS", "IS", "IS", "IS", "IS", "CO", "IS", "DI"}},
    {"query", {"UC", "RS", "PP", "TP", "AP", "CP", "CO", "DP", "DI"}},
    {"recv_query", {"UC", "RS", "PP", "TP", "AP", "CP", "CO", "DP", "DI"}},
    {"modify_pz", {"UC", "IS", "IS", "TP", "IS", "IS", "IS", "IS", "IS"}},
    {"modify_evd", {"UC", "RS", "PP", "TP", "IS", "IS", "IS", "IS", "IS"}},
    {"modify_attr", {"UC", "RS", "PP", "TP", "IS", "IS", "IS", "IS", "IS"}},
};

const std::map<std::string, DAT_EP_STATE> kStateOf = {
    {"UC", DAT_EP_STATE_UNCONNECTED},
    {"RS", DAT_EP_STATE_RESERVED},
    {"PP", DAT_EP_STATE_PASSIVE_CONNECTION_PENDING},
    {"TP", DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING},
    {"AP", DAT_EP_STATE_ACTIVE_CONNECTION_PENDING},
    {"CP", DAT_EP_STATE_COMPLETION_PENDING},
    {"CO", DAT_EP_STATE_CONNECTED},
    {"DP", DAT_EP_STATE_DISCONNECT_PENDING},
    {"DI", DAT_EP_STATE_DISCONNECTED},
};

class EpCallTable : public EngineTest,
                    public ::testing::WithParamInterface<std::tuple<size_t, size_t>> {
 protected:
  DAT_RETURN Call(const std::string& name, DAT_EP_HANDLE ep);
  DAT_RETURN Modify(DAT_EP_HANDLE ep, DAT_EP_PARAM_MASK mask);
};

DAT_RETURN EpCallTable::Modify(DAT_EP_HANDLE ep, DAT_EP_PARAM_MASK mask) {
  DAT_EP_PARAM param{};
  param.pz_handle = pz_;
  param.recv_evd_handle = recv_evd_;
  param.ep_attr.max_recv_dtos = 20;
  return slots::EpModify(ep, mask, &param);
}

DAT_RETURN EpCallTable::Call(const std::string& name, DAT_EP_HANDLE ep) {
  const auto address = reinterpret_cast<DAT_IA_ADDRESS_PTR>(&peer_);
  const DAT_RMR_TRIPLET remote{0x1000, 8, 77};
  const DAT_COMPLETION_FLAGS flags = DAT_COMPLETION_DEFAULT_FLAG;
  if (name == "connect") return Connect(ep);
  if (name == "dup_connect") {
    const DAT_EP_HANDLE like = MakeEp();
    EXPECT_EQ(Connect(like), DAT_SUCCESS);
    adapter().last_qp().sink().OnEstablished({});
    EXPECT_EQ(Numbers(connect_evd_).size(), 1u);  // of the other EP
    return slots::EpDupConnect(ep, like, 1000, 0, nullptr, DAT_QOS_BEST_EFFORT);
  }
  if (name == "common_connect") return slots::EpCommonConnect(ep, address, 1000, 0, nullptr);
  if (name == "rsp_create") {
    DAT_RSP_HANDLE rsp;
    return slots::RspCreate(ia_, 99, ep, cr_evd_, &rsp);
  }
  if (name == "cr_accept") {
    DAT_PSP_HANDLE psp;
    EXPECT_EQ(slots::PspCreate(ia_, 98, cr_evd_, DAT_PSP_CONSUMER_FLAG, &psp), DAT_SUCCESS);
    return slots::CrAccept(TakeRequest(98), ep, 0, nullptr);
  }
  if (name == "disconnect") return slots::EpDisconnect(ep, DAT_CLOSE_ABRUPT_FLAG);
  if (name == "graceful") return slots::EpDisconnect(ep, DAT_CLOSE_GRACEFUL_FLAG);
  if (name == "reset") return slots::EpReset(ep);
  if (name == "free") return slots::EpFree(ep);
  if (name == "post_recv") return slots::EpPostRecv(ep, 0, nullptr, cookie_, flags);
  if (name == "post_send") return slots::EpPostSend(ep, 0, nullptr, cookie_, flags);
  if (name == "rdma_read") return slots::EpPostRdmaRead(ep, 0, nullptr, cookie_, &remote, flags);
  if (name == "rdma_write") return slots::EpPostRdmaWrite(ep, 0, nullptr, cookie_, &remote, flags);
  if (name == "send_invalidate") {
    return slots::EpPostSendWithInvalidate(ep, 0, nullptr, cookie_, flags, DAT_TRUE, 5);
  }
  if (name == "read_to_rmr")
    return slots::EpPostRdmaReadToRmr(ep, &remote, cookie_, &remote, flags);
  if (name == "query") {
    DAT_EP_PARAM param;
    return slots::EpQuery(ep, DAT_EP_FIELD_ALL, &param);
  }
  if (name == "recv_query") return slots::EpRecvQuery(ep, nullptr, nullptr);
  if (name == "modify_pz") return Modify(ep, DAT_EP_FIELD_PZ_HANDLE);
  if (name == "modify_evd") return Modify(ep, DAT_EP_FIELD_RECV_EVD_HANDLE);
  if (name == "modify_attr") return Modify(ep, DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS);
  ADD_FAILURE() << "no such call: " << name;
  return DAT_NOT_IMPLEMENTED;
}

TEST_P(EpCallTable, Cell) {
  const auto [row, column] = GetParam();
  const DAT_EP_STATE before = kAllStates[column];
  const std::string expected = kTable[row].cell[column];
  const DAT_EP_HANDLE ep = MakeEpIn(before);

  const DAT_RETURN ret = Call(kTable[row].call, ep);

  if (expected == "IS") {
    EXPECT_EQ(ret, WrongState(before));
    EXPECT_EQ(StateOf(ep), before);
  } else if (expected == "--") {
    EXPECT_EQ(ret, DAT_SUCCESS);
    EXPECT_EQ(slots::EpFree(ep), Ret(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP));
  } else {
    EXPECT_EQ(ret, DAT_SUCCESS);
    EXPECT_EQ(StateOf(ep), kStateOf.at(expected));
  }
  // No call posts a connection event by itself. Only upcalls do.
  EXPECT_TRUE(Take(connect_evd_).empty());
}

INSTANTIATE_TEST_SUITE_P(AllCells, EpCallTable,
                         ::testing::Combine(::testing::Range(size_t{0}, std::size(kTable)),
                                            ::testing::Range(size_t{0}, std::size(kAllStates))),
                         [](const auto& cell) {
                           return std::string(kTable[std::get<0>(cell.param)].call) + "_" +
                                  StateName(kAllStates[std::get<1>(cell.param)]);
                         });

}  // namespace
}  // namespace softdat::engine::testing
