// SPDX-License-Identifier: BSD-3-Clause
// Public service points and connection qualifiers (semantics 9.1, 9.4).
#include <random>
#include <set>

#include "tests/conformance/fixture.h"

namespace softdat::conformance {
namespace {

class PspTest : public ConformanceTest {
 protected:
  // Makes a PSP of b on a qualifier that `make` proposes. A qualifier that is used elsewhere is
  // skipped.
  template <typename Make>
  DAT_PSP_HANDLE ListenAt(Make make, DAT_CONN_QUAL* qualifier) {
    for (int attempt = 0; attempt < 200; ++attempt) {
      DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
      *qualifier = make();
      const DAT_RETURN ret =
          dat_psp_create(b_->ia, *qualifier, b_->cr_evd, DAT_PSP_CONSUMER_FLAG, &psp);
      if (ret == DAT_SUCCESS) return psp;
      EXPECT_TYPE(ret, DAT_CONN_QUAL_IN_USE);
    }
    ADD_FAILURE() << "no qualifier was free";
    return DAT_HANDLE_NULL;
  }
  // Connects to `qualifier`, and expects that the request names it and `psp`.
  void ExpectServed(DAT_CONN_QUAL qualifier, DAT_PSP_HANDLE psp) {
    SCOPED_TRACE(qualifier);
    ASSERT_OK(Connect(a_->ep, qualifier));
    const DAT_CR_ARRIVAL_EVENT_DATA arrival =
        b_->Expect(b_->cr_evd, DAT_CONNECTION_REQUEST_EVENT).event_data.cr_arrival_event_data;
    EXPECT_EQ(arrival.conn_qual, qualifier);
    EXPECT_EQ(arrival.sp_handle.psp_handle, psp);
    ASSERT_OK(dat_cr_accept(arrival.cr_handle, b_->ep, 0, nullptr));
    a_->ExpectConnection(a_->ep, DAT_CONNECTION_EVENT_ESTABLISHED);
    b_->ExpectConnection(b_->ep, DAT_CONNECTION_EVENT_ESTABLISHED);
    Part();
    ResetBoth();
  }
  void ExpectNobody(DAT_CONN_QUAL qualifier) {
    SCOPED_TRACE(qualifier);
    ASSERT_OK(Connect(a_->ep, qualifier));
    a_->ExpectConnection(a_->ep, DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
    ASSERT_OK(dat_ep_reset(a_->ep));
    EXPECT_TRUE(Side::Drain(b_->cr_evd).empty());
  }
  std::mt19937_64 random_{std::random_device()()};
};
CONFORMANCE_FAMILIES(PspTest);

// covers: semantics 9.1
TEST_P(PspTest, AnyGivesAFreeQualifier) {
  std::set<DAT_CONN_QUAL> seen;
  std::vector<DAT_PSP_HANDLE> psps;
  for (int i = 0; i < 10; ++i) {
    DAT_CONN_QUAL qualifier = 0;
    psps.push_back(Listen(*b_, &qualifier));
    EXPECT_NE(qualifier, 0u);
    seen.insert(qualifier);
  }
  EXPECT_EQ(seen.size(), psps.size());
  for (const DAT_PSP_HANDLE psp : psps) EXPECT_OK(dat_psp_free(psp));
}

// covers: semantics 9.1
TEST_P(PspTest, AQualifierIsTakenOnceAndFreeAgainAfterwards) {
  const DAT_CONN_QUAL qualifier = FreeQualifier();
  DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
  DAT_PSP_HANDLE second = DAT_HANDLE_NULL;
  ASSERT_OK(dat_psp_create(b_->ia, qualifier, b_->cr_evd, DAT_PSP_CONSUMER_FLAG, &psp));
  EXPECT_TYPE(dat_psp_create(b_->ia, qualifier, b_->cr_evd, DAT_PSP_CONSUMER_FLAG, &second),
              DAT_CONN_QUAL_IN_USE);
  EXPECT_TYPE(dat_psp_create(a_->ia, qualifier, a_->cr_evd, DAT_PSP_CONSUMER_FLAG, &second),
              DAT_CONN_QUAL_IN_USE);
  ExpectServed(qualifier, psp);
  EXPECT_OK(dat_psp_free(psp));
  ExpectNobody(qualifier);
  ASSERT_OK(dat_psp_create(b_->ia, qualifier, b_->cr_evd, DAT_PSP_CONSUMER_FLAG, &second));
  ExpectServed(qualifier, second);
  EXPECT_OK(dat_psp_free(second));
}

// covers: semantics 9.1, 19
TEST_P(PspTest, QualifiersHaveSixtyFourBits) {
  // Whatever value a qualifier is folded to, the whole qualifier is checked. Its lowest bits are a
  // qualifier, too, and nobody is to listen there.
  const auto large = [this] {
    return (random_() & 0xFFFFFF0000ull) | (1ull << 40) | FreeQualifier();
  };
  DAT_CONN_QUAL qualifier = 0;
  const DAT_PSP_HANDLE psp = ListenAt(large, &qualifier);
  ExpectServed(qualifier, psp);
  for (const DAT_CONN_QUAL other : std::initializer_list<DAT_CONN_QUAL>{
           qualifier ^ 1, qualifier ^ (DAT_CONN_QUAL{1} << 39),
           qualifier ^ (DAT_CONN_QUAL{1} << 63), qualifier + 65536,
           qualifier + (DAT_CONN_QUAL{1} << 32), qualifier & DAT_CONN_QUAL{0xFFFFFFFF},
           qualifier & DAT_CONN_QUAL{0xFFFF}}) {
    if (other == 0) continue;
    ExpectNobody(other);
  }
  EXPECT_OK(dat_psp_free(psp));
}

// covers: semantics 9.1, 19
TEST_P(PspTest, ManyLargeQualifiersLiveSideBySide) {
  // There are far more strides than a fold to 16 bits could keep apart by chance.
  std::vector<std::pair<DAT_CONN_QUAL, DAT_PSP_HANDLE>> listening;
  const DAT_CONN_QUAL base = (random_() | (1ull << 50)) & ~0xFFFFull;
  uint64_t step = 0;
  for (int i = 0; i < 24; ++i) {
    DAT_CONN_QUAL qualifier = 0;
    const DAT_PSP_HANDLE psp = ListenAt([&] { return base + (step++) * 65536; }, &qualifier);
    listening.emplace_back(qualifier, psp);
  }
  for (const auto& [qualifier, psp] : listening) {
    ExpectServed(qualifier, psp);
    if (HasFatalFailure()) break;
  }
  for (const auto& [qualifier, psp] : listening) EXPECT_OK(dat_psp_free(psp));
}

// covers: semantics 9.1
TEST_P(PspTest, TwoThatFoldToOnePort) {
  // Qualifiers like those of dapltest: the neighbours of one value at every power of two.
  const DAT_CONN_QUAL base = 0x0AFFAB1E + (random_() & 0xFFFF0000ull);
  std::vector<std::pair<DAT_CONN_QUAL, DAT_PSP_HANDLE>> listening;
  for (int bit = 16; bit < 64; bit += 3) {
    DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
    const DAT_CONN_QUAL qualifier = base ^ (DAT_CONN_QUAL{1} << bit);
    if (dat_psp_create(b_->ia, qualifier, b_->cr_evd, DAT_PSP_CONSUMER_FLAG, &psp) == DAT_SUCCESS) {
      listening.emplace_back(qualifier, psp);
    }
  }
  ASSERT_GE(listening.size(), 2u);
  for (const auto& [qualifier, psp] : listening) {
    ExpectServed(qualifier, psp);
    if (HasFatalFailure()) break;
  }
  for (const auto& [qualifier, psp] : listening) EXPECT_OK(dat_psp_free(psp));
}

// covers: semantics 9.1, 17
TEST_P(PspTest, ArgumentsAreChecked) {
  DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
  DAT_CONN_QUAL qualifier = 0;
  EXPECT_RETURN(dat_psp_create(b_->ia, 5000, b_->recv_evd, DAT_PSP_CONSUMER_FLAG, &psp),
                BadHandle(DAT_INVALID_HANDLE_EVD_CR));
  EXPECT_RETURN(dat_psp_create(b_->ia, 5000, DAT_HANDLE_NULL, DAT_PSP_CONSUMER_FLAG, &psp),
                BadHandle(DAT_INVALID_HANDLE_EVD_CR));
  EXPECT_RETURN(dat_psp_create(b_->ia, 5000, b_->cr_evd, static_cast<DAT_PSP_FLAGS>(2), &psp),
                BadArgument(4));
  EXPECT_RETURN(dat_psp_create(b_->ia, 5000, b_->cr_evd, DAT_PSP_CONSUMER_FLAG, nullptr),
                BadArgument(5));
  EXPECT_RETURN(dat_psp_create_any(b_->ia, nullptr, b_->cr_evd, DAT_PSP_CONSUMER_FLAG, &psp),
                BadArgument(2));
  EXPECT_RETURN(dat_psp_create_any(b_->ia, &qualifier, b_->recv_evd, DAT_PSP_CONSUMER_FLAG, &psp),
                BadHandle(DAT_INVALID_HANDLE_EVD_CR));
}

// covers: semantics 9.1
TEST_P(PspTest, TheQueryTellsAll) {
  DAT_CONN_QUAL qualifier = 0;
  const DAT_PSP_HANDLE psp = Listen(*b_, &qualifier);
  DAT_PSP_PARAM param{};
  ASSERT_OK(dat_psp_query(psp, DAT_PSP_FIELD_ALL, &param));
  EXPECT_EQ(param.ia_handle, b_->ia);
  EXPECT_EQ(param.conn_qual, qualifier);
  EXPECT_EQ(param.evd_handle, b_->cr_evd);
  EXPECT_EQ(param.psp_flags, DAT_PSP_CONSUMER_FLAG);
  EXPECT_OK(dat_psp_free(psp));
  EXPECT_RETURN(dat_psp_free(psp), BadHandle(DAT_INVALID_HANDLE_PSP));
}

// covers: semantics 3.1, 9.1
TEST_P(PspTest, RequestsSurviveTheirPsp) {
  DAT_CONN_QUAL qualifier = 0;
  const DAT_PSP_HANDLE psp = Listen(*b_, &qualifier);
  ASSERT_OK(Connect(a_->ep, qualifier));
  const DAT_CR_HANDLE cr = NextRequest(*b_);
  EXPECT_OK(dat_psp_free(psp));
  ASSERT_OK(dat_cr_accept(cr, b_->ep, 0, nullptr));
  a_->ExpectConnection(a_->ep, DAT_CONNECTION_EVENT_ESTABLISHED);
  b_->ExpectConnection(b_->ep, DAT_CONNECTION_EVENT_ESTABLISHED);
}

// covers: semantics 9.4, 19
TEST_P(PspTest, AProviderPspBringsItsEp) {
  DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
  DAT_CONN_QUAL qualifier = 0;
  ASSERT_OK(dat_psp_create_any(b_->ia, &qualifier, b_->cr_evd, DAT_PSP_PROVIDER_FLAG, &psp));
  ASSERT_OK(Connect(a_->ep, qualifier));
  const DAT_CR_HANDLE cr = NextRequest(*b_);
  DAT_CR_PARAM request{};
  ASSERT_OK(dat_cr_query(cr, DAT_CR_FIELD_ALL, &request));
  const DAT_EP_HANDLE ep = request.local_ep_handle;
  ASSERT_NE(ep, DAT_HANDLE_NULL);
  EXPECT_EQ(StateOf(ep), DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING);
  // Another EP cannot take its place. The EP itself needs a PZ and EVDs first.
  EXPECT_RETURN(dat_cr_accept(cr, b_->ep, 0, nullptr), BadHandle(DAT_INVALID_HANDLE_EP));
  DAT_EP_PARAM param{};
  param.pz_handle = b_->pz;
  param.recv_evd_handle = b_->recv_evd;
  param.request_evd_handle = b_->request_evd;
  param.connect_evd_handle = b_->connect_evd;
  ASSERT_OK(dat_ep_modify(ep,
                          DAT_EP_FIELD_PZ_HANDLE | DAT_EP_FIELD_RECV_EVD_HANDLE |
                              DAT_EP_FIELD_REQUEST_EVD_HANDLE | DAT_EP_FIELD_CONNECT_EVD_HANDLE,
                          &param));
  ASSERT_OK(dat_cr_accept(cr, DAT_HANDLE_NULL, 0, nullptr));
  a_->ExpectConnection(a_->ep, DAT_CONNECTION_EVENT_ESTABLISHED);
  b_->ExpectConnection(ep, DAT_CONNECTION_EVENT_ESTABLISHED);
  ASSERT_OK(PostRecv(ep, {}, 3));
  ASSERT_OK(PostSend(a_->ep, {}, 4));
  b_->ExpectDto(b_->recv_evd, ep, 3);
  EXPECT_OK(dat_ep_free(ep));
  EXPECT_OK(dat_psp_free(psp));
}

}  // namespace
}  // namespace softdat::conformance
