// SPDX-License-Identifier: BSD-3-Clause
// Memory as programs register and use it (docs/porting.md, "What programs do").
#include <sched.h>

#include <chrono>

#include "tests/conformance/party.h"

namespace softdat::conformance {
namespace {

class ProgramsMemoryTest : public ConnectedTest {
 protected:
  struct Region {
    DAT_LMR_HANDLE lmr = DAT_HANDLE_NULL;
    DAT_LMR_CONTEXT local = 0;
    DAT_RMR_CONTEXT remote = 0;
  };
  static Region Register(const Side& side, void* address, size_t length, int rights) {
    DAT_REGION_DESCRIPTION description{};
    description.for_va = address;
    Region region;
    EXPECT_OK(CreateLmr(side.ia, DAT_MEM_TYPE_VIRTUAL, description, length, side.pz,
                        static_cast<DAT_MEM_PRIV_FLAGS>(rights), &region.lmr, &region.local,
                        &region.remote, nullptr, nullptr));
    return region;
  }
  static DAT_LMR_TRIPLET Local(const Region& region, const void* address, size_t length) {
    DAT_LMR_TRIPLET triplet{};
    triplet.virtual_address = reinterpret_cast<uintptr_t>(address);
    triplet.segment_length = static_cast<SegmentLength>(length);
    triplet.lmr_context = region.local;
    return triplet;
  }
};
CONFORMANCE_FAMILIES(ProgramsMemoryTest);

// A cache of registrations has the same buffer with other rights, twice, and overlapping.
// covers: semantics 7.2
TEST_P(ProgramsMemoryTest, TheSameMemoryAgain) {
  std::vector<uint8_t> bytes(8192, 0x21);
  const auto to = b_->MakeBuffer(64);
  const Region whole = Register(*a_, bytes.data(), bytes.size(), DAT_MEM_PRIV_ALL_FLAG);
  const Region again = Register(*a_, bytes.data(), bytes.size(), DAT_MEM_PRIV_LOCAL_READ_FLAG);
  const Region part = Register(*a_, bytes.data() + 100, 1000, DAT_MEM_PRIV_LOCAL_READ_FLAG);
  uint64_t cookie = 0;
  const auto send_from = [&](const Region& region) {
    ASSERT_OK(PostRecv(b_->ep, {to->local()}, ++cookie));
    ASSERT_OK(PostSend(a_->ep, {Local(region, bytes.data() + 200, 64)}, cookie));
    b_->ExpectDto(b_->recv_evd, b_->ep, cookie);
    a_->ExpectDto(a_->request_evd, a_->ep, cookie);
  };
  send_from(whole);
  send_from(again);
  send_from(part);
  EXPECT_OK(dat_lmr_free(whole.lmr));
  send_from(again);
  EXPECT_OK(dat_lmr_free(again.lmr));
  send_from(part);
  EXPECT_OK(dat_lmr_free(part.lmr));
}

// A registration for each message.
TEST_P(ProgramsMemoryTest, RegisteredForOneMessage) {
  const auto to = b_->MakeBuffer(4096);
  for (uint64_t i = 0; i < 200; ++i) {
    std::vector<uint8_t> bytes(1 + i * 17, static_cast<uint8_t>(i));
    const Region region = Register(*a_, bytes.data(), bytes.size(), DAT_MEM_PRIV_LOCAL_READ_FLAG);
    ASSERT_OK(PostRecv(b_->ep, {to->local()}, i));
    ASSERT_OK(PostSend(a_->ep, {Local(region, bytes.data(), bytes.size())}, i));
    EXPECT_EQ(b_->ExpectDto(b_->recv_evd, b_->ep, i).transfered_length, bytes.size());
    a_->ExpectDto(a_->request_evd, a_->ep, i);
    EXPECT_EQ(to->data()[bytes.size() - 1], static_cast<uint8_t>(i));
    EXPECT_OK(dat_lmr_free(region.lmr));
    if (HasFailure()) break;
  }
}

// Programs that want only a context pass NULL for the rest.
// covers: semantics 7.2, 19
TEST_P(ProgramsMemoryTest, OnlyTheContextThatIsWanted) {
  std::vector<uint8_t> bytes(64);
  DAT_REGION_DESCRIPTION description{};
  description.for_va = bytes.data();
  const auto make = [&](DAT_LMR_CONTEXT* local, DAT_RMR_CONTEXT* remote) {
    DAT_LMR_HANDLE lmr = DAT_HANDLE_NULL;
    EXPECT_OK(CreateLmr(a_->ia, DAT_MEM_TYPE_VIRTUAL, description, bytes.size(), a_->pz,
                        DAT_MEM_PRIV_ALL_FLAG, &lmr, local, remote, nullptr, nullptr));
    EXPECT_OK(dat_lmr_free(lmr));
  };
  DAT_LMR_CONTEXT local = 0;
  DAT_RMR_CONTEXT remote = 0;
  make(&local, &remote);
  make(&local, nullptr);
  make(nullptr, &remote);
  make(nullptr, nullptr);
}

// Empty messages as signals: without segments, with an array of no segments, and with segments of
// length 0.
// covers: semantics 10.1
TEST_P(ProgramsMemoryTest, MessagesOfNothing) {
  const auto from = a_->MakeBuffer(8), to = b_->MakeBuffer(8, 0x77);
  DAT_LMR_TRIPLET unused{};
  for (uint64_t i = 0; i < 4; ++i) {
    ASSERT_OK(dat_ep_post_recv(b_->ep, 0, i % 2 == 0 ? nullptr : &unused, Cookie(i),
                               DAT_COMPLETION_DEFAULT_FLAG));
  }
  ASSERT_OK(dat_ep_post_send(a_->ep, 0, nullptr, Cookie(0), DAT_COMPLETION_DEFAULT_FLAG));
  ASSERT_OK(dat_ep_post_send(a_->ep, 0, &unused, Cookie(1), DAT_COMPLETION_DEFAULT_FLAG));
  ASSERT_OK(PostSend(a_->ep, {from->local(0, 0)}, 2));
  ASSERT_OK(PostSend(a_->ep, {from->local(0, 0), from->local(8, 0)}, 3));
  for (uint64_t i = 0; i < 4; ++i) {
    EXPECT_EQ(b_->ExpectDto(b_->recv_evd, b_->ep, i).transfered_length, 0u);
    EXPECT_EQ(a_->ExpectDto(a_->request_evd, a_->ep, i).transfered_length, 0u);
  }
  ASSERT_OK(PostWrite(a_->ep, {}, to->remote(0, 0), 5));
  a_->ExpectDto(a_->request_evd, a_->ep, 5);
  ASSERT_OK(PostRead(a_->ep, {}, to->remote(0, 0), 6));
  a_->ExpectDto(a_->request_evd, a_->ep, 6);
  EXPECT_TRUE(to->untouched());
}

// The target makes no call. It looks at the last word of each slot of a ring, clears it, and
// answers in the same way.
// covers: semantics 10.3, 19
TEST_P(ProgramsMemoryTest, AMarkAtTheEndOfAWrite) {
  constexpr size_t kSlot = 256, kSlots = 4, kRounds = 100;
  const auto request = a_->MakeBuffer(kSlot * kSlots), answer = a_->MakeBuffer(kSlot * kSlots);
  const auto ring = b_->MakeBuffer(kSlot * kSlots), out = b_->MakeBuffer(kSlot * kSlots);
  const auto post = [](Side& side, Buffer& from, const Buffer& to, size_t slot, uint64_t mark) {
    uint8_t* const bytes = from.data() + slot * kSlot;
    std::fill_n(bytes, kSlot - 8, static_cast<uint8_t>(mark));
    std::memcpy(bytes + kSlot - 8, &mark, 8);
    ASSERT_OK(PostWrite(side.ep, {from.local(slot * kSlot, kSlot)}, to.remote(slot * kSlot, kSlot),
                        mark));
    side.ExpectDto(side.request_evd, side.ep, mark);
  };
  const auto await = [](Buffer& in, size_t slot, uint64_t mark) {
    uint8_t* const bytes = in.data() + slot * kSlot;
    const auto* const word = reinterpret_cast<const uint64_t*>(bytes + kSlot - 8);
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::microseconds(kPatienceUs);
    while (__atomic_load_n(word, __ATOMIC_ACQUIRE) != mark) {
      ASSERT_LT(std::chrono::steady_clock::now(), deadline) << "mark " << mark;
      sched_yield();
    }
    EXPECT_TRUE(std::all_of(bytes, bytes + kSlot - 8,
                            [&](uint8_t byte) { return byte == static_cast<uint8_t>(mark); }));
    std::fill_n(bytes, kSlot, uint8_t{0});
  };
  for (uint64_t mark = 1; mark <= kRounds && !HasFailure(); ++mark) {
    post(*a_, *request, *ring, mark % kSlots, mark);
    await(*ring, mark % kSlots, mark);
    post(*b_, *out, *answer, mark % kSlots, mark);
    await(*answer, mark % kSlots, mark);
  }
}

}  // namespace
}  // namespace softdat::conformance
