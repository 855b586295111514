// SPDX-License-Identifier: BSD-3-Clause
// Common service points and common connects: addresses of the socket name space (semantics 16.1,
// 16.2).
#include <netinet/in.h>

#include <cstddef>
#include <cstring>

#include "tests/conformance/fixture.h"

namespace softdat::conformance {
namespace {

class CspTest : public ConformanceTest {
 protected:
  // An address of the IA with a port where nobody listens.
  DAT_IA_ADDRESS_PTR FreeAddress() {
    const uint16_t port = htons(static_cast<uint16_t>(FreeQualifier()));
    std::memset(&socket_, 0, sizeof socket_);
    std::memcpy(&socket_, address(),
                GetParam().family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in));
    static_assert(offsetof(sockaddr_in6, sin6_port) == offsetof(sockaddr_in, sin_port));
    std::memcpy(reinterpret_cast<uint8_t*>(&socket_) + offsetof(sockaddr_in, sin_port), &port,
                sizeof port);
    return Address();
  }
  DAT_IA_ADDRESS_PTR Address() { return reinterpret_cast<DAT_IA_ADDRESS_PTR>(&socket_); }
  DAT_COMM Comm() const { return {GetParam().family, SOCK_STREAM, 0}; }
  DAT_CSP_HANDLE Listen() {
    DAT_COMM comm = Comm();
    DAT_CSP_HANDLE csp = DAT_HANDLE_NULL;
    EXPECT_OK(dat_csp_create(b_->ia, &comm, FreeAddress(), b_->cr_evd, &csp));
    return csp;
  }
  DAT_RETURN Connect(std::span<uint8_t> data = {}) {
    return dat_ep_common_connect(a_->ep, Address(), kPatienceUs,
                                 static_cast<DAT_COUNT>(data.size()), data.data());
  }
  sockaddr_storage socket_{};
};
CONFORMANCE_FAMILIES(CspTest);

// covers: semantics 16.1, 16.2
TEST_P(CspTest, ARequestArrivesAndIsAccepted) {
  const DAT_CSP_HANDLE csp = Listen();
  uint8_t data[] = {1, 2, 3, 4};
  ASSERT_OK(Connect(data));
  const auto request =
      b_->Expect(b_->cr_evd, DAT_CONNECTION_REQUEST_EVENT).event_data.cr_arrival_event_data;
  EXPECT_EQ(request.sp_handle.csp_handle, csp);
  DAT_CR_PARAM param{};
  ASSERT_OK(dat_cr_query(request.cr_handle, DAT_CR_FIELD_ALL, &param));
  ASSERT_EQ(param.private_data_size, 4);
  EXPECT_EQ(std::memcmp(param.private_data, data, 4), 0);
  ASSERT_OK(dat_cr_accept(request.cr_handle, b_->ep, 0, nullptr));
  a_->ExpectConnection(a_->ep, DAT_CONNECTION_EVENT_ESTABLISHED);
  b_->ExpectConnection(b_->ep, DAT_CONNECTION_EVENT_ESTABLISHED);
  EXPECT_OK(dat_csp_free(csp));
  Part();
}

// covers: semantics 16.1
TEST_P(CspTest, TheQueryTellsAll) {
  const DAT_CSP_HANDLE csp = Listen();
  DAT_CSP_PARAM param{};
  ASSERT_OK(dat_csp_query(csp, DAT_CSP_FIELD_ALL, &param));
  EXPECT_EQ(param.ia_handle, b_->ia);
  EXPECT_EQ(param.evd_handle, b_->cr_evd);
  ASSERT_NE(param.comm, nullptr);
  EXPECT_EQ(param.comm->domain, GetParam().family);
  EXPECT_EQ(param.comm->type, SOCK_STREAM);
  EXPECT_OK(dat_csp_free(csp));
}

// covers: semantics 16.1, 16.2
TEST_P(CspTest, ARejectReachesTheActiveSide) {
  const DAT_CSP_HANDLE csp = Listen();
  ASSERT_OK(Connect());
  ASSERT_OK(dat_cr_reject(NextRequest(*b_), 0, nullptr));
  a_->ExpectConnection(a_->ep, DAT_CONNECTION_EVENT_PEER_REJECTED);
  EXPECT_OK(dat_csp_free(csp));
}

// covers: semantics 16.2
TEST_P(CspTest, NobodyListeningIsANonPeerReject) {
  FreeAddress();
  ASSERT_OK(Connect());
  a_->ExpectConnection(a_->ep, DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
}

// covers: semantics 16.1
TEST_P(CspTest, AnAddressIsTakenOnceAndFreeAgainAfterwards) {
  DAT_CSP_HANDLE csp = Listen(), second = DAT_HANDLE_NULL;
  DAT_COMM comm = Comm();
  EXPECT_RETURN(dat_csp_create(b_->ia, &comm, Address(), b_->cr_evd, &second),
                Error(DAT_PORT_IN_USE));
  EXPECT_OK(dat_csp_free(csp));
  ASSERT_OK(dat_csp_create(b_->ia, &comm, Address(), b_->cr_evd, &second));
  EXPECT_OK(dat_csp_free(second));
}

}  // namespace
}  // namespace softdat::conformance
