// SPDX-License-Identifier: BSD-3-Clause
// The InfiniBand extension: RDMA write with immediate data, fetch-and-add, compare-and-swap
// (semantics 15.2).
#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

#include "dat2/dat_ib_extensions.h"
#include "dat2/softdat.h"
#include "tests/conformance/fixture.h"

namespace softdat::conformance {
namespace {

using Clock = std::chrono::steady_clock;

constexpr DAT_COMPLETION_FLAGS kPlain = DAT_COMPLETION_DEFAULT_FLAG;

class ExtensionTest : public ConnectedTest {
 protected:
  void SetUp() override {
    ConnectedTest::SetUp();
    const auto rights = static_cast<DAT_MEM_PRIV_FLAGS>(int{DAT_MEM_PRIV_ALL_FLAG} |
                                                        int{DAT_IB_MEM_PRIV_REMOTE_ATOMIC});
    source_ = a_->MakeBuffer(64);
    source_->FillPattern(3);
    target_ = b_->MakeBuffer(64, 0, rights);
  }
  void TearDown() override {
    source_.reset();
    target_.reset();
    ConnectedTest::TearDown();
  }
  // Expects that the next event of `evd` is an extension event of this kind.
  DAT_DTO_COMPLETION_EVENT_DATA ExpectExtension(Side& side, DAT_EVD_HANDLE evd, uint64_t cookie,
                                                DAT_IB_EXT_TYPE type, uint32_t immediate = 0) {
    const DAT_EVENT event = side.Expect(evd, static_cast<DAT_EVENT_NUMBER>(DAT_IB_DTO_EVENT));
    DAT_IB_EXTENSION_EVENT_DATA extension;
    static_assert(sizeof extension <= sizeof event.event_extension_data);
    std::memcpy(&extension, event.event_extension_data, sizeof extension);
    EXPECT_EQ(extension.type, type);
    EXPECT_EQ(extension.status, DAT_OP_SUCCESS);
    if (type == DAT_IB_RDMA_WRITE_IMMED_DATA) {
      EXPECT_EQ(extension.val.immed.data, immediate);
    }
    const auto& dto = event.event_data.dto_completion_event_data;
    EXPECT_EQ(dto.user_cookie.as_64, cookie);
    EXPECT_EQ(dto.status, DAT_DTO_SUCCESS);
    EXPECT_EQ(dto.ep_handle, side.ep);
    return dto;
  }
  // A word of the target, aligned as atomics need it.
  uint64_t* Word() { return reinterpret_cast<uint64_t*>((target_->address() + 7) & ~uint64_t{7}); }
  DAT_RMR_TRIPLET WordTriplet() {
    return target_->remote(reinterpret_cast<uintptr_t>(Word()) - target_->address(), 8);
  }
  uint64_t Result() {
    uint64_t value = 0;
    std::memcpy(&value, source_->data(), 8);
    return value;
  }
  std::unique_ptr<Buffer> source_, target_;
};
CONFORMANCE_ALL_VARIANTS(ExtensionTest);

// covers: semantics 15.2, 19
TEST_P(ExtensionTest, AWriteWithImmediateConsumesAReceive) {
  ASSERT_OK(PostRecv(b_->ep, {}, 11));
  DAT_LMR_TRIPLET local = source_->local();
  DAT_RMR_TRIPLET remote = target_->remote();
  ASSERT_OK(dat_ib_post_rdma_write_immed(a_->ep, 1, &local, Cookie(12), &remote, 0x1111, kPlain));
  EXPECT_EQ(ExpectExtension(*a_, a_->request_evd, 12, DAT_IB_RDMA_WRITE_IMMED).transfered_length,
            64u);
  EXPECT_EQ(ExpectExtension(*b_, b_->recv_evd, 11, DAT_IB_RDMA_WRITE_IMMED_DATA, 0x1111)
                .transfered_length,
            64u);
  EXPECT_EQ(std::memcmp(source_->data(), target_->data(), 64), 0) << "the data come first";
}

// covers: semantics 15.2
TEST_P(ExtensionTest, ASuppressedWriteWithImmediateIsToldToThePeerAlone) {
  ASSERT_OK(PostRecv(b_->ep, {}, 11));
  DAT_LMR_TRIPLET local = source_->local();
  DAT_RMR_TRIPLET remote = target_->remote();
  ASSERT_OK(dat_ib_post_rdma_write_immed(a_->ep, 1, &local, Cookie(12), &remote, 0x7777,
                                         DAT_COMPLETION_SUPPRESS_FLAG));
  ExpectExtension(*b_, b_->recv_evd, 11, DAT_IB_RDMA_WRITE_IMMED_DATA, 0x7777);
  // The request after it completes, so it is over.
  ASSERT_OK(PostRead(a_->ep, {source_->local()}, target_->remote(), 13));
  a_->ExpectDto(a_->request_evd, a_->ep, 13);
  ExpectNothingMore({a_->request_evd});
}

// Only the initiator's own completion tells that the data are there.
// covers: semantics 10.3
TEST_P(ExtensionTest, AConfirmedWriteIsInThePeersMemory) {
  const auto confirm = static_cast<DAT_COMPLETION_FLAGS>(SOFTDAT_COMPLETION_CONFIRM_FLAG);
  const DAT_LMR_TRIPLET local = source_->local();
  const DAT_RMR_TRIPLET remote = target_->remote();
  for (uint8_t round = 0; round < 20; ++round) {
    source_->FillPattern(round);
    ASSERT_OK(PostWrite(a_->ep, {local}, remote, round, confirm));
    a_->ExpectDto(a_->request_evd, a_->ep, round);
    EXPECT_EQ(std::memcmp(source_->data(), target_->data(), 64), 0) << int{round};
  }
}

// covers: semantics 15.2
TEST_P(ExtensionTest, FetchAndAddReturnsTheOldValue) {
  *Word() = 40;
  DAT_LMR_TRIPLET local = source_->local(0, 8);
  DAT_RMR_TRIPLET remote = WordTriplet();
  for (uint64_t i = 0; i < 3; ++i) {
    ASSERT_OK(dat_ib_post_fetch_and_add(a_->ep, 2, &local, Cookie(i), &remote, kPlain));
    EXPECT_EQ(ExpectExtension(*a_, a_->request_evd, i, DAT_IB_FETCH_AND_ADD).transfered_length, 8u);
    EXPECT_EQ(Result(), 40 + 2 * i);
  }
  EXPECT_EQ(__atomic_load_n(Word(), __ATOMIC_ACQUIRE), 46u);
}

// covers: semantics 15.2
TEST_P(ExtensionTest, CompareAndSwapSwapsOnlyOnAMatch) {
  *Word() = 5;
  DAT_LMR_TRIPLET local = source_->local(0, 8);
  DAT_RMR_TRIPLET remote = WordTriplet();
  ASSERT_OK(dat_ib_post_cmp_and_swap(a_->ep, 4, 9, &local, Cookie(1), &remote, kPlain));
  ExpectExtension(*a_, a_->request_evd, 1, DAT_IB_CMP_AND_SWAP);
  EXPECT_EQ(Result(), 5u);
  EXPECT_EQ(__atomic_load_n(Word(), __ATOMIC_ACQUIRE), 5u);
  ASSERT_OK(dat_ib_post_cmp_and_swap(a_->ep, 5, 9, &local, Cookie(2), &remote, kPlain));
  ExpectExtension(*a_, a_->request_evd, 2, DAT_IB_CMP_AND_SWAP);
  EXPECT_EQ(Result(), 5u);
  EXPECT_EQ(__atomic_load_n(Word(), __ATOMIC_ACQUIRE), 9u);
}

// The local processor adds the whole time. Only the remote adds during which it did so count. Each
// of these could lose one of its own adds, or undo one of the processor's.
// covers: semantics 10.3
TEST_P(ExtensionTest, AtomicsAreAtomicAgainstTheLocalProcessor) {
  constexpr uint64_t kWanted = 1000, kWindow = 8;
  *Word() = 0;
  std::atomic<uint64_t> added{0};
  std::jthread local_adder([&](const std::stop_token& stop) {
    for (uint64_t n = 1; !stop.stop_requested(); ++n) {
      __atomic_fetch_add(Word(), 1, __ATOMIC_ACQ_REL);
      added.store(n, std::memory_order_relaxed);
    }
  });
  DAT_LMR_TRIPLET local = source_->local(0, 8);
  DAT_RMR_TRIPLET remote = WordTriplet();
  const auto deadline = Clock::now() + std::chrono::microseconds(kPatienceUs);
  uint64_t remote_adds = 0;
  for (uint64_t met = 0; met < kWanted && !HasFailure();) {
    ASSERT_LT(Clock::now(), deadline) << "the two seldom ran at the same time";
    const uint64_t before = added.load();
    for (uint64_t i = 0; i < kWindow; ++i) {
      ASSERT_OK(dat_ib_post_fetch_and_add(a_->ep, 1, &local, Cookie(i), &remote, kPlain));
    }
    for (uint64_t i = 0; i < kWindow; ++i) {
      ExpectExtension(*a_, a_->request_evd, i, DAT_IB_FETCH_AND_ADD);
    }
    remote_adds += kWindow;
    if (added.load() != before) met += kWindow;
  }
  local_adder.request_stop();
  local_adder.join();
  EXPECT_EQ(__atomic_load_n(Word(), __ATOMIC_ACQUIRE), remote_adds + added.load());
}

// A word is a lock between the local processor, which takes it as 2, and a peer, which takes it as
// 1. Only one of them has it at a time.
// covers: semantics 10.3
TEST_P(ExtensionTest, ASwapIsAtomicAgainstTheLocalProcessor) {
  constexpr uint64_t kFree = 0, kPeer = 1, kLocal = 2, kWanted = 150;
  *Word() = kFree;
  std::atomic<uint64_t> taken{0};
  std::atomic<bool> robbed{false};
  std::jthread processor([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      uint64_t seen = kFree;
      if (!__atomic_compare_exchange_n(Word(), &seen, kLocal, false, __ATOMIC_ACQ_REL,
                                       __ATOMIC_RELAXED))
        continue;
      taken.fetch_add(1, std::memory_order_relaxed);
      seen = kLocal;
      if (!__atomic_compare_exchange_n(Word(), &seen, kFree, false, __ATOMIC_ACQ_REL,
                                       __ATOMIC_RELAXED))
        robbed = true;
    }
  });
  DAT_LMR_TRIPLET local = source_->local(0, 8);
  DAT_RMR_TRIPLET remote = WordTriplet();
  const auto swap = [&](uint64_t compare, uint64_t value) {
    EXPECT_OK(dat_ib_post_cmp_and_swap(a_->ep, compare, value, &local, Cookie(7), &remote, kPlain));
    ExpectExtension(*a_, a_->request_evd, 7, DAT_IB_CMP_AND_SWAP);
    return Result();
  };
  const auto deadline = Clock::now() + std::chrono::microseconds(kPatienceUs);
  for (uint64_t met = 0; met < kWanted && !HasFailure() && !robbed;) {
    ASSERT_LT(Clock::now(), deadline) << "the two seldom ran at the same time";
    const uint64_t before = taken.load();
    if (swap(kFree, kPeer) != kFree) continue;
    EXPECT_EQ(swap(kPeer, kFree), kPeer) << "the processor took what the peer had";
    if (taken.load() != before) ++met;
  }
  processor.request_stop();
  processor.join();
  EXPECT_FALSE(robbed) << "the peer took what the processor had";
}

// covers: semantics 7.2, 15.2
TEST_P(ExtensionTest, AtomicsNeedTheirRight) {
  const auto plain = b_->MakeBuffer(64);  // every right except that of atomics
  DAT_RMR_TRIPLET remote = plain->remote(0, 8);
  remote.virtual_address = (remote.virtual_address + 7) & ~DAT_VADDR{7};
  DAT_LMR_TRIPLET local = source_->local(0, 8);
  ASSERT_OK(dat_ib_post_fetch_and_add(a_->ep, 1, &local, Cookie(1), &remote, kPlain));
  const DAT_EVENT event = a_->Next(a_->request_evd);
  const auto& dto = event.event_data.dto_completion_event_data;
  EXPECT_EQ(dto.user_cookie.as_64, 1u);
  EXPECT_EQ(dto.status, DAT_DTO_ERR_REMOTE_ACCESS);
  a_->ExpectConnection(a_->ep, DAT_CONNECTION_EVENT_BROKEN);
  b_->ExpectConnection(b_->ep, DAT_CONNECTION_EVENT_BROKEN);
  EXPECT_TRUE(plain->untouched());
}

// covers: semantics 15.2
TEST_P(ExtensionTest, AtomicsNeedEightBytesAtBothEnds) {
  *Word() = 40;
  for (const auto& [here, there] : {std::pair{7u, 8u}, {8u, 7u}, {8u, 0u}}) {
    DAT_LMR_TRIPLET local = source_->local(0, here);
    DAT_RMR_TRIPLET remote = WordTriplet();
    remote.segment_length = there;
    EXPECT_RETURN(dat_ib_post_fetch_and_add(a_->ep, 1, &local, Cookie(1), &remote, kPlain),
                  Error(DAT_LENGTH_ERROR));
    EXPECT_RETURN(dat_ib_post_cmp_and_swap(a_->ep, 40, 9, &local, Cookie(1), &remote, kPlain),
                  Error(DAT_LENGTH_ERROR));
  }
  EXPECT_EQ(*Word(), 40u);
}

// covers: semantics 12
TEST_P(ExtensionTest, TheAttributesAnnounceThem) {
  DAT_IA_ATTR ia{};
  DAT_PROVIDER_ATTR provider{};
  ASSERT_OK(
      dat_ia_query(a_->ia, nullptr, DAT_IA_FIELD_ALL, &ia, DAT_PROVIDER_FIELD_ALL, &provider));
  EXPECT_EQ(ia.extension_supported, DAT_EXTENSION_IB);
  EXPECT_GE(ia.extension_version, 209);
  for (const char* name : {"DAT_IB_FETCH_AND_ADD", "DAT_IB_CMP_AND_SWAP", "DAT_IB_IMMED_DATA"}) {
    bool found = false;
    for (int i = 0; i < provider.num_provider_specific_attr; ++i) {
      const DAT_NAMED_ATTR& attr = provider.provider_specific_attr[i];
      found |= std::strcmp(attr.name, name) == 0 && std::strcmp(attr.value, "TRUE") == 0;
    }
    EXPECT_TRUE(found) << name;
  }
}

}  // namespace
}  // namespace softdat::conformance
