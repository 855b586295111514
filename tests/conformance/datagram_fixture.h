// SPDX-License-Identifier: BSD-3-Clause
// EPs for unreliable datagrams, and how they meet (semantics 15.2).
#ifndef SOFTDAT_TESTS_CONFORMANCE_DATAGRAM_FIXTURE_H_
#define SOFTDAT_TESTS_CONFORMANCE_DATAGRAM_FIXTURE_H_

#include <cstring>
#include <string>

#include "dat2/dat_ib_extensions.h"
#include "tests/conformance/fixture.h"

namespace softdat::conformance {

inline constexpr DAT_COUNT kHeader = 40;  // bytes in front of the payload

inline DAT_EP_ATTR DatagramAttributes() {
  DAT_EP_ATTR attr;
  std::memset(&attr, 0, sizeof attr);
  attr.service_type = static_cast<DAT_SERVICE_TYPE>(DAT_IB_SERVICE_TYPE_UD);
  attr.max_message_size = 256;
  attr.qos = DAT_QOS_BEST_EFFORT;
  attr.max_recv_dtos = attr.max_request_dtos = 64;
  attr.max_recv_iov = attr.max_request_iov = 4;
  return attr;
}

inline DAT_IB_EXTENSION_EVENT_DATA ExtensionOf(const DAT_EVENT& event) {
  DAT_IB_EXTENSION_EVENT_DATA extension;
  std::memcpy(&extension, event.event_extension_data, sizeof extension);
  return extension;
}

// Each side also has an EP for datagrams. b also has a service point.
class DatagramFixture : public ConformanceTest {
 protected:
  // What an exchange brought to one side.
  struct Met {
    DAT_CONNECTION_EVENT_DATA data{};
    DAT_IB_ADDR_HANDLE to{};
    DAT_CONTEXT context{};
    std::string text() const {
      return {static_cast<const char*>(data.private_data),
              static_cast<size_t>(data.private_data_size)};
    }
  };

  void SetUp() override {
    ConformanceTest::SetUp();
    a_ud_ = MakeUd(*a_);
    b_ud_ = MakeUd(*b_);
    psp_ = Listen(*b_, &qualifier_);
  }
  void TearDown() override {
    EXPECT_OK(dat_psp_free(psp_));
    ConformanceTest::TearDown();
  }

  static DAT_EP_HANDLE MakeUd(Side& side) {
    const DAT_EP_ATTR attr = DatagramAttributes();
    return side.MakeEp(&attr);
  }
  DAT_RETURN Ask(DAT_EP_HANDLE ep, std::string text, DAT_TIMEOUT timeout_us = kPatienceUs) {
    return Connect(ep, qualifier_, {reinterpret_cast<uint8_t*>(text.data()), text.size()},
                   timeout_us);
  }
  // The next request for datagrams at b.
  DAT_CR_HANDLE NextUdRequest() {
    const DAT_EVENT event =
        b_->Expect(b_->cr_evd, static_cast<DAT_EVENT_NUMBER>(DAT_IB_UD_CONNECTION_REQUEST_EVENT));
    const DAT_IB_EXTENSION_EVENT_DATA extension = ExtensionOf(event);
    EXPECT_EQ(extension.type, DAT_IB_UD_CONNECT_REQUEST);
    EXPECT_EQ(extension.status, DAT_OP_SUCCESS);
    EXPECT_EQ(extension.context.as_64, 0u);
    const DAT_CR_ARRIVAL_EVENT_DATA& data = event.event_data.cr_arrival_event_data;
    EXPECT_EQ(data.conn_qual, qualifier_);
    EXPECT_EQ(data.sp_handle.psp_handle, psp_);
    return data.cr_handle;
  }
  static DAT_RETURN Accept(DAT_CR_HANDLE cr, DAT_EP_HANDLE ep, std::string text = "") {
    return dat_cr_accept(cr, ep, static_cast<DAT_COUNT>(text.size()), text.data());
  }
  // Expects that the next event of `side` tells `ep` whom it has met.
  static Met NextMet(Side& side, DAT_EP_HANDLE ep, DAT_IB_EXT_TYPE type) {
    const DAT_EVENT event = side.Expect(
        side.connect_evd, static_cast<DAT_EVENT_NUMBER>(DAT_IB_UD_CONNECTION_EVENT_ESTABLISHED));
    const DAT_IB_EXTENSION_EVENT_DATA extension = ExtensionOf(event);
    EXPECT_EQ(extension.type, type);
    EXPECT_EQ(extension.status, DAT_OP_SUCCESS);
    EXPECT_NE(extension.remote_ah.ah, nullptr);
    EXPECT_NE(extension.remote_ah.qpn, 0u);
    EXPECT_NE(extension.context.as_64, 0u);
    Met met;
    met.data = event.event_data.connect_event_data;
    met.to = extension.remote_ah;
    met.context = extension.context;
    EXPECT_EQ(met.data.ep_handle, ep);
    return met;
  }
  // a's EP asks and b's accepts. Each learns where it finds the other.
  struct Both {
    Met active;
    Met passive;
  };
  Both Meet() {
    Both both;
    EXPECT_OK(Ask(a_ud_, ""));
    EXPECT_OK(Accept(NextUdRequest(), b_ud_));
    both.passive = NextMet(*b_, b_ud_, DAT_IB_UD_PASSIVE_REMOTE_AH);
    both.active = NextMet(*a_, a_ud_, DAT_IB_UD_REMOTE_AH);
    return both;
  }

