// SPDX-License-Identifier: BSD-3-Clause
// Memory that is taken away while it is registered. The operation that would access it fails, the
// connection ends, and the process lives. On softnet, SOFTDAT_CHECK_MEMORY does this.
#include "tests/conformance/pages.h"

namespace softdat::conformance {
namespace {

constexpr size_t kPages = 32;  // more than any wire copies through a buffer of its own

struct Way {
  const char* name;
  void (*take)(Pages* pages);
};
const Way kWays[] = {
    {"unmapped", [](Pages* pages) { pages->Unmap(0, kPages); }},
    {"its second part unmapped", [](Pages* pages) { pages->Unmap(1, kPages - 1); }},
    {"forbidden", [](Pages* pages) { pages->Protect(0, kPages, PROT_NONE); }},
    {"cut off", [](Pages* pages) { pages->CutTo(0); }},
};

// A length that is copied, one that is either copied or moved, and one that a kernel moves in
// place.
const size_t kLengths[] = {8, PageSize() + 64, kPages* PageSize()};

class GoneMemoryTest : public ConnectedTest {
 protected:
  // Registered memory of `side`.
  struct Region {
    Region(const Side& side, void* memory, size_t length) : address(memory), size(length) {
      DAT_REGION_DESCRIPTION region{};
      region.for_va = memory;
      EXPECT_OK(CreateLmr(side.ia, DAT_MEM_TYPE_VIRTUAL, region, length, side.pz,
                          DAT_MEM_PRIV_ALL_FLAG, &lmr, &context, &remote_context, nullptr,
                          nullptr));
    }
    ~Region() { EXPECT_OK(dat_lmr_free(lmr)); }
    DAT_LMR_TRIPLET local(size_t length) const {
      DAT_LMR_TRIPLET triplet{};
      triplet.virtual_address = reinterpret_cast<uintptr_t>(address);
      triplet.segment_length = static_cast<SegmentLength>(length);
      triplet.lmr_context = context;
      return triplet;
    }
    DAT_RMR_TRIPLET remote(size_t length) const {
      DAT_RMR_TRIPLET triplet{};
      AddressOf(triplet) = reinterpret_cast<uintptr_t>(address);
      triplet.segment_length = static_cast<SegmentLength>(length);
      triplet.rmr_context = remote_context;
      return triplet;
    }
    void* const address;
    const size_t size;
    DAT_LMR_HANDLE lmr = DAT_HANDLE_NULL;
    DAT_LMR_CONTEXT context = 0;
    DAT_RMR_CONTEXT remote_context = 0;
  };

  // For each way and each length: registers pages of `owner`, takes them away, and calls `access`
  // to use them. `access` ends with both ends of the connection broken.
  template <typename F>
  void ForEach(Side& owner, F access) {
    for (const Way& way : kWays) {
      for (const size_t length : kLengths) {
        // This way leaves the first page mapped.
        if (std::strcmp(way.name, "its second part unmapped") == 0 && length <= PageSize())
          continue;
        SCOPED_TRACE(std::string(way.name) + ", " + std::to_string(length) + " bytes");
        Pages pages(kPages);
        const Region gone(owner, pages.page(0), pages.size());
        way.take(&pages);
        const auto other = (&owner == a_.get() ? b_ : a_)->MakeBuffer(length, 0x3C);
        access(gone, *other, length);
        if (HasFatalFailure()) return;
        a_->ExpectConnection(a_->ep, DAT_CONNECTION_EVENT_BROKEN);
        b_->ExpectConnection(b_->ep, DAT_CONNECTION_EVENT_BROKEN);
        EXPECT_TRUE(other->guards_intact());
        ResetBoth();
        Join();
        if (HasFatalFailure()) return;
      }
    }
  }
};
CONFORMANCE_FAMILIES(GoneMemoryTest);

// covers: semantics 7.2
TEST_P(GoneMemoryTest, ThePeerWrites) {
  ForEach(*b_, [&](const Region& gone, Buffer& from, size_t length) {
    ASSERT_OK(PostWrite(a_->ep, {from.local()}, gone.remote(length), 1));
    a_->ExpectDto(a_->request_evd, a_->ep, 1, DAT_DTO_ERR_REMOTE_ACCESS);
  });
}

// covers: semantics 7.2
TEST_P(GoneMemoryTest, ThePeerReads) {
  ForEach(*b_, [&](const Region& gone, Buffer& to, size_t length) {
    ASSERT_OK(PostRead(a_->ep, {to.local()}, gone.remote(length), 1));
    a_->ExpectDto(a_->request_evd, a_->ep, 1, DAT_DTO_ERR_REMOTE_ACCESS);
  });
}

// covers: semantics 7.2
TEST_P(GoneMemoryTest, AMessageArrives) {
  ForEach(*b_, [&](const Region& gone, Buffer& from, size_t length) {
    ASSERT_OK(PostRecv(b_->ep, {gone.local(length)}, 1));
    ASSERT_OK(PostSend(a_->ep, {from.local()}, 2));
    b_->ExpectDto(b_->recv_evd, b_->ep, 1, DAT_DTO_ERR_LOCAL_PROTECTION);
    const auto sent =
        a_->Expect(a_->request_evd, DAT_DTO_COMPLETION_EVENT).event_data.dto_completion_event_data;
    EXPECT_NE(sent.status, DAT_DTO_SUCCESS);
  });
}

// covers: semantics 7.2
TEST_P(GoneMemoryTest, AMessageIsSent) {
  ForEach(*a_, [&](const Region& gone, Buffer& to, size_t length) {
    ASSERT_OK(PostRecv(b_->ep, {to.local()}, 1));
    ASSERT_OK(PostSend(a_->ep, {gone.local(length)}, 2));
    a_->ExpectDto(a_->request_evd, a_->ep, 2, DAT_DTO_ERR_LOCAL_PROTECTION);
    b_->ExpectDto(b_->recv_evd, b_->ep, 1, DAT_DTO_ERR_FLUSHED);
  });
}

// covers: semantics 7.2
TEST_P(GoneMemoryTest, AnOwnReadArrives) {
  ForEach(*a_, [&](const Region& gone, Buffer& from, size_t length) {
    ASSERT_OK(PostRead(a_->ep, {gone.local(length)}, from.remote(), 1));
    a_->ExpectDto(a_->request_evd, a_->ep, 1, DAT_DTO_ERR_LOCAL_PROTECTION);
  });
}

}  // namespace
}  // namespace softdat::conformance
