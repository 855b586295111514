// SPDX-License-Identifier: BSD-3-Clause
// The base of every conformance test: open IAs, memory with guard bytes, endpoints, and events that
// are collected in the variant's mode. Only the public uDAPL calls are used.
#ifndef SOFTDAT_TESTS_CONFORMANCE_FIXTURE_H_
#define SOFTDAT_TESTS_CONFORMANCE_FIXTURE_H_

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tests/conformance/dat.h"
#include "tests/conformance/options.h"
#include "tests/conformance/returns.h"

namespace softdat::conformance {

// How long to wait for something that must come, and for something that must not.
inline constexpr DAT_TIMEOUT kPatienceUs = 20'000'000;
inline constexpr DAT_TIMEOUT kSilenceUs = 20'000;

DAT_DTO_COOKIE Cookie(uint64_t value);
const char* EventName(DAT_EVENT_NUMBER number);

// Memory of one PZ, between guard bytes.
class Buffer {
 public:
  Buffer(DAT_IA_HANDLE ia, DAT_PZ_HANDLE pz, size_t size, uint8_t fill = 0,
         DAT_MEM_PRIV_FLAGS rights = DAT_MEM_PRIV_ALL_FLAG);
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  uint8_t* data() { return bytes_.data() + kGuard; }
  const uint8_t* data() const { return bytes_.data() + kGuard; }
  size_t size() const { return size_; }
  uint64_t address() const { return reinterpret_cast<uintptr_t>(data()); }
  // Nothing outside the buffer has changed, and nothing inside it either.
  bool untouched() const;
  bool guards_intact() const;
  void FillPattern(uint8_t seed);

  DAT_LMR_TRIPLET local(size_t offset, size_t length) const;
  DAT_LMR_TRIPLET local() const { return local(0, size_); }
  DAT_RMR_TRIPLET remote(size_t offset, size_t length) const;
  DAT_RMR_TRIPLET remote() const { return remote(0, size_); }
  DAT_LMR_HANDLE lmr() const { return lmr_; }
  DAT_RMR_CONTEXT rmr_context() const { return rmr_context_; }
  // Calls dat_lmr_free, once.
  DAT_RETURN Free();

 private:
  static constexpr size_t kGuard = 64;
  static constexpr uint8_t kGuardByte = 0xA5;
  const size_t size_;
  const uint8_t fill_;
  std::vector<uint8_t> bytes_;
  DAT_LMR_HANDLE lmr_ = DAT_HANDLE_NULL;
  DAT_LMR_CONTEXT lmr_context_ = 0;
  DAT_RMR_CONTEXT rmr_context_ = 0;
};

// One open IA with a PZ, an EVD of each kind and (in CNO mode) a CNO that they trigger.
class Side {
 public:
  explicit Side(EventMode mode, std::string ia_name = TheOptions().ia);
  // Frees every object one by one, and expects that a graceful close succeeds and that no
  // connection has reported two ends.
  ~Side();
  Side(const Side&) = delete;
  Side& operator=(const Side&) = delete;

  DAT_EVD_HANDLE MakeEvd(DAT_EVD_FLAGS flags, DAT_COUNT qlen = 64);
  DAT_EP_HANDLE MakeEp(const DAT_EP_ATTR* attr = nullptr);
  // Frees the EP now. The side forgets it.
  void FreeEp(DAT_EP_HANDLE ep);
  std::unique_ptr<Buffer> MakeBuffer(size_t size, uint8_t fill = 0,
                                     DAT_MEM_PRIV_FLAGS rights = DAT_MEM_PRIV_ALL_FLAG) {
    return std::make_unique<Buffer>(ia, pz, size, fill, rights);
  }

  // The next event of an EVD, within kPatienceUs, collected in the variant's mode.
  DAT_EVENT Next(DAT_EVD_HANDLE evd);
  // No event comes for a while. Use it only if something is still to happen on the EVD. For events
  // that must never come, use ExpectNothingMore.
  void ExpectSilence(DAT_EVD_HANDLE evd);
  // Expects that the next event is of this kind, and returns it.
  DAT_EVENT Expect(DAT_EVD_HANDLE evd, DAT_EVENT_NUMBER number);
  // Expects that the next event is a connection event of `ep`.
  DAT_CONNECTION_EVENT_DATA ExpectConnection(DAT_EP_HANDLE ep, DAT_EVENT_NUMBER number);
  // Expects that the connection of `ep` has ended, in whatever way.
  void ExpectEnd(DAT_EP_HANDLE ep);
  // Expects that the next event of `evd` completes this work of `ep`.
  DAT_DTO_COMPLETION_EVENT_DATA ExpectDto(DAT_EVD_HANDLE evd, DAT_EP_HANDLE ep, uint64_t cookie,
                                          DAT_DTO_COMPLETION_STATUS status = DAT_DTO_SUCCESS);
  // Takes all events that an EVD holds now.
  static std::vector<DAT_EVENT> Drain(DAT_EVD_HANDLE evd);

