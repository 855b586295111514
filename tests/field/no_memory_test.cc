// SPDX-License-Identifier: BSD-3-Clause
// Calls that find no memory left. Each returns an error and leaves nothing half made. None throws
// an exception, which would end a program in C.
#include "tests/field/no_memory.h"

#include <array>
#include <string>

#include "tests/field/field.h"

namespace softdat::field {
namespace {

constexpr DAT_RETURN kNoMemory =
    DAT_RETURN{DAT_CLASS_ERROR} | DAT_INSUFFICIENT_RESOURCES | DAT_RESOURCE_MEMORY;
constexpr DAT_COUNT kDeepEvd = 1 << 20;
constexpr DAT_COUNT kDeepQueue = 65536;

// The objects that the calls need, made while there is memory, and the result of each call.
class NoMemoryTest : public testing::Test {
 protected:
  static constexpr size_t kCalls = 13;
  using Answers = std::array<DAT_RETURN, kCalls>;

  NoMemoryTest() {
    dto_evd_ = ia_.NewEvd(DAT_EVD_DTO_FLAG);
    cr_evd_ = ia_.NewEvd(DAT_EVD_CR_FLAG);
    EXPECT_DAT_OK(dat_pz_create(ia_.handle(), &pz_));
    DAT_SRQ_ATTR attr{};
    attr.max_recv_dtos = 16;
    attr.max_recv_iov = 4;
    attr.low_watermark = DAT_SRQ_LW_DEFAULT;
    EXPECT_DAT_OK(dat_srq_create(ia_.handle(), pz_, &attr, &srq_));
  }

  // Nothing is left behind. All objects that the calls used can be freed, and a graceful close
  // finds nothing.
  void TearDown() override {
    EXPECT_DAT_OK(dat_srq_free(srq_));
    EXPECT_DAT_OK(dat_evd_free(dto_evd_));
    EXPECT_DAT_OK(dat_evd_free(cr_evd_));
    EXPECT_DAT_OK(dat_pz_free(pz_));
    EXPECT_DAT_OK(ia_.Close(DAT_CLOSE_GRACEFUL_FLAG));
  }

  template <typename Handle, typename Create, typename Free>
  static DAT_RETURN Try(Create create, Free free) {
    Handle handle = DAT_HANDLE_NULL;
    const DAT_RETURN ret = create(&handle);
    if (ret == DAT_SUCCESS) free(handle);
    return ret;
  }

