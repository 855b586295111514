// SPDX-License-Identifier: BSD-3-Clause
// Memory that cannot be accessed is not registered (semantics 7.2).
#include "tests/conformance/pages.h"

namespace softdat::conformance {
namespace {

constexpr auto kReads = static_cast<DAT_MEM_PRIV_FLAGS>(int{DAT_MEM_PRIV_LOCAL_READ_FLAG} |
                                                        int{DAT_MEM_PRIV_REMOTE_READ_FLAG});

class UnmappedMemoryTest : public ConnectedTest {
 protected:
  DAT_RETURN Register(void* memory, size_t length,
                      DAT_MEM_PRIV_FLAGS rights = DAT_MEM_PRIV_ALL_FLAG) {
    DAT_REGION_DESCRIPTION region{};
    region.for_va = memory;
    lmr_ = DAT_HANDLE_NULL;
    return CreateLmr(a_->ia, DAT_MEM_TYPE_VIRTUAL, region, length, a_->pz, rights, &lmr_, &context_,
                     nullptr, nullptr, nullptr);
  }
  void ExpectRefused(void* memory, size_t length, DAT_MEM_PRIV_FLAGS rights, DAT_RETURN_TYPE type) {
    EXPECT_TYPE(Register(memory, length, rights), type);
    EXPECT_EQ(lmr_, DAT_HANDLE_NULL);
  }

  Pages pages_{3};
  DAT_LMR_HANDLE lmr_ = DAT_HANDLE_NULL;
  DAT_LMR_CONTEXT context_ = 0;
};
CONFORMANCE_FAMILIES(UnmappedMemoryTest);

TEST_P(UnmappedMemoryTest, MemoryThatIsThereIsRegistered) {
  ASSERT_OK(Register(pages_.page(0), pages_.size()));
  EXPECT_OK(dat_lmr_free(lmr_));
}

// covers: semantics 7.2
TEST_P(UnmappedMemoryTest, AHoleIsRefused) {
  pages_.Unmap(1, 1);
  for (const DAT_MEM_PRIV_FLAGS rights : {DAT_MEM_PRIV_NONE_FLAG, kReads, DAT_MEM_PRIV_ALL_FLAG}) {
    ExpectRefused(pages_.page(1), 8, rights, DAT_INVALID_ADDRESS);
    ExpectRefused(pages_.page(0), pages_.size(), rights, DAT_INVALID_ADDRESS);
    ExpectRefused(pages_.page(0) + 5, PageSize(), rights, DAT_INVALID_ADDRESS);
  }
  ASSERT_OK(Register(pages_.page(0), PageSize()));
  EXPECT_OK(dat_lmr_free(lmr_));
}

// covers: semantics 7.2
TEST_P(UnmappedMemoryTest, AForbiddenPageIsRefused) {
  pages_.Protect(2, 1, PROT_NONE);
  for (const DAT_MEM_PRIV_FLAGS rights : {DAT_MEM_PRIV_NONE_FLAG, kReads, DAT_MEM_PRIV_ALL_FLAG}) {
    ExpectRefused(pages_.page(0), pages_.size(), rights, DAT_PRIVILEGES_VIOLATION);
  }
}

// covers: semantics 7.2
TEST_P(UnmappedMemoryTest, APageToBeReadOnlyIsRefusedForWriting) {
  pages_.Protect(1, 1, PROT_READ);
  for (const DAT_MEM_PRIV_FLAGS rights :
       {DAT_MEM_PRIV_LOCAL_WRITE_FLAG, DAT_MEM_PRIV_REMOTE_WRITE_FLAG, DAT_MEM_PRIV_ALL_FLAG}) {
    ExpectRefused(pages_.page(0), pages_.size(), rights, DAT_PRIVILEGES_VIOLATION);
  }
}

// covers: semantics 7.2
TEST_P(UnmappedMemoryTest, MemoryToBeReadOnlyCanBeSentFrom) {
  void* const memory = mmap(nullptr, PageSize(), PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  ASSERT_OK(Register(memory, PageSize(), DAT_MEM_PRIV_LOCAL_READ_FLAG));
  const auto to = b_->MakeBuffer(16, 0x77);
  ASSERT_OK(PostRecv(b_->ep, {to->local()}, 1));
  DAT_LMR_TRIPLET from{};
  from.virtual_address = reinterpret_cast<uintptr_t>(memory);
  from.segment_length = 16;
  from.lmr_context = context_;
  ASSERT_OK(PostSend(a_->ep, {from}, 2));
  b_->ExpectDto(b_->recv_evd, b_->ep, 1);
  a_->ExpectDto(a_->request_evd, a_->ep, 2);
  EXPECT_EQ(to->data()[15], 0);
  EXPECT_OK(dat_lmr_free(lmr_));
  munmap(memory, PageSize());
}

// covers: semantics 7.2
TEST_P(UnmappedMemoryTest, BehindTheEndOfAFileIsRefused) {
  pages_.CutTo(1);
  ExpectRefused(pages_.page(0), pages_.size(), DAT_MEM_PRIV_ALL_FLAG, DAT_INVALID_ADDRESS);
  ExpectRefused(pages_.page(1), 8, kReads, DAT_INVALID_ADDRESS);
  ASSERT_OK(Register(pages_.page(0), PageSize()));
  EXPECT_OK(dat_lmr_free(lmr_));
}

}  // namespace
}  // namespace softdat::conformance