  DAT_IA_HANDLE ia = DAT_HANDLE_NULL;
  DAT_EVD_HANDLE async_evd = DAT_HANDLE_NULL;
  DAT_PZ_HANDLE pz = DAT_HANDLE_NULL;
  DAT_CNO_HANDLE cno = DAT_HANDLE_NULL;
  DAT_EVD_HANDLE recv_evd = DAT_HANDLE_NULL;
  DAT_EVD_HANDLE request_evd = DAT_HANDLE_NULL;
  DAT_EVD_HANDLE connect_evd = DAT_HANDLE_NULL;
  DAT_EVD_HANDLE cr_evd = DAT_HANDLE_NULL;
  DAT_EP_HANDLE ep = DAT_HANDLE_NULL;  // the first one made

 private:
  void ExpectOneEndEach();

  const EventMode mode_;
  std::vector<DAT_EVD_HANDLE> evds_;
  std::vector<DAT_EP_HANDLE> eps_;
};

DAT_EP_STATE StateOf(DAT_EP_HANDLE ep);
// Whether the IA has memory windows. Without them, creating one is DAT_MODEL_NOT_SUPPORTED.
bool HasWindows(DAT_IA_HANDLE ia);
// Whether a completed send or write has reached the peer's memory, as on InfiniBand. Otherwise only
// the device has taken it. A provider that does not say counts as one of InfiniBand.
bool ConfirmsCompletions(DAT_IA_HANDLE ia);

// Two opens of the IA, a (active) and b (passive), each with an unconnected EP. With --passive-ia
// b is an open of that IA instead.
class PairTest : public testing::Test {
 protected:
  virtual Variant variant() const = 0;
  void SetUp() override;
  void TearDown() override;

  // The address where b listens, in the variant's family.
  DAT_IA_ADDRESS_PTR address();
  // Makes a PSP of `side` on a free qualifier.
  static DAT_PSP_HANDLE Listen(Side& side, DAT_CONN_QUAL* qualifier);
  // A qualifier where nobody listens, and no other process will. It is below 65536.
  DAT_CONN_QUAL FreeQualifier();
  DAT_RETURN Connect(DAT_EP_HANDLE ep, DAT_CONN_QUAL qualifier, std::span<uint8_t> data = {},
                     DAT_TIMEOUT timeout_us = kPatienceUs);
  static DAT_CR_HANDLE NextRequest(Side& side);
  // Connects two EPs through a PSP that is gone afterwards. Both are CONNECTED.
  void Join(Side& active, DAT_EP_HANDLE active_ep, Side& passive, DAT_EP_HANDLE passive_ep);
  void Join() { Join(*a_, a_->ep, *b_, b_->ep); }
  // Disconnects abruptly at the active end and takes the final event of each side.
  void Part();
  void ResetBoth();
  // Expects no further event of what was done so far: no connection event, and nothing on `evds`.
  // The proof is not a pause but the end of a connection between the two EPs. If theirs is over
  // already, they connect once more for it. Leaves both EPs in DISCONNECTED.
  void ExpectNothingMore(std::initializer_list<DAT_EVD_HANDLE> evds = {});

  std::unique_ptr<Side> a_;
  std::unique_ptr<Side> b_;

 private:
  sockaddr_storage address_{};
};

// The base for TEST_P, in the variants of the instantiation.
class ConformanceTest : public PairTest, public testing::WithParamInterface<Variant> {
 protected:
  Variant variant() const override { return GetParam(); }
};

// A ConformanceTest that is already connected.
class ConnectedTest : public ConformanceTest {
 protected:
  void SetUp() override {
    ConformanceTest::SetUp();
    if (!HasFatalFailure()) Join();
  }
};

DAT_RETURN PostSend(DAT_EP_HANDLE ep, std::initializer_list<DAT_LMR_TRIPLET> iov, uint64_t cookie,
                    DAT_COMPLETION_FLAGS flags = DAT_COMPLETION_DEFAULT_FLAG);
DAT_RETURN PostRecv(DAT_EP_HANDLE ep, std::initializer_list<DAT_LMR_TRIPLET> iov, uint64_t cookie);
DAT_RETURN PostWrite(DAT_EP_HANDLE ep, std::initializer_list<DAT_LMR_TRIPLET> iov,
                     const DAT_RMR_TRIPLET& remote, uint64_t cookie,
                     DAT_COMPLETION_FLAGS flags = DAT_COMPLETION_DEFAULT_FLAG);
DAT_RETURN PostRead(DAT_EP_HANDLE ep, std::initializer_list<DAT_LMR_TRIPLET> iov,
                    const DAT_RMR_TRIPLET& remote, uint64_t cookie,
                    DAT_COMPLETION_FLAGS flags = DAT_COMPLETION_DEFAULT_FLAG);

}  // namespace softdat::conformance

// Runs the tests of a fixture in every family and event mode, or in every family.
#define CONFORMANCE_ALL_VARIANTS(fixture)                                  \
  INSTANTIATE_TEST_SUITE_P(                                                \
      , fixture, testing::ValuesIn(::softdat::conformance::AllVariants()), \
      [](const auto& p) { return ::softdat::conformance::VariantName(p.param); })
#define CONFORMANCE_FAMILIES(fixture)                                         \
  INSTANTIATE_TEST_SUITE_P(                                                   \
      , fixture, testing::ValuesIn(::softdat::conformance::FamilyVariants()), \
      [](const auto& p) { return ::softdat::conformance::VariantName(p.param); })

#endif  // SOFTDAT_TESTS_CONFORMANCE_FIXTURE_H_