  static DAT_RETURN SendUd(DAT_EP_HANDLE ep, DAT_LMR_TRIPLET iov, const DAT_IB_ADDR_HANDLE& to,
                           uint64_t cookie,
                           DAT_COMPLETION_FLAGS flags = DAT_COMPLETION_DEFAULT_FLAG) {
    DAT_IB_ADDR_HANDLE copy = to;
    return dat_ib_post_send_ud(ep, 1, &iov, &copy, Cookie(cookie), flags);
  }
  // Expects that the next event of `evd` completes this datagram of `ep`.
  static DAT_DTO_COMPLETION_EVENT_DATA ExpectUd(
      Side& side, DAT_EVD_HANDLE evd, DAT_EP_HANDLE ep, uint64_t cookie, DAT_IB_EXT_TYPE type,
      DAT_DTO_COMPLETION_STATUS status = DAT_DTO_SUCCESS) {
    const DAT_EVENT event = side.Expect(evd, static_cast<DAT_EVENT_NUMBER>(DAT_IB_DTO_EVENT));
    const DAT_IB_EXTENSION_EVENT_DATA extension = ExtensionOf(event);
    EXPECT_EQ(extension.type, type);
    EXPECT_EQ(extension.status, status == DAT_DTO_SUCCESS ? DAT_OP_SUCCESS : DAT_IB_OP_ERR);
    const DAT_DTO_COMPLETION_EVENT_DATA& dto = event.event_data.dto_completion_event_data;
    EXPECT_EQ(static_cast<int>(dto.operation),
              type == DAT_IB_UD_SEND ? DAT_IB_DTO_SEND_UD : DAT_IB_DTO_RECV_UD);
    EXPECT_EQ(dto.ep_handle, ep);
    EXPECT_EQ(dto.user_cookie.as_64, cookie);
    EXPECT_EQ(dto.status, status);
    return dto;
  }
  DAT_DTO_COMPLETION_EVENT_DATA ExpectReceived(Side& side, DAT_EP_HANDLE ep, uint64_t cookie) {
    return ExpectUd(side, side.recv_evd, ep, cookie, DAT_IB_UD_RECV);
  }

  DAT_EP_HANDLE a_ud_ = DAT_HANDLE_NULL;
  DAT_EP_HANDLE b_ud_ = DAT_HANDLE_NULL;
  DAT_PSP_HANDLE psp_ = DAT_HANDLE_NULL;
  DAT_CONN_QUAL qualifier_ = 0;
};

}  // namespace softdat::conformance

#endif  // SOFTDAT_TESTS_CONFORMANCE_DATAGRAM_FIXTURE_H_
