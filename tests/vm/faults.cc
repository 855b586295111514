// SPDX-License-Identifier: BSD-3-Clause
// What can happen to an RDMA device under a program: its interface goes down, or the device is
// removed. tests/vm/check runs it in the guest, as one of the conformance suite's programs: faults
// --ia verbs-dum0 --families 4, with FAULTS_DEVICE=rxe or siw, the kind of the device on the
// interface dum0. Each case needs a device of its own.
#include <chrono>
#include <cstdlib>
#include <string>

#include "tests/conformance/fixture.h"

namespace softdat::conformance {
namespace {

constexpr auto kWithin = std::chrono::seconds(20);

int Shell(const std::string& command) { return std::system(command.c_str()); }

class FaultsTest : public ConnectedTest {
 protected:
  void SetUp() override {
    const char* const kind = std::getenv("FAULTS_DEVICE");
    ASSERT_NE(kind, nullptr) << "FAULTS_DEVICE is rxe or siw";
    kind_ = kind;
    ConnectedTest::SetUp();
    if (HasFatalFailure()) return;
    from_ = a_->MakeBuffer(4096, 0x5A);
    to_ = b_->MakeBuffer(4096);
  }
  void TearDown() override {
    from_.reset();
    to_.reset();
    ConnectedTest::TearDown();
  }

  // Posts RDMA writes, one after the other, as long as they succeed and `while_true` holds. Returns
  // the status of the last one.
  template <typename Condition>
  DAT_DTO_COMPLETION_STATUS WriteWhile(Condition while_true) {
    DAT_DTO_COMPLETION_STATUS status = DAT_DTO_SUCCESS;
    while (status == DAT_DTO_SUCCESS && while_true()) {
      const DAT_RETURN ret = PostWrite(a_->ep, {from_->local()}, to_->remote(), ++writes_);
      if (ret != DAT_SUCCESS) {
        EXPECT_TYPE(ret, DAT_INVALID_STATE);
        return DAT_DTO_ERR_FLUSHED;
      }
      const DAT_EVENT event = a_->Expect(a_->request_evd, DAT_DTO_COMPLETION_EVENT);
      status = event.event_data.dto_completion_event_data.status;
      EXPECT_EQ(event.event_data.dto_completion_event_data.user_cookie.as_64, writes_);
      if (HasFailure()) break;
    }
    return status;
  }
  // Expects that the connection has ended, with one event.
  void ExpectEnd(Side& side) {
    const DAT_EVENT end = side.Next(side.connect_evd);
    EXPECT_TRUE(end.event_number == DAT_CONNECTION_EVENT_DISCONNECTED ||
                end.event_number == DAT_CONNECTION_EVENT_BROKEN)
        << EventName(end.event_number);
    EXPECT_EQ(StateOf(side.ep), DAT_EP_STATE_DISCONNECTED);
    EXPECT_TRUE(Side::Drain(side.connect_evd).empty());
  }

  std::string kind_;
  std::unique_ptr<Buffer> from_, to_;
  uint64_t writes_ = 0;
};
CONFORMANCE_FAMILIES(FaultsTest);

TEST_P(FaultsTest, ADeviceRemovedUnderTrafficEndsItsConnectionsAndIas) {
  ASSERT_OK(PostRecv(b_->ep, {to_->local()}, 1));
  ASSERT_EQ(WriteWhile([this] { return writes_ < 20; }), DAT_DTO_SUCCESS);
  // The kernel delays the command until this process has gone, because librdmacm keeps a device
  // open.
  ASSERT_EQ(Shell("rdma link delete " + kind_ + "0 &"), 0);
  const auto end = std::chrono::steady_clock::now() + kWithin;
  EXPECT_NE(WriteWhile([&] { return std::chrono::steady_clock::now() < end; }), DAT_DTO_SUCCESS)
      << "writes went on for 20 seconds";
  ExpectEnd(*a_);
  ExpectEnd(*b_);
  b_->ExpectDto(b_->recv_evd, b_->ep, 1, DAT_DTO_ERR_FLUSHED);
  for (Side* side : {a_.get(), b_.get()}) {
    const DAT_EVENT event = side->Expect(side->async_evd, DAT_ASYNC_ERROR_IA_CATASTROPHIC);
    EXPECT_EQ(event.event_data.asynch_error_event_data.dat_handle, side->ia);
  }
  // TearDown frees each object one by one, and closes the IAs gracefully.
}

TEST_P(FaultsTest, AnInterfaceThatGoesDownUnderTrafficEndsTheConnection) {
  ASSERT_OK(PostRecv(b_->ep, {to_->local()}, 1));
  ASSERT_EQ(WriteWhile([this] { return writes_ < 20; }), DAT_DTO_SUCCESS);
  ASSERT_EQ(Shell("ip link set dum0 down"), 0);
  const auto end = std::chrono::steady_clock::now() + kWithin;
  EXPECT_NE(WriteWhile([&] { return std::chrono::steady_clock::now() < end; }), DAT_DTO_SUCCESS)
      << "writes went on for 20 seconds";
  ExpectEnd(*a_);
  // Each IA gets an event, even that of the end which sends nothing.
  for (Side* side : {a_.get(), b_.get()}) {
    const DAT_EVENT event = side->Expect(side->async_evd, DAT_ASYNC_ERROR_IA_CATASTROPHIC);
    EXPECT_EQ(event.event_data.asynch_error_event_data.dat_handle, side->ia);
  }
  // Over RoCE this end learns of it in no other way.
  if (kind_ == "rxe") {
    EXPECT_EQ(StateOf(b_->ep), DAT_EP_STATE_CONNECTED);
    EXPECT_OK(dat_ep_disconnect(b_->ep, DAT_CLOSE_ABRUPT_FLAG));
  }
  ExpectEnd(*b_);
  b_->ExpectDto(b_->recv_evd, b_->ep, 1, DAT_DTO_ERR_FLUSHED);
  EXPECT_EQ(Shell("ip link set dum0 up"), 0);
  // The IAs are usable as before: their objects are freed one by one, and a new end point can be
  // made.
  a_->MakeEp();
}

}  // namespace
}  // namespace softdat::conformance
