// SPDX-License-Identifier: BSD-3-Clause
// With SOFTDAT_PROFILE set (by the test's rule) another IA shows a program what the device would
// show it: smaller limits, missing operations, other ways to fail.
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "dat2/dat_ib_extensions.h"
#include "dat2/softdat.h"
#include "tests/conformance/fixture.h"

namespace softdat::conformance {
namespace {

std::string Profile() {
  const char* const value = std::getenv("SOFTDAT_PROFILE");
  return value != nullptr ? value : "";
}

// The limits of the device, according to docs/differences.md.
struct Limits {
  const char* profile;
  DAT_COUNT max_dto_per_ep;
  DAT_COUNT max_iov_segments_per_dto;
  DAT_COUNT max_rdma_read_per_ep;
  DAT_COUNT max_evd_qlen;
  DAT_UINT64 max_message_size;
  DAT_COUNT max_private_data_size;
  bool windows;
  bool extensions;
};

constexpr Limits kLimits[] = {
    {"rxe", 1048572, 32, 128, 32767, 8u << 20, 52, true, true},
    {"siw", 32764, 6, 128, 3276800, UINT32_MAX, 239, false, false},
    {"ib", 32764, 30, 16, 4194303, 1u << 30, 52, true, true},
};

constexpr auto kAtomicTarget = static_cast<DAT_MEM_PRIV_FLAGS>(int{DAT_MEM_PRIV_ALL_FLAG} |
                                                               int{DAT_IB_MEM_PRIV_REMOTE_ATOMIC});

class ProfileTest : public ConnectedTest {
 protected:
  void SetUp() override {
    for (const Limits& limits : kLimits) {
      if (Profile() == limits.profile) limits_ = &limits;
    }
    ASSERT_NE(limits_, nullptr) << "SOFTDAT_PROFILE=" << Profile();
    ConnectedTest::SetUp();
  }

