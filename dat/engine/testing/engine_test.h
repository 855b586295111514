// SPDX-License-Identifier: BSD-3-Clause
// A test fixture with an open IA on the scripted back end, and short words for what most tests do.
#ifndef SOFTDAT_DAT_ENGINE_TESTING_ENGINE_TEST_H_
#define SOFTDAT_DAT_ENGINE_TESTING_ENGINE_TEST_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

#include <string>
#include <vector>

#include "dat/engine/slots.h"
#include "dat/engine/testing/fake_backend.h"
#include "dat2/udat.h"

namespace softdat::engine::testing {

// A return value with class bits, as the engine returns it.
constexpr DAT_RETURN Ret(DAT_RETURN_TYPE type, DAT_RETURN_SUBTYPE subtype = DAT_NO_SUBTYPE) {
  return static_cast<DAT_RETURN>(DAT_CLASS_ERROR) | static_cast<DAT_RETURN>(type) |
         static_cast<DAT_RETURN>(subtype);
}
constexpr DAT_RETURN Arg(int n) {
  return Ret(DAT_INVALID_PARAMETER, static_cast<DAT_RETURN_SUBTYPE>(DAT_INVALID_ARG1 + n - 1));
}

inline const DAT_EP_STATE kAllStates[] = {
    DAT_EP_STATE_UNCONNECTED,
    DAT_EP_STATE_RESERVED,
    DAT_EP_STATE_PASSIVE_CONNECTION_PENDING,
    DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING,
    DAT_EP_STATE_ACTIVE_CONNECTION_PENDING,
    DAT_EP_STATE_COMPLETION_PENDING,
    DAT_EP_STATE_CONNECTED,
    DAT_EP_STATE_DISCONNECT_PENDING,
    DAT_EP_STATE_DISCONNECTED,
};
std::string StateName(DAT_EP_STATE state);
// What a call that is not allowed in `state` returns.
DAT_RETURN WrongState(DAT_EP_STATE state);

class EngineTest : public ::testing::Test {
 protected:
  static constexpr DAT_CONN_QUAL kQual = 0x1234567890ab;

  void SetUp() override;
  void TearDown() override;

  FakeAdapter& adapter() { return *TheFakeBackend().last_adapter; }

  DAT_EVD_HANDLE MakeEvd(int flags, DAT_COUNT qlen = 32);
  DAT_EP_HANDLE MakeEp(const DAT_EP_ATTR* attr = nullptr);
  // An EP in `state`, brought there by calls and upcalls. Its queue pair is adapter().last_qp().
  // Its events have been taken from the EVDs.
  DAT_EP_HANDLE MakeEpIn(DAT_EP_STATE state);
  DAT_RETURN Connect(DAT_EP_HANDLE ep, const std::string& private_data = "");
  DAT_EP_STATE StateOf(DAT_EP_HANDLE ep);

  // Takes everything that is queued, oldest first.
  std::vector<DAT_EVENT> Take(DAT_EVD_HANDLE evd);
  std::vector<DAT_EVENT_NUMBER> Numbers(DAT_EVD_HANDLE evd);
  // Makes a request arrive for `qual`, and returns its CR.
  DAT_CR_HANDLE TakeRequest(DAT_CONN_QUAL qual, std::vector<uint8_t> private_data = {});

  DAT_IA_HANDLE ia_ = DAT_HANDLE_NULL;
  DAT_EVD_HANDLE async_evd_ = DAT_HANDLE_NULL;
  DAT_PZ_HANDLE pz_ = DAT_HANDLE_NULL;
  DAT_EVD_HANDLE recv_evd_ = DAT_HANDLE_NULL;
  DAT_EVD_HANDLE request_evd_ = DAT_HANDLE_NULL;
  DAT_EVD_HANDLE connect_evd_ = DAT_HANDLE_NULL;
  DAT_EVD_HANDLE cr_evd_ = DAT_HANDLE_NULL;
  // Those of the last MakeEpIn, if the state needs them.
  DAT_RSP_HANDLE rsp_ = DAT_HANDLE_NULL;
  DAT_PSP_HANDLE psp_ = DAT_HANDLE_NULL;
  DAT_CR_HANDLE cr_ = DAT_HANDLE_NULL;
  std::shared_ptr<FakeRequestFate> fate_;
  sockaddr_in peer_{};
  DAT_DTO_COOKIE cookie_{};
};

}  // namespace softdat::engine::testing

#endif  // SOFTDAT_DAT_ENGINE_TESTING_ENGINE_TEST_H_
