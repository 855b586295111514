// SPDX-License-Identifier: BSD-3-Clause
// Contract: every access that must be refused, local and remote. Its memory must stay unchanged.
#include <algorithm>
#include <cstring>

#include "dat/transport/contract/contract_test_suite.h"

namespace softdat::transport {
namespace {

// What to check when the target refuses: what happens to memory and connection, whatever the two
// ends are told; or what they are told.
enum class Look { kMemory, kTold };

class AccessContractTest : public ContractPairTest, public testing::WithParamInterface<Look> {
 protected:
  // Posts an RDMA of `length` bytes that the target must refuse, and checks the consequences.
  void ExpectRefused(Op op, const DAT_RMR_TRIPLET& remote, TestMemory& target) {
    SCOPED_TRACE(op == Op::kRdmaWrite ? "write" : "read");
    const auto local = MakeMemory(*pd_, remote.segment_length, 0x5A);
    const auto pending = MakeMemory(*pd_, 8);
    ASSERT_EQ(PostReceive(*a_, {pending->local()}, 70), Code::kOk);
    ASSERT_EQ(PostReceive(*b_, {pending->local()}, 71), Code::kOk);
    ASSERT_EQ(PostRdma(*a_, op, {local->local()}, remote, 42), Code::kOk);
    ASSERT_TRUE(Until([&] { return a_->over() && b_->over(); }));
    const std::vector<Completion> sends = Drain(*a_->send_queue);
    ASSERT_EQ(sends.size(), 1u);
    EXPECT_EQ(sends[0].cookie, 42u);
    if (GetParam() == Look::kTold) {
      ExpectTold(op, sends[0].status);
    } else {
      EXPECT_TRUE(op == Op::kRdmaWrite || sends[0].status != WorkStatus::kSuccess);
    }
    ExpectFlushed(*a_, 70);
    ExpectFlushed(*b_, 71);
    EXPECT_TRUE(local->untouched());
    EXPECT_TRUE(pending->untouched());
    EXPECT_TRUE(target.untouched());
    EXPECT_EQ(a_->log.all().size(), 2u);
    EXPECT_EQ(b_->log.all().size(), 2u);
    // A fresh pair for the next case. siw has few queues.
    a_.reset();
    b_.reset();
    queues_.clear();
    a_ = MakePair(pd_.get());
    b_ = MakePair(pd_.get());
    Join(*a_, *b_);
  }
  void ExpectTold(Op op, WorkStatus status) {
    EXPECT_TRUE(a_->ended(EndReason::kBroken));
    EXPECT_TRUE(b_->ended(EndReason::kBroken));
    // If the device has only taken the write, the write itself succeeds, and the connection tells.
    const bool answered = op == Op::kRdmaRead || adapter_->attributes().confirmed_completions;
    EXPECT_EQ(status, answered ? WorkStatus::kRemoteAccess : WorkStatus::kSuccess);
  }
  void ExpectFlushed(TestPair& pair, uint64_t cookie) {
    const std::vector<Completion> receives = Drain(*pair.recv_queue);
    ASSERT_EQ(receives.size(), 1u);
    EXPECT_EQ(receives[0].cookie, cookie);
    EXPECT_EQ(receives[0].status, WorkStatus::kFlushed);
  }
};
#define CONTRACT_LOOKS(fixture)                               \
  INSTANTIATE_TEST_SUITE_P(                                   \
      , fixture, testing::Values(Look::kMemory, Look::kTold), \
      [](const auto& p) { return p.param == Look::kMemory ? "Memory" : "Told"; })
CONTRACT_LOOKS(AccessContractTest);

// covers: semantics 7.2, 10.5
TEST_P(AccessContractTest, AWrongKeyIsRefused) {
  const auto target = MakeMemory(*pd_, 64, 0x33);
  for (const uint32_t wrong : {target->region->remote_key() + 1,
                               target->region->remote_key() ^ 0x80000000u, 0u, 0xFFFFFFFFu}) {
    SCOPED_TRACE(wrong);
    DAT_RMR_TRIPLET remote = target->remote();
    remote.rmr_context = wrong;
    ExpectRefused(Op::kRdmaWrite, remote, *target);
    ExpectRefused(Op::kRdmaRead, remote, *target);
  }
}

// covers: semantics 7.2, 10.5
TEST_P(AccessContractTest, AnotherProtectionDomainIsRefused) {
  const auto other = MakePd();
  const auto target = MakeMemory(*other, 64, 0x33);
  ExpectRefused(Op::kRdmaWrite, target->remote(), *target);
  ExpectRefused(Op::kRdmaRead, target->remote(), *target);
}

// covers: semantics 7.2, 10.5
TEST_P(AccessContractTest, AMissingWriteRightIsRefused) {
  const auto readable =
      MakeMemory(*pd_, 64, 0x33,
                 uint32_t{DAT_MEM_PRIV_LOCAL_WRITE_FLAG} | uint32_t{DAT_MEM_PRIV_REMOTE_READ_FLAG});
  ExpectRefused(Op::kRdmaWrite, readable->remote(), *readable);
}

// covers: semantics 7.2, 10.5
TEST_P(AccessContractTest, AMissingReadRightIsRefused) {
  const auto writable = MakeMemory(
      *pd_, 64, 0x33,
      uint32_t{DAT_MEM_PRIV_LOCAL_WRITE_FLAG} | uint32_t{DAT_MEM_PRIV_REMOTE_WRITE_FLAG});
  ExpectRefused(Op::kRdmaRead, writable->remote(), *writable);
}

// Memory that is registered only for its own process, accessed by the key that it has for that.
class LocalKeyContractTest : public AccessContractTest {
 protected:
  void ExpectRefusedByLocalKey(Op op) {
    const auto target = MakeMemory(*pd_, 64, 0x33, DAT_MEM_PRIV_LOCAL_WRITE_FLAG);
    EXPECT_EQ(target->region->remote_key(), 0u);
    DAT_RMR_TRIPLET remote = target->remote();
    remote.rmr_context = target->region->local_key();
    ExpectRefused(op, remote, *target);
  }
};
CONTRACT_LOOKS(LocalKeyContractTest);

// covers: semantics 7.2, 10.5
TEST_P(LocalKeyContractTest, DoesNotWrite) { ExpectRefusedByLocalKey(Op::kRdmaWrite); }

// covers: semantics 7.2, 10.5
TEST_P(LocalKeyContractTest, DoesNotRead) { ExpectRefusedByLocalKey(Op::kRdmaRead); }

// covers: semantics 7.2, 10.5
TEST_P(AccessContractTest, OutOfBoundsIsRefused) {
  const auto target = MakeMemory(*pd_, 64, 0x33);
  const uint64_t base = target->address();
  struct Case {
    uint64_t address;
    uint32_t length;
  };
  for (const Case c : {Case{base - 1, 1}, Case{base - 1, 66}, Case{base + 64, 1}, Case{base, 65},
                       Case{base + 63, 2}, Case{0, 1}, Case{0, 64}, Case{base + (1ull << 32), 8},
                       Case{base - 64, 64}}) {
    SCOPED_TRACE(testing::Message()
                 << "offset " << static_cast<int64_t>(c.address - base) << " length " << c.length);
    DAT_RMR_TRIPLET remote = target->remote();
    remote.virtual_address = c.address;
    remote.segment_length = c.length;
    ExpectRefused(Op::kRdmaWrite, remote, *target);
    ExpectRefused(Op::kRdmaRead, remote, *target);
  }
}

// covers: semantics 7.2, 10.5
TEST_P(AccessContractTest, SixtyFourBitWrapIsRefused) {
  const auto target = MakeMemory(*pd_, 64, 0x33);
  for (const uint64_t address : {UINT64_MAX, UINT64_MAX - 7, UINT64_MAX - 63}) {
    SCOPED_TRACE(address);
    DAT_RMR_TRIPLET remote = target->remote();
    remote.virtual_address = address;
    ExpectRefused(Op::kRdmaWrite, remote, *target);
    ExpectRefused(Op::kRdmaRead, remote, *target);
  }
}

// covers: semantics 7.2, 10.5
TEST_P(AccessContractTest, DeregisteredMemoryIsRefused) {
  const auto target = MakeMemory(*pd_, 64, 0x33);
  const DAT_RMR_TRIPLET remote = target->remote();
  target->region.reset();
  ExpectRefused(Op::kRdmaWrite, remote, *target);
  ExpectRefused(Op::kRdmaRead, remote, *target);
}

TEST_F(ContractPairTest, TheWholeRegionAndItsLastByteAreAccessible) {
  const auto target = MakeMemory(*pd_, 64, 0x33), from = MakeMemory(*pd_, 64, 0x44);
  ASSERT_EQ(PostRdma(*a_, Op::kRdmaWrite, {from->local()}, target->remote(0, 64), 1), Code::kOk);
  ASSERT_EQ(PostRdma(*a_, Op::kRdmaRead, {from->local(0, 1)}, target->remote(63, 1), 2), Code::kOk);
  EXPECT_EQ(Next(*a_->send_queue).status, WorkStatus::kSuccess);
  EXPECT_EQ(Next(*a_->send_queue).status, WorkStatus::kSuccess);
  EXPECT_TRUE(target->guards_intact());
  EXPECT_EQ(target->data()[0], 0x44);
  EXPECT_EQ(target->data()[63], 0x44);
}

// Local mistakes are refused at the post, or complete with kLocalProtection and break the
// connection.
class LocalAccessContractTest : public ContractPairTest {
 protected:
  void ExpectRefused(Code posted, Code expected) {
    if (posted != Code::kOk) {
      EXPECT_EQ(posted, expected);
      Settle();
      EXPECT_FALSE(a_->over());
      return;
    }
    EXPECT_EQ(Next(*a_->send_queue).status, WorkStatus::kLocalProtection);
    EXPECT_TRUE(Until([&] { return a_->over() && b_->over(); }));
    a_ = MakePair(pd_.get());
    b_ = MakePair(pd_.get());
    Join(*a_, *b_);
  }
};

// covers: semantics 10.1
TEST_F(LocalAccessContractTest, LocalSegmentsAreChecked) {
  const auto other = MakePd();
  const auto foreign = MakeMemory(*other, 64), mine = MakeMemory(*pd_, 64),
             target = MakeMemory(*pd_, 64),
             read_only = MakeMemory(*pd_, 64, 0, DAT_MEM_PRIV_LOCAL_READ_FLAG);
  DAT_LMR_TRIPLET unknown = mine->local();
  unknown.lmr_context += 1;
  ExpectRefused(PostRdma(*a_, Op::kRdmaWrite, {foreign->local()}, target->remote()),
                Code::kProtection);
  ExpectRefused(PostRdma(*a_, Op::kRdmaWrite, {unknown}, target->remote()), Code::kProtection);
  DAT_LMR_TRIPLET outside = mine->local();
  outside.virtual_address -= 1;
  ExpectRefused(PostRdma(*a_, Op::kRdmaWrite, {outside}, target->remote()), Code::kOutOfBounds);
  outside = mine->local(1, 64);
  ExpectRefused(PostRdma(*a_, Op::kRdmaRead, {outside}, target->remote()), Code::kOutOfBounds);
  outside.virtual_address = UINT64_MAX - 3;
  ExpectRefused(PostRdma(*a_, Op::kRdmaRead, {outside}, target->remote()), Code::kOutOfBounds);
  ExpectRefused(PostRdma(*a_, Op::kRdmaRead, {read_only->local()}, target->remote()),
                Code::kPrivileges);
  EXPECT_TRUE(read_only->untouched());
}

// covers: semantics 7.2
TEST_F(LocalAccessContractTest, OnesOwnMemoryIsAlwaysReadable) {
  const auto write_only = MakeMemory(*pd_, 16, 0x66, DAT_MEM_PRIV_LOCAL_WRITE_FLAG);
  const auto to = MakeMemory(*pd_, 16);
  ASSERT_EQ(PostReceive(*b_, {to->local()}), Code::kOk);
  ASSERT_EQ(PostSend(*a_, {write_only->local()}), Code::kOk);
  EXPECT_EQ(Next(*b_->recv_queue).status, WorkStatus::kSuccess);
  EXPECT_EQ(to->data()[15], 0x66);
}

// covers: semantics 10.5
TEST_F(LocalAccessContractTest, AReceiveTooShortBreaksBothSides) {
  const auto from = MakeMemory(*pd_, 64, 0x12), to = MakeMemory(*pd_, 63, 0x34);
  ASSERT_EQ(PostReceive(*b_, {to->local()}, 1), Code::kOk);
  ASSERT_EQ(PostReceive(*b_, {to->local()}, 2), Code::kOk);
  ASSERT_EQ(PostSend(*a_, {from->local()}, 3), Code::kOk);
  ASSERT_TRUE(Until([&] { return a_->over() && b_->over(); }));
  const std::vector<Completion> got = Drain(*b_->recv_queue), sent = Drain(*a_->send_queue);
  ASSERT_EQ(got.size(), 2u);
  EXPECT_EQ(got[0].cookie, 1u);
  EXPECT_EQ(got[0].status, WorkStatus::kLocalLength);
  EXPECT_EQ(got[1].status, WorkStatus::kFlushed);
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].status, adapter_->attributes().confirmed_completions
                                ? WorkStatus::kRemoteResponder
                                : WorkStatus::kSuccess);
  EXPECT_TRUE(a_->ended(EndReason::kBroken));
  EXPECT_TRUE(b_->ended(EndReason::kBroken));
  EXPECT_TRUE(to->guards_intact());
}

