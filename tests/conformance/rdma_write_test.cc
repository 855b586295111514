// SPDX-License-Identifier: BSD-3-Clause
// RDMA write (semantics 10.1, 10.3, 10.4).
#include <sched.h>

#include <chrono>
#include <cstring>

#include "tests/conformance/fixture.h"

namespace softdat::conformance {
namespace {

// Reads what an adapter wrote. The program's memory model does not cover that, and ThreadSanitizer
// would take the adapter's writes for those of an unrelated thread.
__attribute__((no_sanitize("thread"))) bool AllAre(const uint8_t* bytes, size_t n, uint8_t value) {
  for (size_t i = 0; i < n; ++i) {
    if (bytes[i] != value) return false;
  }
  return true;
}

class RdmaWriteTest : public ConnectedTest {};
CONFORMANCE_ALL_VARIANTS(RdmaWriteTest);

// covers: semantics 10.3, 10.4
TEST_P(RdmaWriteTest, EverySizeLandsBehindASend) {
  constexpr size_t kMost = 1 << 20;
  const auto from = a_->MakeBuffer(kMost), to = b_->MakeBuffer(kMost), note = b_->MakeBuffer(8);
  uint64_t cookie = 1;
  for (const size_t size : {1, 7, 64, 1024, 4095, 4096, 4097, 65536, 1 << 20}) {
    SCOPED_TRACE(size);
    from->FillPattern(static_cast<uint8_t>(size * 3 + 1));
    ASSERT_OK(PostRecv(b_->ep, {note->local()}, cookie));
    ASSERT_OK(PostWrite(a_->ep, {from->local(0, size)}, to->remote(0, size), cookie));
    ASSERT_OK(PostSend(a_->ep, {}, cookie + 1));
    // The write is placed before the later send can be seen.
    b_->ExpectDto(b_->recv_evd, b_->ep, cookie);
    EXPECT_EQ(std::memcmp(from->data(), to->data(), size), 0);
    EXPECT_EQ(a_->ExpectDto(a_->request_evd, a_->ep, cookie).transfered_length, size);
    a_->ExpectDto(a_->request_evd, a_->ep, cookie + 1);
    cookie += 2;
  }
  EXPECT_TRUE(to->guards_intact());
  ExpectNothingMore({a_->request_evd, b_->recv_evd, b_->request_evd});
}

// covers: semantics 10.1
TEST_P(RdmaWriteTest, SegmentsAreGathered) {
  const auto from = a_->MakeBuffer(300), to = b_->MakeBuffer(300);
  from->FillPattern(9);
  ASSERT_OK(PostRecv(b_->ep, {}, 1));
  ASSERT_OK(PostWrite(a_->ep, {from->local(200, 100), from->local(0, 50), from->local(50, 1)},
                      to->remote(100, 151), 2));
  ASSERT_OK(PostSend(a_->ep, {}, 3));
  b_->ExpectDto(b_->recv_evd, b_->ep, 1);
  EXPECT_EQ(a_->ExpectDto(a_->request_evd, a_->ep, 2).transfered_length, 151u);
  EXPECT_EQ(std::memcmp(to->data() + 100, from->data() + 200, 100), 0);
  EXPECT_EQ(std::memcmp(to->data() + 200, from->data(), 51), 0);
  EXPECT_EQ(to->data()[99], 0);
  EXPECT_EQ(to->data()[251], 0);
}

// The target makes no DAT call and polls the last byte, which arrives last.
// covers: semantics 10.3, 19
TEST_P(RdmaWriteTest, ATargetMayPollTheLastByte) {
  constexpr size_t kSize = 300'000;
  const auto from = a_->MakeBuffer(kSize), to = b_->MakeBuffer(kSize);
  for (uint8_t round = 1; round <= 5; ++round) {
    std::memset(from->data(), round, kSize);
    ASSERT_OK(PostWrite(a_->ep, {from->local()}, to->remote(), round));
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (__atomic_load_n(to->data() + kSize - 1, __ATOMIC_ACQUIRE) != round) {
      ASSERT_LT(std::chrono::steady_clock::now(), deadline);
      sched_yield();
    }
    EXPECT_TRUE(AllAre(to->data(), kSize, round));
    a_->ExpectDto(a_->request_evd, a_->ep, round);
  }
}

// covers: semantics 10.1
TEST_P(RdmaWriteTest, AnEmptyWriteTouchesNoMemory) {
  DAT_RMR_TRIPLET nowhere{};
  nowhere.rmr_context = 0x12345;
  ASSERT_OK(PostWrite(a_->ep, {}, nowhere, 1));
  EXPECT_EQ(a_->ExpectDto(a_->request_evd, a_->ep, 1).transfered_length, 0u);
  EXPECT_EQ(StateOf(a_->ep), DAT_EP_STATE_CONNECTED);
  ExpectNothingMore({a_->request_evd, b_->recv_evd});
}

// covers: semantics 10.1
TEST_P(RdmaWriteTest, TheRemoteTripletMayBeLargerButNotSmaller) {
  const auto from = a_->MakeBuffer(64, 0x99), to = b_->MakeBuffer(64);
  EXPECT_TYPE(PostWrite(a_->ep, {from->local(0, 9)}, to->remote(0, 8), 1), DAT_LENGTH_ERROR);
  ASSERT_OK(PostWrite(a_->ep, {from->local(0, 1)}, to->remote(0, 64), 2));
  EXPECT_EQ(a_->ExpectDto(a_->request_evd, a_->ep, 2).transfered_length, 1u);
  const auto check = a_->MakeBuffer(2);
  ASSERT_OK(PostRead(a_->ep, {check->local()}, to->remote(0, 2), 3));
  a_->ExpectDto(a_->request_evd, a_->ep, 3);
  EXPECT_EQ(check->data()[0], 0x99);
  EXPECT_EQ(check->data()[1], 0);
}

// covers: semantics 8.1, 19
TEST_P(RdmaWriteTest, ALargeOperationOnAnEpWithZeroSizeAttributes) {
  // The tools do this: sizes of 0 do not limit (semantics 8.1).
  DAT_EP_ATTR attr{};
  attr.max_recv_dtos = attr.max_request_dtos = 8;
  attr.max_recv_iov = attr.max_request_iov = 2;
  attr.max_rdma_read_in = attr.max_rdma_read_out = 4;
  const DAT_EP_HANDLE active = a_->MakeEp(&attr), passive = b_->MakeEp(&attr);
  Join(*a_, active, *b_, passive);
  constexpr size_t kSize = 4 << 20;
  const auto from = a_->MakeBuffer(kSize, 0x5E), to = b_->MakeBuffer(kSize);
  ASSERT_OK(PostRecv(passive, {}, 1));
  ASSERT_OK(PostWrite(active, {from->local()}, to->remote(), 2));
  ASSERT_OK(PostSend(active, {}, 3));
  b_->ExpectDto(b_->recv_evd, passive, 1);
  EXPECT_EQ(std::memcmp(from->data(), to->data(), kSize), 0);
  EXPECT_EQ(a_->ExpectDto(a_->request_evd, active, 2).transfered_length, kSize);
}

}  // namespace
}  // namespace softdat::conformance
