// SPDX-License-Identifier: BSD-3-Clause
// Refused accesses. A remote one leaves memory untouched and breaks the connection. A local one is
// refused at the post, or completes with a protection error (semantics 7, 10.1, 10.5).
#include <functional>

#include "tests/conformance/fixture.h"

namespace softdat::conformance {
namespace {

constexpr size_t kSize = 64;

// One remote access that must be refused.
struct Refusal {
  const char* name;
  // Spoils the triplet of a good access.
  void (*spoil)(DAT_RMR_TRIPLET* triplet);
  // Rights and PZ of the target.
  DAT_MEM_PRIV_FLAGS rights = DAT_MEM_PRIV_ALL_FLAG;
  bool other_pz = false;
  bool freed = false;
  bool read = true;
};

constexpr DAT_MEM_PRIV_FLAGS kReadOnly = static_cast<DAT_MEM_PRIV_FLAGS>(
    DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_LOCAL_WRITE_FLAG | DAT_MEM_PRIV_REMOTE_READ_FLAG);
constexpr DAT_MEM_PRIV_FLAGS kWriteOnly = static_cast<DAT_MEM_PRIV_FLAGS>(
    DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_LOCAL_WRITE_FLAG | DAT_MEM_PRIV_REMOTE_WRITE_FLAG);

void Keep(DAT_RMR_TRIPLET*) {}

const Refusal kNoReadRight = {"NoReadRight", Keep, kWriteOnly};

const Refusal kRefusals[] = {
    {"KeyPlusOne", [](DAT_RMR_TRIPLET* t) { t->rmr_context += 1; }},
    {"KeyTopBit", [](DAT_RMR_TRIPLET* t) { t->rmr_context ^= 0x80000000u; }},
    {"KeyZero", [](DAT_RMR_TRIPLET* t) { t->rmr_context = 0; }},
    {"KeyAllOnes", [](DAT_RMR_TRIPLET* t) { t->rmr_context = 0xFFFFFFFFu; }},
    {"OtherZone", Keep, DAT_MEM_PRIV_ALL_FLAG, true},
    {"FreedMemory", Keep, DAT_MEM_PRIV_ALL_FLAG, false, true},
    {"NoWriteRight", Keep, kReadOnly, false, false, false},
    {"OneByteBefore", [](DAT_RMR_TRIPLET* t) { AddressOf(*t) -= 1; }},
    {"OneByteBehind", [](DAT_RMR_TRIPLET* t) { AddressOf(*t) += 1; }},
    {"OneByteLonger", [](DAT_RMR_TRIPLET* t) { t->segment_length += 1; }},
    {"JustBehind", [](DAT_RMR_TRIPLET* t) { AddressOf(*t) += kSize; }},
    {"FourGigabytesBehind", [](DAT_RMR_TRIPLET* t) { AddressOf(*t) += uint64_t{1} << 32; }},
    {"AddressZero", [](DAT_RMR_TRIPLET* t) { AddressOf(*t) = 0; }},
    {"Wrap64LastByte", [](DAT_RMR_TRIPLET* t) { AddressOf(*t) = UINT64_MAX; }},
    {"Wrap64Whole", [](DAT_RMR_TRIPLET* t) { AddressOf(*t) = UINT64_MAX - kSize + 1; }},
};

class RemoteAccessTest : public ConnectedTest {
 protected:
  using Told = std::function<void(bool write)>;