  const Limits* limits_ = nullptr;
};
CONFORMANCE_FAMILIES(ProfileTest);

// A limit of the IA itself may be smaller.
TEST_P(ProfileTest, TheLimitsAreTheDevices) {
  DAT_IA_ATTR ia{};
  DAT_PROVIDER_ATTR provider{};
  ASSERT_OK(
      dat_ia_query(a_->ia, nullptr, DAT_IA_FIELD_ALL, &ia, DAT_PROVIDER_FIELD_ALL, &provider));
  EXPECT_LE(ia.max_dto_per_ep, limits_->max_dto_per_ep);
  EXPECT_LE(ia.max_iov_segments_per_dto, limits_->max_iov_segments_per_dto);
  EXPECT_LE(ia.max_rdma_read_per_ep_in, limits_->max_rdma_read_per_ep);
  EXPECT_LE(ia.max_evd_qlen, limits_->max_evd_qlen);
  EXPECT_EQ(ia.max_message_size, std::min<DAT_UINT64>(limits_->max_message_size, 1u << 31));
  EXPECT_EQ(provider.max_private_data_size, limits_->max_private_data_size);
  EXPECT_EQ(ia.max_rmrs > 0, limits_->windows);
  EXPECT_EQ(ia.extension_supported != DAT_EXTENSION_NONE, limits_->extensions);
}

TEST_P(ProfileTest, MoreThanTheLimitIsRefused) {
  DAT_IA_ATTR ia{};
  ASSERT_OK(dat_ia_query(a_->ia, nullptr, DAT_IA_FIELD_ALL, &ia, DAT_PROVIDER_FIELD_NONE, nullptr));
  DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
  EXPECT_TYPE(dat_evd_create(a_->ia, ia.max_evd_qlen + 1, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG, &evd),
              DAT_INSUFFICIENT_RESOURCES);
  std::vector<uint8_t> data(static_cast<size_t>(limits_->max_private_data_size) + 1);
  DAT_EP_HANDLE const ep = a_->MakeEp();
  EXPECT_TYPE(Connect(ep, FreeQualifier(), data), DAT_INVALID_PARAMETER);
}

TEST_P(ProfileTest, PrivateDataOfTheLimitArrive) {
  std::vector<uint8_t> data(static_cast<size_t>(limits_->max_private_data_size), 0x5A);
  DAT_EP_HANDLE const ep = a_->MakeEp();
  DAT_CONN_QUAL qualifier = 0;
  const DAT_PSP_HANDLE psp = Listen(*b_, &qualifier);
  ASSERT_OK(Connect(ep, qualifier, data));
  const DAT_CR_HANDLE cr = NextRequest(*b_);
  DAT_CR_PARAM param{};
  ASSERT_OK(dat_cr_query(cr, DAT_CR_FIELD_ALL, &param));
  EXPECT_EQ(param.private_data_size, limits_->max_private_data_size);
  EXPECT_OK(dat_cr_reject(cr, 0, nullptr));
  a_->ExpectConnection(ep, DAT_CONNECTION_EVENT_PEER_REJECTED);
  EXPECT_OK(dat_psp_free(psp));
}

TEST_P(ProfileTest, WhatTheDeviceHasNotIsRefused) {
  DAT_RMR_HANDLE rmr = DAT_HANDLE_NULL;
  const DAT_RETURN created = dat_rmr_create(a_->pz, &rmr);
  const auto local = a_->MakeBuffer(8);
  const auto remote = b_->MakeBuffer(8, 0, kAtomicTarget);
  DAT_LMR_TRIPLET iov = local->local();
  DAT_RMR_TRIPLET target = remote->remote();
  if (limits_->windows) {
    EXPECT_OK(created);
    EXPECT_OK(dat_rmr_free(rmr));
  } else {
    EXPECT_TYPE(created, DAT_MODEL_NOT_SUPPORTED);
  }
  const DAT_RETURN added = dat_ib_post_fetch_and_add(a_->ep, DAT_UINT64{1}, &iov, Cookie(1),
                                                     &target, DAT_COMPLETION_DEFAULT_FLAG);
  if (limits_->extensions) {
    ASSERT_OK(added);
    a_->Expect(a_->request_evd, static_cast<DAT_EVENT_NUMBER>(DAT_IB_DTO_EVENT));
  } else {
    EXPECT_RETURN(added, Error(DAT_NOT_IMPLEMENTED));
    char reason[512] = "";
    softdat_last_reason(reason, sizeof reason);
    EXPECT_NE(std::string(reason).find("SOFTDAT_PROFILE"), std::string::npos) << reason;
  }
  // A device without acknowledgements does not confirm writes either.
  const DAT_RETURN confirmed = PostWrite(
      a_->ep, {iov}, target, 2, static_cast<DAT_COMPLETION_FLAGS>(SOFTDAT_COMPLETION_CONFIRM_FLAG));
  if (limits_->extensions) {
    EXPECT_OK(confirmed);
  } else {
    EXPECT_RETURN(confirmed, Error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG6));
  }
  EXPECT_EQ(StateOf(a_->ep), DAT_EP_STATE_CONNECTED);
}

TEST_P(ProfileTest, ARefusedReadFailsAsOnTheDevice) {
  const auto local = a_->MakeBuffer(8), remote = b_->MakeBuffer(8);
  DAT_RMR_TRIPLET target = remote->remote();
  target.rmr_context ^= 0x80000000u;
  ASSERT_OK(PostRead(a_->ep, {local->local()}, target, 1));
  const bool siw = Profile() == "siw";
  a_->ExpectDto(a_->request_evd, a_->ep, 1, siw ? DAT_DTO_ERR_FLUSHED : DAT_DTO_ERR_REMOTE_ACCESS);
  const DAT_EVENT_NUMBER end =
      siw ? DAT_CONNECTION_EVENT_DISCONNECTED : DAT_CONNECTION_EVENT_BROKEN;
  a_->ExpectConnection(a_->ep, end);
  b_->ExpectConnection(b_->ep, end);
}

// The device's windows are of type 2. A window that is bound over one EP does not exist for
// another.
TEST_P(ProfileTest, AWindowServesTheEpThatBoundIt) {
  if (!limits_->windows) return;
  DAT_PROVIDER_ATTR provider{};
  ASSERT_OK(dat_ia_query(a_->ia, nullptr, 0, nullptr, DAT_PROVIDER_FIELD_ALL, &provider));
  EXPECT_EQ(provider.rmr_scope_supported, DAT_RMR_SCOPE_EP);
  const auto local = a_->MakeBuffer(8), remote = b_->MakeBuffer(8);
  DAT_RMR_HANDLE rmr = DAT_HANDLE_NULL;
  ASSERT_OK(dat_rmr_create(b_->pz, &rmr));
  const DAT_LMR_TRIPLET part = remote->local();
  DAT_RMR_CONTEXT context = 0;
  ASSERT_OK(dat_rmr_bind(rmr, remote->lmr(), &part, DAT_MEM_PRIV_REMOTE_READ_FLAG, DAT_VA_TYPE_VA,
                         b_->ep, Cookie(1), DAT_COMPLETION_DEFAULT_FLAG, &context));
  b_->Expect(b_->request_evd, DAT_RMR_BIND_COMPLETION_EVENT);
  DAT_RMR_TRIPLET target = remote->remote();
  target.rmr_context = context;
  const DAT_EP_HANDLE near = a_->MakeEp(), far = b_->MakeEp();
  Join(*a_, near, *b_, far);
  ASSERT_OK(PostRead(a_->ep, {local->local()}, target, 2));
  a_->ExpectDto(a_->request_evd, a_->ep, 2);
  ASSERT_OK(PostRead(near, {local->local()}, target, 3));
  a_->ExpectDto(a_->request_evd, near, 3, DAT_DTO_ERR_REMOTE_ACCESS);
  a_->ExpectConnection(near, DAT_CONNECTION_EVENT_BROKEN);
  b_->ExpectConnection(far, DAT_CONNECTION_EVENT_BROKEN);
  EXPECT_OK(dat_rmr_free(rmr));
}

TEST_P(ProfileTest, AMessageWithoutAReceive) {
  const auto local = a_->MakeBuffer(8), sink = b_->MakeBuffer(8);
  ASSERT_OK(PostSend(a_->ep, {local->local()}, 1));
  if (Profile() == "siw") {
    a_->ExpectDto(a_->request_evd, a_->ep, 1);
    b_->ExpectConnection(b_->ep, DAT_CONNECTION_EVENT_DISCONNECTED);
    a_->ExpectConnection(a_->ep, DAT_CONNECTION_EVENT_DISCONNECTED);
    return;
  }
  b_->ExpectSilence(b_->connect_evd);
  a_->ExpectSilence(a_->request_evd);
  ASSERT_OK(PostRecv(b_->ep, {sink->local()}, 2));
  b_->ExpectDto(b_->recv_evd, b_->ep, 2);
  a_->ExpectDto(a_->request_evd, a_->ep, 1);
}

}  // namespace
}  // namespace softdat::conformance