  // Makes all calls, without an allocation of its own.
  void CallAll(Answers* answers) {
    DAT_EP_ATTR ep{};
    ep.service_type = DAT_SERVICE_TYPE_RC;
    ep.max_mtu_size = 4096;
    ep.max_rdma_size = 4096;
    ep.max_recv_dtos = ep.max_request_dtos = kDeepQueue;
    ep.max_recv_iov = ep.max_request_iov = 16;
    DAT_EP_ATTR with_srq = ep;
    with_srq.max_recv_dtos = 16;
    with_srq.max_recv_iov = 4;
    DAT_SRQ_ATTR srq{};
    srq.max_recv_dtos = kDeepQueue;
    srq.max_recv_iov = 16;
    srq.low_watermark = DAT_SRQ_LW_DEFAULT;
    DAT_REGION_DESCRIPTION region{};
    region.for_va = memory_;
    size_t n = 0;
    const DAT_IA_HANDLE ia = ia_.handle();
    (*answers)[n++] = Try<DAT_EVD_HANDLE>(
        [&](auto* h) { return dat_evd_create(ia, kDeepEvd, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG, h); },
        dat_evd_free);
    (*answers)[n++] = Try<DAT_EP_HANDLE>(
        [&](auto* h) {
          return dat_ep_create(ia, pz_, dto_evd_, dto_evd_, DAT_HANDLE_NULL, &ep, h);
        },
        dat_ep_free);
    (*answers)[n++] = Try<DAT_EP_HANDLE>(
        [&](auto* h) {
          return dat_ep_create_with_srq(ia, pz_, dto_evd_, dto_evd_, DAT_HANDLE_NULL, srq_,
                                        &with_srq, h);
        },
        dat_ep_free);
    (*answers)[n++] = Try<DAT_SRQ_HANDLE>([&](auto* h) { return dat_srq_create(ia, pz_, &srq, h); },
                                          dat_srq_free);
    (*answers)[n++] = dat_srq_resize(srq_, kDeepQueue);
    (*answers)[n++] = dat_evd_resize(dto_evd_, kDeepEvd);
    (*answers)[n++] =
        Try<DAT_PZ_HANDLE>([&](auto* h) { return dat_pz_create(ia, h); }, dat_pz_free);
    (*answers)[n++] = Try<DAT_LMR_HANDLE>(
        [&](auto* h) {
          return dat_lmr_create(ia, DAT_MEM_TYPE_VIRTUAL, region, sizeof(memory_), pz_,
                                DAT_MEM_PRIV_ALL_FLAG, DAT_VA_TYPE_VA, h, nullptr, nullptr, nullptr,
                                nullptr);
        },
        dat_lmr_free);
    (*answers)[n++] =
        Try<DAT_RMR_HANDLE>([&](auto* h) { return dat_rmr_create(pz_, h); }, dat_rmr_free);
    (*answers)[n++] = Try<DAT_CNO_HANDLE>(
        [&](auto* h) { return dat_cno_create(ia, DAT_OS_WAIT_PROXY_AGENT_NULL, h); }, dat_cno_free);
    DAT_FD fd = -1;
    (*answers)[n++] =
        Try<DAT_CNO_HANDLE>([&](auto* h) { return dat_cno_fd_create(ia, &fd, h); }, dat_cno_free);
    DAT_CONN_QUAL qualifier = 0;
    (*answers)[n++] = Try<DAT_PSP_HANDLE>(
        [&](auto* h) {
          return dat_psp_create_any(ia, &qualifier, cr_evd_, DAT_PSP_CONSUMER_FLAG, h);
        },
        dat_psp_free);
    DAT_EVD_HANDLE async_evd = DAT_HANDLE_NULL;
    (*answers)[n++] =
        Try<DAT_IA_HANDLE>([&](auto* h) { return dat_ia_open(name_.data(), 64, &async_evd, h); },
                           [](DAT_IA_HANDLE h) { return dat_ia_close(h, DAT_CLOSE_ABRUPT_FLAG); });
  }

  static void ExpectSuccess(const Answers& answers) {
    for (size_t i = 0; i < kCalls; ++i) EXPECT_EQ(answers[i], DAT_SUCCESS) << i << Text(answers[i]);
  }

  Ia ia_;
  DAT_PZ_HANDLE pz_ = DAT_HANDLE_NULL;
  DAT_EVD_HANDLE dto_evd_ = DAT_HANDLE_NULL;
  DAT_EVD_HANDLE cr_evd_ = DAT_HANDLE_NULL;
  DAT_SRQ_HANDLE srq_ = DAT_HANDLE_NULL;
  std::string name_ = IaName();
  uint8_t memory_[4096] = {};
};

// The memory goes from none to plenty, so that the allocations of each call fail one after the
// other.
TEST_F(NoMemoryTest, LessThanACallNeeds) {
  Answers answers{};
  int failures = 0;
  for (size_t more = 16 << 10; more <= size_t{1} << 29; more += more / 3) {
    {
      const Limit limit(more);
      CallAll(&answers);
    }
    for (size_t i = 0; i < kCalls; ++i) {
      if (answers[i] == DAT_SUCCESS) continue;
      ++failures;
      EXPECT_EQ(DAT_GET_TYPE(answers[i]), DAT_RETURN{DAT_INSUFFICIENT_RESOURCES})
          << i << " with " << more << ": " << Text(answers[i]);
    }
    ASSERT_DAT_OK(dat_srq_resize(srq_, 16));
    ASSERT_DAT_OK(dat_evd_resize(dto_evd_, 64));
  }
  EXPECT_GT(failures, 5);
  ExpectSuccess(answers);
}

// There is no memory even for the text of a failure.
TEST_F(NoMemoryTest, Nothing) {
  Answers answers{};
  {
    const Limit limit(0);
    const Hoard hoard;
    CallAll(&answers);
  }
  for (size_t i = 0; i < kCalls; ++i) EXPECT_EQ(answers[i], kNoMemory) << i << Text(answers[i]);
  CallAll(&answers);
  ExpectSuccess(answers);
}

}  // namespace
}  // namespace softdat::field