// Checked whatever the two ends are told.
// covers: semantics 10.4
TEST_F(LocalAccessContractTest, NothingGoesBeyondAReceiveTooShort) {
  const auto from = MakeMemory(*pd_, 64, 0x12), to = MakeMemory(*pd_, 63, 0x34),
             second = MakeMemory(*pd_, 64, 0x34);
  ASSERT_EQ(PostReceive(*b_, {to->local()}, 1), Code::kOk);
  ASSERT_EQ(PostReceive(*b_, {second->local()}, 2), Code::kOk);
  ASSERT_EQ(PostSend(*a_, {from->local()}, 3), Code::kOk);
  ASSERT_TRUE(Until([&] { return a_->over() && b_->over(); }));
  const std::vector<Completion> got = Drain(*b_->recv_queue);
  ASSERT_EQ(got.size(), 2u);
  EXPECT_NE(got[0].status, WorkStatus::kSuccess);
  EXPECT_EQ(got[1].status, WorkStatus::kFlushed);
  EXPECT_EQ(Drain(*a_->send_queue).size(), 1u);
  EXPECT_TRUE(to->guards_intact());
  EXPECT_TRUE(second->untouched());
}

// covers: semantics 10.4
TEST_F(LocalAccessContractTest, AReceiveWhoseMemoryIsGoneLeavesItAsItWas) {
  const auto from = MakeMemory(*pd_, 8), to = MakeMemory(*pd_, 8, 0x34);
  ASSERT_EQ(PostReceive(*b_, {to->local()}, 1), Code::kOk);
  to->region.reset();
  ASSERT_EQ(PostSend(*a_, {from->local()}, 3), Code::kOk);
  ASSERT_TRUE(Until([&] { return a_->over() && b_->over(); }));
  const std::vector<Completion> got = Drain(*b_->recv_queue);
  ASSERT_EQ(got.size(), 1u);
  EXPECT_NE(got[0].status, WorkStatus::kSuccess);
  EXPECT_TRUE(to->untouched());
}