  // Makes the target, does the access, and checks what each of the two ends is `told`, and all
  // memory.
  void Refuse(const Refusal& refusal, bool write, const Told& told) {
    SCOPED_TRACE(std::string(refusal.name) + (write ? " write" : " read"));
    DAT_PZ_HANDLE other = DAT_HANDLE_NULL;
    ASSERT_OK(dat_pz_create(b_->ia, &other));
    {
      Buffer target(b_->ia, refusal.other_pz ? other : b_->pz, kSize, 0x33, refusal.rights);
      DAT_RMR_TRIPLET remote = target.remote();
      refusal.spoil(&remote);
      if (refusal.freed) {
        ASSERT_OK(target.Free());
      }
      const auto local = a_->MakeBuffer(remote.segment_length, 0x77);
      const auto idle = b_->MakeBuffer(8, 0x11);
      ASSERT_OK(PostRecv(b_->ep, {idle->local()}, 5));
      ASSERT_OK(PostRecv(a_->ep, {local->local()}, 6));
      if (write) {
        ASSERT_OK(PostWrite(a_->ep, {local->local()}, remote, 42));
      } else {
        ASSERT_OK(PostRead(a_->ep, {local->local()}, remote, 42));
      }
      told(write);
      EXPECT_EQ(StateOf(a_->ep), DAT_EP_STATE_DISCONNECTED);
      EXPECT_EQ(StateOf(b_->ep), DAT_EP_STATE_DISCONNECTED);
      a_->ExpectDto(a_->recv_evd, a_->ep, 6, DAT_DTO_ERR_FLUSHED);
      b_->ExpectDto(b_->recv_evd, b_->ep, 5, DAT_DTO_ERR_FLUSHED);
      // Both EPs are fit for another connection, and for one more.
      ExpectNothingMore({a_->request_evd, a_->recv_evd, b_->recv_evd});
      EXPECT_TRUE(target.untouched());
      EXPECT_TRUE(local->untouched());
      EXPECT_TRUE(idle->untouched());
    }
    EXPECT_OK(dat_pz_free(other));
    ResetBoth();
    Join();
  }
  void RefuseAll(const Told& told) {
    for (const Refusal& refusal : kRefusals) {
      Refuse(refusal, true, told);
      if (HasFatalFailure()) return;
      if (refusal.read) Refuse(refusal, false, told);
      if (HasFatalFailure()) return;
    }
  }
  void ExpectTold(bool write) {
    a_->ExpectConnection(a_->ep, DAT_CONNECTION_EVENT_BROKEN);
    b_->ExpectConnection(b_->ep, DAT_CONNECTION_EVENT_BROKEN);
    EXPECT_EQ(StatusOfTheAccess(),
              write && !ConfirmsCompletions(a_->ia) ? DAT_DTO_SUCCESS : DAT_DTO_ERR_REMOTE_ACCESS);
  }
  DAT_DTO_COMPLETION_STATUS StatusOfTheAccess() {
    const auto done =
        a_->Expect(a_->request_evd, DAT_DTO_COMPLETION_EVENT).event_data.dto_completion_event_data;
    EXPECT_EQ(done.ep_handle, a_->ep);
    EXPECT_EQ(done.user_cookie.as_64, 42u);
    return done.status;
  }
};
CONFORMANCE_ALL_VARIANTS(RemoteAccessTest);

// Whatever the two ends are told, the connection is over, and nothing was read or written.
// covers: semantics 10.4
TEST_P(RemoteAccessTest, EveryRefusalLeavesMemoryAsItWas) {
  RefuseAll([this](bool write) {
    a_->ExpectEnd(a_->ep);
    b_->ExpectEnd(b_->ep);
    const DAT_DTO_COMPLETION_STATUS status = StatusOfTheAccess();
    EXPECT_TRUE(write || status != DAT_DTO_SUCCESS) << "nothing was read";
  });
}

// covers: semantics 10.4
TEST_P(RemoteAccessTest, EveryRefusalIsTold) {
  RefuseAll([this](bool write) { ExpectTold(write); });
}

// covers: semantics 10.4
TEST_P(RemoteAccessTest, MemoryWithoutTheReadRightIsNotRead) {
  Refuse(kNoReadRight, false, [this](bool write) { ExpectTold(write); });
}

// covers: semantics 7.2
TEST_P(RemoteAccessTest, TheWholeRegionIsAccessibleToItsLastByte) {
  const auto target = b_->MakeBuffer(kSize, 0x33), local = a_->MakeBuffer(kSize, 0x44);
  ASSERT_OK(PostWrite(a_->ep, {local->local()}, target->remote(), 1));
  ASSERT_OK(PostRead(a_->ep, {local->local(0, 1)}, target->remote(kSize - 1, 1), 2));
  a_->ExpectDto(a_->request_evd, a_->ep, 1);
  a_->ExpectDto(a_->request_evd, a_->ep, 2);
  EXPECT_EQ(target->data()[0], 0x44);
  EXPECT_EQ(target->data()[kSize - 1], 0x44);
  EXPECT_TRUE(target->guards_intact());
}

class LocalAccessTest : public ConnectedTest {
 protected:
  // The work was refused at the post with one of two types, or completed with a protection error
  // that breaks the connection.
  void ExpectRefused(DAT_RETURN posted, DAT_RETURN_TYPE expected) {
    if (posted != DAT_SUCCESS) {
      EXPECT_TYPE(posted, expected);
      EXPECT_EQ(StateOf(a_->ep), DAT_EP_STATE_CONNECTED);
      EXPECT_TRUE(Side::Drain(a_->request_evd).empty());
      return;
    }
    a_->ExpectDto(a_->request_evd, a_->ep, 9, DAT_DTO_ERR_LOCAL_PROTECTION);
    a_->ExpectConnection(a_->ep, DAT_CONNECTION_EVENT_BROKEN);
    b_->Expect(b_->connect_evd, DAT_CONNECTION_EVENT_BROKEN);
    ResetBoth();
    Join();
  }
};
CONFORMANCE_FAMILIES(LocalAccessTest);

// covers: semantics 10.1, 10.5
TEST_P(LocalAccessTest, EveryLocalMistakeIsCaught) {
  DAT_PZ_HANDLE other = DAT_HANDLE_NULL;
  ASSERT_OK(dat_pz_create(a_->ia, &other));
  {
    const auto mine = a_->MakeBuffer(kSize), target = b_->MakeBuffer(kSize, 0x12);
    const auto read_only = a_->MakeBuffer(kSize, 0x21, DAT_MEM_PRIV_LOCAL_READ_FLAG);
    const Buffer foreign(a_->ia, other, kSize);
    DAT_LMR_TRIPLET bad = mine->local();
    bad.lmr_context += 1;
    ExpectRefused(PostWrite(a_->ep, {bad}, target->remote(), 9), DAT_PROTECTION_VIOLATION);
    ExpectRefused(PostWrite(a_->ep, {foreign.local()}, target->remote(), 9),
                  DAT_PROTECTION_VIOLATION);
    ExpectRefused(PostRead(a_->ep, {read_only->local()}, target->remote(), 9),
                  DAT_PRIVILEGES_VIOLATION);
    bad = mine->local(1, kSize);
    ExpectRefused(PostRead(a_->ep, {bad}, target->remote(), 9), DAT_INVALID_PARAMETER);
    bad = mine->local();
    bad.virtual_address -= 1;
    ExpectRefused(PostSend(a_->ep, {bad}, 9), DAT_INVALID_PARAMETER);
    bad.virtual_address = UINT64_MAX - 7;
    ExpectRefused(PostSend(a_->ep, {bad}, 9), DAT_INVALID_PARAMETER);
    EXPECT_TRUE(read_only->untouched());
    EXPECT_TRUE(target->untouched());
  }
  EXPECT_OK(dat_pz_free(other));
}

// covers: semantics 7.2, 19
TEST_P(LocalAccessTest, MemoryWithoutReadRightCanBeSentFrom) {
  const auto from = a_->MakeBuffer(16, 0x66, DAT_MEM_PRIV_LOCAL_WRITE_FLAG),
             to = b_->MakeBuffer(16);
  ASSERT_OK(PostRecv(b_->ep, {to->local()}, 1));
  ASSERT_OK(PostSend(a_->ep, {from->local()}, 2));
  b_->ExpectDto(b_->recv_evd, b_->ep, 1);
  a_->ExpectDto(a_->request_evd, a_->ep, 2);
  EXPECT_EQ(to->data()[15], 0x66);
}

// covers: semantics 3.1, 7.2, 10.5
TEST_P(LocalAccessTest, MemoryFreedUnderAPostedReceive) {
  const auto from = a_->MakeBuffer(16), to = b_->MakeBuffer(16, 0x29);
  ASSERT_OK(PostRecv(b_->ep, {to->local()}, 1));
  ASSERT_OK(to->Free());
  ASSERT_OK(PostSend(a_->ep, {from->local()}, 2));
  b_->ExpectDto(b_->recv_evd, b_->ep, 1, DAT_DTO_ERR_LOCAL_PROTECTION);
  b_->ExpectConnection(b_->ep, DAT_CONNECTION_EVENT_BROKEN);
  a_->ExpectConnection(a_->ep, DAT_CONNECTION_EVENT_BROKEN);
  EXPECT_TRUE(to->untouched());
}

// This holds whatever the two ends are told.
// covers: semantics 10.4
TEST_P(LocalAccessTest, MemoryFreedUnderAPostedReceiveStaysAsItWas) {
  const auto from = a_->MakeBuffer(16), to = b_->MakeBuffer(16, 0x29);
  ASSERT_OK(PostRecv(b_->ep, {to->local()}, 1));
  ASSERT_OK(to->Free());
  ASSERT_OK(PostSend(a_->ep, {from->local()}, 2));
  const DAT_DTO_COMPLETION_EVENT_DATA failed =
      b_->Expect(b_->recv_evd, DAT_DTO_COMPLETION_EVENT).event_data.dto_completion_event_data;
  EXPECT_EQ(failed.user_cookie.as_64, 1u);
  EXPECT_NE(failed.status, DAT_DTO_SUCCESS);
  b_->ExpectEnd(b_->ep);
  a_->ExpectEnd(a_->ep);
  EXPECT_TRUE(to->untouched());
}

class LmrTest : public ConformanceTest {
 protected:
  DAT_RETURN Create(DAT_MEM_TYPE type, DAT_VLEN length, DAT_LMR_HANDLE* lmr, DAT_PZ_HANDLE pz) {
    DAT_REGION_DESCRIPTION region{};
    region.for_va = memory_;
    DAT_LMR_CONTEXT lmr_context = 0;
    return CreateLmr(a_->ia, type, region, length, pz, DAT_MEM_PRIV_ALL_FLAG, lmr, &lmr_context,
                     nullptr, nullptr, nullptr);
  }
  char memory_[128] = {};
};
CONFORMANCE_FAMILIES(LmrTest);

// covers: semantics 7.2, 17
TEST_P(LmrTest, ArgumentsAreChecked) {
  DAT_LMR_HANDLE lmr = DAT_HANDLE_NULL;
  EXPECT_TYPE(Create(DAT_MEM_TYPE_VIRTUAL, 0, &lmr, a_->pz), DAT_LENGTH_ERROR);
  EXPECT_RETURN(Create(static_cast<DAT_MEM_TYPE>(17), 8, &lmr, a_->pz), BadArgument(2));
  EXPECT_TYPE(Create(DAT_MEM_TYPE_VIRTUAL, 8, nullptr, a_->pz), DAT_INVALID_PARAMETER);
  EXPECT_RETURN(Create(DAT_MEM_TYPE_VIRTUAL, 8, &lmr, DAT_HANDLE_NULL),
                BadHandle(DAT_INVALID_HANDLE_PZ));
  EXPECT_EQ(lmr, DAT_HANDLE_NULL) << "a failed call leaves its outputs alone";
}

// covers: semantics 7.2, 19
TEST_P(LmrTest, AnyAlignmentAndSizeIsFineAndTheQueryTellsAll) {
  for (const size_t offset : {0, 1, 3, 7}) {
    for (const size_t length : {1, 8, 100}) {
      DAT_REGION_DESCRIPTION region{};
      region.for_va = memory_ + offset;
      DAT_LMR_HANDLE lmr = DAT_HANDLE_NULL;
      DAT_LMR_CONTEXT lmr_context = 0;
      DAT_RMR_CONTEXT rmr_context = 0;
      DAT_VLEN size = 0;
      DAT_VADDR address = 0;
      ASSERT_OK(CreateLmr(a_->ia, DAT_MEM_TYPE_VIRTUAL, region, length, a_->pz,
                          DAT_MEM_PRIV_ALL_FLAG, &lmr, &lmr_context, &rmr_context, &size,
                          &address));
      const auto start = reinterpret_cast<DAT_VADDR>(memory_ + offset);
      EXPECT_LE(address, start);
      EXPECT_GE(address + size, start + length);
      DAT_LMR_PARAM param{};
      ASSERT_OK(dat_lmr_query(lmr, DAT_LMR_FIELD_ALL, &param));
      EXPECT_EQ(param.ia_handle, a_->ia);
      EXPECT_EQ(param.mem_type, DAT_MEM_TYPE_VIRTUAL);
      EXPECT_EQ(param.region_desc.for_va, region.for_va);
      EXPECT_EQ(param.length, length);
      EXPECT_EQ(param.pz_handle, a_->pz);
      EXPECT_EQ(param.mem_priv, DAT_MEM_PRIV_ALL_FLAG);
      EXPECT_EQ(param.lmr_context, lmr_context);
      EXPECT_EQ(param.rmr_context, rmr_context);
      EXPECT_NE(rmr_context, 0u);
      EXPECT_OK(dat_lmr_free(lmr));
      EXPECT_RETURN(dat_lmr_free(lmr), BadHandle(DAT_INVALID_HANDLE_LMR));
    }
  }
}

// covers: semantics 7.2
TEST_P(LmrTest, NoRemoteRightMeansNoRemoteContext) {
  const Buffer local(a_->ia, a_->pz, 8, 0,
                     static_cast<DAT_MEM_PRIV_FLAGS>(DAT_MEM_PRIV_LOCAL_READ_FLAG |
                                                     DAT_MEM_PRIV_LOCAL_WRITE_FLAG));
  EXPECT_EQ(local.rmr_context(), 0u);
}

// covers: semantics 3.1
TEST_P(LmrTest, AZoneInUseIsNotFreed) {
  DAT_PZ_HANDLE pz = DAT_HANDLE_NULL;
  ASSERT_OK(dat_pz_create(a_->ia, &pz));
  DAT_LMR_HANDLE lmr = DAT_HANDLE_NULL;
  ASSERT_OK(Create(DAT_MEM_TYPE_VIRTUAL, 8, &lmr, pz));
  EXPECT_RETURN(dat_pz_free(pz), BadState(DAT_INVALID_STATE_PZ_IN_USE));
  EXPECT_OK(dat_lmr_free(lmr));
  DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
  ASSERT_OK(
      dat_ep_create(a_->ia, pz, a_->recv_evd, a_->request_evd, a_->connect_evd, nullptr, &ep));
  EXPECT_RETURN(dat_pz_free(pz), BadState(DAT_INVALID_STATE_PZ_IN_USE));
  EXPECT_OK(dat_ep_free(ep));
  EXPECT_OK(dat_pz_free(pz));
  EXPECT_RETURN(dat_pz_free(pz), BadHandle(DAT_INVALID_HANDLE_PZ));
}

// covers: semantics 4
TEST_P(LmrTest, ObjectsOfAnotherOpenDoNotFit) {
  DAT_LMR_HANDLE lmr = DAT_HANDLE_NULL;
  EXPECT_RETURN(Create(DAT_MEM_TYPE_VIRTUAL, 8, &lmr, b_->pz), BadHandle(DAT_INVALID_HANDLE_PZ));
  DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
  EXPECT_RETURN(
      dat_ep_create(a_->ia, b_->pz, a_->recv_evd, a_->request_evd, a_->connect_evd, nullptr, &ep),
      BadHandle(DAT_INVALID_HANDLE_PZ));
}

// covers: semantics 7.2
TEST_P(LmrTest, SyncValidatesItsSegments) {
  const auto memory = a_->MakeBuffer(64);
  DAT_LMR_TRIPLET segments[3] = {memory->local(), {}, memory->local(63, 1)};
  EXPECT_OK(dat_lmr_sync_rdma_read(a_->ia, segments, 3));
  EXPECT_OK(dat_lmr_sync_rdma_write(a_->ia, segments, 3));
  EXPECT_OK(dat_lmr_sync_rdma_read(a_->ia, nullptr, 0));
  segments[2].segment_length = 2;
  EXPECT_TYPE(dat_lmr_sync_rdma_read(a_->ia, segments, 3), DAT_INVALID_PARAMETER);
  segments[2] = memory->local();
  segments[2].lmr_context += 1;
  EXPECT_TYPE(dat_lmr_sync_rdma_write(a_->ia, segments, 3), DAT_INVALID_PARAMETER);
  EXPECT_RETURN(dat_lmr_sync_rdma_read(a_->ia, nullptr, 1), BadArgument(2));
}

}  // namespace
}  // namespace softdat::conformance
