// SPDX-License-Identifier: BSD-3-Clause
// softnet-udp against programs of rdmacm-utils on the kernel's soft-RoCE, in either role.
// tests/vm/check runs it in the guest, in the network namespace B of tests/vm/guest.sh (soft_peer),
// as one of the conformance suite's programs: rxe_peers --ia softnet-udp-vD.
#include <algorithm>
#include <string>

#include "tests/vm/outside_program.h"
#include "tests/vm/rping_fixture.h"

namespace softdat::conformance {
namespace {

using vm_test::kRpingPort;
using vm_test::OutsideProgram;
using vm_test::RpingTest;

constexpr uint16_t kUcmatosePort = 7471;

class RxePeerTest : public RpingTest {
 protected:
  // More than a packet.
  static constexpr size_t kBytes = 3000;
  static constexpr int kMessages = 10;

  // ucmatose with what both roles need.
  static std::unique_ptr<OutsideProgram> Ucmatose(std::vector<std::string> command) {
    const std::vector<std::string> common = {"stdbuf", "-oL", "ucmatose"};
    command.insert(command.begin(), common.begin(), common.end());
    command.insert(command.end(), {"-C", std::to_string(kMessages), "-S", std::to_string(kBytes)});
    return std::make_unique<OutsideProgram>(command);
  }
  void PostReceives() {
    memory_ = a_->MakeBuffer(kBytes);
    for (int i = 0; i < kMessages; ++i) ASSERT_OK(PostRecv(a_->ep, {memory_->local()}, 1));
  }
  void Receive() {
    for (int i = 0; i < kMessages; ++i) {
      EXPECT_EQ(a_->ExpectDto(a_->recv_evd, a_->ep, 1).transfered_length, kBytes);
    }
    EXPECT_TRUE(memory_->guards_intact());
  }
  void Send() {
    for (int i = 0; i < kMessages; ++i) ASSERT_OK(PostSend(a_->ep, {memory_->local()}, 2));
    for (int i = 0; i < kMessages; ++i) a_->ExpectDto(a_->request_evd, a_->ep, 2);
  }
  static void ExpectSuccess(OutsideProgram* ucmatose) {
    const std::vector<std::string> said = ucmatose->Rest();
    const auto has = [&](const std::string& line) {
      return std::find(said.begin(), said.end(), line) != said.end();
    };
    EXPECT_TRUE(has("data transfers complete"));
    EXPECT_TRUE(has("return status 0"));
  }
  void TearDown() override {
    memory_.reset();
    RpingTest::TearDown();
  }

  std::unique_ptr<Buffer> memory_;
};
CONFORMANCE_FAMILIES(RxePeerTest);

TEST_P(RxePeerTest, AsTheServerOfRping) {
  DAT_CONN_QUAL qualifier = 0;
  const DAT_PSP_HANDLE psp = Listen(*a_, &qualifier);
  ServeRping(static_cast<uint16_t>(qualifier), psp, 1);
}

// rping allows one read at a time, so those behind it wait their turn.
TEST_P(RxePeerTest, AsTheServerOfRpingWithManyReads) {
  DAT_CONN_QUAL qualifier = 0;
  const DAT_PSP_HANDLE psp = Listen(*a_, &qualifier);
  ServeRping(static_cast<uint16_t>(qualifier), psp, 10);
}

TEST_P(RxePeerTest, AsTheClientOfRping) {
  const auto rping = StartServer(kRpingPort);
  ASSERT_TRUE(vm_test::SomebodyListensByRdma(kRpingPort));
  PingRping(kernel_address(), kRpingPort);
}

// The server of ucmatose sends first and disconnects.
TEST_P(RxePeerTest, AsTheClientOfUcmatose) {
  const auto ucmatose = Ucmatose({"-b", kernel_address()});
  ASSERT_TRUE(vm_test::SomebodyListensByRdma(kUcmatosePort));
  PostReceives();
  ConnectTo(kernel_address(), kUcmatosePort);
  Receive();
  Send();
  a_->ExpectConnection(a_->ep, DAT_CONNECTION_EVENT_DISCONNECTED);
  ExpectSuccess(ucmatose.get());
}

TEST_P(RxePeerTest, AsTheServerOfUcmatose) {
  DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
  ASSERT_OK(dat_psp_create(a_->ia, kUcmatosePort, a_->cr_evd, DAT_PSP_CONSUMER_FLAG, &psp));
  PostReceives();
  const auto ucmatose = Ucmatose({"-s", own_address()});
  AcceptFrom(psp);
  Send();
  Receive();
  ASSERT_OK(dat_ep_disconnect(a_->ep, DAT_CLOSE_GRACEFUL_FLAG));
  a_->ExpectConnection(a_->ep, DAT_CONNECTION_EVENT_DISCONNECTED);
  ExpectSuccess(ucmatose.get());
}

}  // namespace
}  // namespace softdat::conformance