// covers: semantics 10.4
TEST_F(LocalAccessContractTest, AReceiveWhoseMemoryIsGoneBreaks) {
  const auto from = MakeMemory(*pd_, 8), to = MakeMemory(*pd_, 8, 0x34);
  ASSERT_EQ(PostReceive(*b_, {to->local()}, 1), Code::kOk);
  to->region.reset();
  ASSERT_EQ(PostSend(*a_, {from->local()}, 3), Code::kOk);
  ASSERT_TRUE(Until([&] { return a_->over() && b_->over(); }));
  const std::vector<Completion> got = Drain(*b_->recv_queue);
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(got[0].status, WorkStatus::kLocalProtection);
  EXPECT_TRUE(to->untouched());
}

// covers: semantics 7.2
TEST_F(ContractTest, CheckSegmentsKnowsTheMemoryOfTheAdapter) {
  const auto memory = MakeMemory(*pd_, 64);
  DAT_LMR_TRIPLET good = memory->local(), empty{};
  const std::vector<DAT_LMR_TRIPLET> fine = {good, empty, memory->local(63, 1)};
  EXPECT_EQ(adapter_->CheckSegments(fine), Code::kOk);
  DAT_LMR_TRIPLET bad = good;
  bad.segment_length = 65;
  EXPECT_NE(adapter_->CheckSegments({&bad, 1}), Code::kOk);
  bad = good;
  bad.lmr_context += 1;
  EXPECT_NE(adapter_->CheckSegments({&bad, 1}), Code::kOk);
}

// covers: semantics 7.2
TEST_F(ContractTest, ARegionOfNoBytesIsALengthError) {
  uint8_t byte = 0;
  RegionParameters p;
  p.address = &byte;
  p.length = 0;
  EXPECT_EQ(adapter_->RegisterMemory(*pd_, p).status().code(), Code::kLength);
}

TEST_F(ContractTest, FreshRegionsGetFreshKeys) {
  std::vector<uint32_t> keys;
  for (int i = 0; i < 100; ++i) {
    const auto memory = MakeMemory(*pd_, 8);
    const uint32_t key = memory->region->remote_key();
    EXPECT_NE(key, 0u);
    EXPECT_EQ(std::count(keys.begin(), keys.end(), key), 0) << "a key was used again at once";
    keys.push_back(key);
  }
}

}  // namespace
}  // namespace softdat::transport
