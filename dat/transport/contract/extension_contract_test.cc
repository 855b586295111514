// SPDX-License-Identifier: BSD-3-Clause
// Contract: write with immediate data, confirmed writes, and atomics. For back ends with all of
// these.
#include <atomic>
#include <cstring>
#include <thread>

#include "dat/transport/contract/contract_test_suite.h"
#include "dat2/dat_ib_extensions.h"

namespace softdat::transport {
namespace {

constexpr uint32_t kAtomicRights =
    uint32_t{DAT_MEM_PRIV_ALL_FLAG} | uint32_t{DAT_IB_MEM_PRIV_REMOTE_ATOMIC};

class ExtensionTester : public ContractPairTest {
 protected:
  SendRequest Atomic(Op op, const DAT_LMR_TRIPLET& result, const DAT_RMR_TRIPLET& remote,
                     uint64_t swap_or_add, uint64_t compare = 0) {
    SendRequest request;
    request.op = op;
    request.local = {&result, 1};
    request.remote = remote;
    request.atomic.swap_or_add = swap_or_add;
    request.atomic.compare = compare;
    return request;
  }
};

// covers: semantics 15.2
TEST_F(ExtensionTester, ImmediateWritesAndConsumesAReceive) {
  const auto from = MakeMemory(*pd_, 64, 0x15), to = MakeMemory(*pd_, 64),
             buffer = MakeMemory(*pd_, 8, 0x77);
  ASSERT_EQ(PostReceive(*b_, {buffer->local()}, 9), Code::kOk);
  const DAT_LMR_TRIPLET local = from->local();
  SendRequest request;
  request.op = Op::kRdmaWriteImmediate;
  request.cookie = 8;
  request.local = {&local, 1};
  request.remote = to->remote();
  request.key = 0xCAFEF00D;
  ASSERT_EQ(a_->qp->PostSend(request), Code::kOk);
  const Completion got = Next(*b_->recv_queue);
  EXPECT_EQ(got.op, Op::kReceiveImmediate);
  EXPECT_EQ(got.cookie, 9u);
  EXPECT_EQ(got.key, 0xCAFEF00Du);
  EXPECT_EQ(to->data()[63], 0x15);
  EXPECT_TRUE(buffer->untouched());
  const Completion sent = Next(*a_->send_queue);
  EXPECT_EQ(sent.op, Op::kRdmaWriteImmediate);
  EXPECT_EQ(sent.cookie, 8u);
  EXPECT_EQ(sent.length, 64u);
}

// covers: semantics 15.2
TEST_F(ExtensionTester, FetchAddAndCompareSwapReturnTheOldValue) {
  alignas(8) uint64_t word = 0;
  const auto result = MakeMemory(*pd_, 8);
  auto region = adapter_->RegisterMemory(
      *pd_, {.address = &word, .length = 8, .privileges = kAtomicRights, .zero_based = false});
  ASSERT_TRUE(region.ok());
  DAT_RMR_TRIPLET remote{};
  remote.virtual_address = reinterpret_cast<uintptr_t>(&word);
  remote.segment_length = 8;
  remote.rmr_context = region.value()->remote_key();
  const DAT_LMR_TRIPLET local = result->local();
  const auto old = [&] {
    const Completion done = Next(*a_->send_queue);
    EXPECT_EQ(done.status, WorkStatus::kSuccess);
    EXPECT_EQ(done.length, 8u);
    uint64_t value = 0;
    std::memcpy(&value, result->data(), 8);
    return value;
  };
  ASSERT_EQ(a_->qp->PostSend(Atomic(Op::kFetchAdd, local, remote, 5)), Code::kOk);
  EXPECT_EQ(old(), 0u);
  ASSERT_EQ(a_->qp->PostSend(Atomic(Op::kFetchAdd, local, remote, UINT64_MAX)), Code::kOk);
  EXPECT_EQ(old(), 5u);
  EXPECT_EQ(__atomic_load_n(&word, __ATOMIC_SEQ_CST), 4u);
  ASSERT_EQ(a_->qp->PostSend(Atomic(Op::kCompareSwap, local, remote, 100, 3)), Code::kOk);
  EXPECT_EQ(old(), 4u);
  EXPECT_EQ(__atomic_load_n(&word, __ATOMIC_SEQ_CST), 4u);
  ASSERT_EQ(a_->qp->PostSend(Atomic(Op::kCompareSwap, local, remote, 100, 4)), Code::kOk);
  EXPECT_EQ(old(), 4u);
  EXPECT_EQ(__atomic_load_n(&word, __ATOMIC_SEQ_CST), 100u);
}

// covers: semantics 10.3
TEST_F(ExtensionTester, AtomicsAreAtomicAgainstTheLocalProcessor) {
  alignas(8) uint64_t word = 0;
  constexpr uint64_t kAdds = 1000;
  const auto result = MakeMemory(*pd_, 8);
  auto region = adapter_->RegisterMemory(
      *pd_, {.address = &word, .length = 8, .privileges = kAtomicRights, .zero_based = false});
  ASSERT_TRUE(region.ok());
  DAT_RMR_TRIPLET remote{};
  remote.virtual_address = reinterpret_cast<uintptr_t>(&word);
  remote.segment_length = 8;
  remote.rmr_context = region.value()->remote_key();
  const DAT_LMR_TRIPLET local = result->local();
  // The processor adds all the time. Only the remote adds that happen meanwhile count.
  std::atomic<uint64_t> added{0};
  std::jthread processor([&](const std::stop_token& stop) {
    for (uint64_t n = 1; !stop.stop_requested(); ++n) {
      __atomic_fetch_add(&word, 1, __ATOMIC_SEQ_CST);
      added.store(n, std::memory_order_relaxed);
    }
  });
  uint64_t remote_adds = 0;
  const Clock::time_point deadline = Clock::now() + std::chrono::seconds(30);
  for (uint64_t met = 0; met < kAdds;) {
    ASSERT_LT(Clock::now(), deadline) << "the two seldom ran at the same time";
    const uint64_t before = added.load();
    ASSERT_EQ(a_->qp->PostSend(Atomic(Op::kFetchAdd, local, remote, 1)), Code::kOk);
    ASSERT_EQ(Next(*a_->send_queue).status, WorkStatus::kSuccess);
    ++remote_adds;
    if (added.load() != before) ++met;
  }
  processor.request_stop();
  processor.join();
  EXPECT_EQ(__atomic_load_n(&word, __ATOMIC_SEQ_CST), remote_adds + added.load());
}

// covers: semantics 7.2, 15.2
TEST_F(ExtensionTester, AtomicsNeedTheirRightAndAlignment) {
  const auto plain = MakeMemory(*pd_, 64, 0x33), atomic = MakeMemory(*pd_, 64, 0x33, kAtomicRights),
             result = MakeMemory(*pd_, 8);
  const DAT_LMR_TRIPLET local = result->local();
  ASSERT_EQ(a_->qp->PostSend(Atomic(Op::kFetchAdd, local, plain->remote(0, 8), 1)), Code::kOk);
  EXPECT_EQ(Next(*a_->send_queue).status, WorkStatus::kRemoteAccess);
  EXPECT_TRUE(plain->untouched());
  a_ = MakePair(pd_.get());
  b_ = MakePair(pd_.get());
  Join(*a_, *b_);
  const size_t odd = (8 - atomic->address() % 8) % 8 + 1;
  const Code posted = a_->qp->PostSend(Atomic(Op::kFetchAdd, local, atomic->remote(odd, 8), 1));
  if (posted == Code::kOk) {
    EXPECT_NE(Next(*a_->send_queue).status, WorkStatus::kSuccess);
  }
  EXPECT_TRUE(atomic->untouched());
}

// covers: semantics 10.3
TEST_F(ContractPairTest, AConfirmedWriteIsThereWhenItCompletes) {
  const auto from = MakeMemory(*pd_, 100'000), to = MakeMemory(*pd_, 100'000);
  for (const size_t size : {size_t{8}, size_t{100'000}}) {
    from->FillPattern(static_cast<uint8_t>(size));
    ASSERT_EQ(
        PostRdma(*a_, Op::kRdmaWrite, {from->local(0, size)}, to->remote(0, size), size, kConfirm),
        Code::kOk);
    const Completion done = Next(*a_->send_queue);
    EXPECT_EQ(done.op, Op::kRdmaWrite);
    EXPECT_EQ(done.status, WorkStatus::kSuccess);
    EXPECT_EQ(done.length, size);
    EXPECT_EQ(std::memcmp(from->data(), to->data(), size), 0);
  }
}

}  // namespace
}  // namespace softdat::transport
