// SPDX-License-Identifier: BSD-3-Clause
// Contract: memory windows, their scope, and invalidation by the peer. For back ends with windows,
// zero_based and invalidate.
#include <cstring>

#include "dat/transport/contract/contract_test_suite.h"

namespace softdat::transport {
namespace {

class WindowTester : public ContractPairTest {
 protected:
  std::unique_ptr<MemoryWindow> MakeWindow(bool exclusive = false) {
    auto window = adapter_->CreateWindow(*pd_, exclusive);
    EXPECT_TRUE(window.ok()) << window.status().reason();
    return window.Take();
  }

  // Binds over `pair` and waits for the completion. Returns the key.
  uint32_t Bind(TestPair& pair, MemoryWindow& window, TestMemory& memory, size_t offset,
                size_t length, uint32_t rights = kAllRights, bool zero_based = false) {
    SendRequest request;
    const DAT_LMR_TRIPLET part = memory.local(offset, length);
    request.op = Op::kBind;
    request.cookie = 500;
    request.local = {&part, 1};
    request.bind = {.window = &window,
                    .region = memory.region.get(),
                    .privileges = rights,
                    .zero_based = zero_based,
                    .context = &memory};
    request.key = window.NextKey();
    EXPECT_EQ(pair.qp->PostSend(request), Code::kOk);
    const Completion done = Next(*pair.send_queue);
    EXPECT_EQ(done.op, Op::kBind);
    EXPECT_EQ(done.cookie, 500u);
    EXPECT_EQ(done.context, &memory);
    EXPECT_TRUE(window.IsBound(request.key) || length == 0);
    EXPECT_EQ(done.status, WorkStatus::kSuccess);
    return request.key;
  }

  static DAT_RMR_TRIPLET At(uint64_t address, uint32_t length, uint32_t key) {
    DAT_RMR_TRIPLET remote{};
    remote.virtual_address = address;
    remote.segment_length = length;
    remote.rmr_context = key;
    return remote;
  }

  // Reads `remote` over a_. Returns true when that was granted; otherwise the connection is broken.
  bool Readable(const DAT_RMR_TRIPLET& remote) {
    const auto to = MakeMemory(*pd_, remote.segment_length);
    EXPECT_EQ(PostRdma(*a_, Op::kRdmaRead, {to->local()}, remote), Code::kOk);
    const Completion done = Next(*a_->send_queue);
    if (done.status == WorkStatus::kSuccess) return true;
    EXPECT_EQ(done.status, WorkStatus::kRemoteAccess);
    EXPECT_TRUE(Until([&] { return a_->over() && b_->over(); }));
    return false;
  }

  void Rejoin() {
    a_ = MakePair(pd_.get());
    b_ = MakePair(pd_.get());
    Join(*a_, *b_);
  }
};

// covers: semantics 7.3
TEST_F(WindowTester, ABoundWindowGivesAccessToItsPart) {
  const auto memory = MakeMemory(*pd_, 100, 0x33, DAT_MEM_PRIV_LOCAL_WRITE_FLAG);
  const auto window = MakeWindow();
  const uint32_t key = Bind(*b_, *window, *memory, 10, 20);
  const uint64_t base = memory->address() + 10;
  EXPECT_TRUE(Readable(At(base, 20, key)));
  EXPECT_TRUE(Readable(At(base + 19, 1, key)));
}

// covers: semantics 7.3
TEST_F(WindowTester, ABoundWindowGivesAccessToNothingElse) {
  const auto memory = MakeMemory(*pd_, 100, 0x33, DAT_MEM_PRIV_LOCAL_WRITE_FLAG);
  const auto window = MakeWindow();
  const uint32_t key = Bind(*b_, *window, *memory, 10, 20);
  const uint64_t base = memory->address() + 10;
  for (const DAT_RMR_TRIPLET& outside :
       {At(base - 1, 2, key), At(base, 21, key), At(base + 20, 1, key)}) {
    EXPECT_FALSE(Readable(outside));
    Rejoin();
  }
}

// covers: semantics 7.3
TEST_F(WindowTester, ABoundWindowGivesAccessToNothingBeyondItsRegion) {
  const auto memory = MakeMemory(*pd_, 100, 0x33, DAT_MEM_PRIV_LOCAL_WRITE_FLAG);
  const auto window = MakeWindow();
  const uint32_t key = Bind(*b_, *window, *memory, 0, 100);
  const uint64_t base = memory->address();
  for (const DAT_RMR_TRIPLET& outside :
       {At(base - 1, 2, key), At(base, 101, key), At(base + 100, 1, key)}) {
    EXPECT_FALSE(Readable(outside));
    Rejoin();
  }
}

TEST_F(WindowTester, EveryBindHasAFreshKeyAndTheOldOneIsRefused) {
  const auto memory = MakeMemory(*pd_, 64);
  const auto window = MakeWindow();
  const uint32_t first = Bind(*b_, *window, *memory, 0, 64);
  EXPECT_TRUE(Readable(At(memory->address(), 8, first)));
  const uint32_t second = Bind(*b_, *window, *memory, 0, 64);
  EXPECT_NE(first, second);
  EXPECT_TRUE(Readable(At(memory->address(), 8, second)));
  EXPECT_FALSE(Readable(At(memory->address(), 8, first)));
}

// covers: semantics 7.3
TEST_F(WindowTester, UnbindAndDestructionEndTheAccess) {
  const auto memory = MakeMemory(*pd_, 64);
  auto window = MakeWindow();
  const uint32_t key = Bind(*b_, *window, *memory, 0, 64);
  Bind(*b_, *window, *memory, 0, 0);
  EXPECT_FALSE(Readable(At(memory->address(), 8, key)));
  Rejoin();
  const uint32_t again = Bind(*b_, *window, *memory, 0, 64);
  EXPECT_TRUE(Readable(At(memory->address(), 8, again)));
  window.reset();
  EXPECT_FALSE(Readable(At(memory->address(), 8, again)));
}

// covers: semantics 7.3
TEST_F(WindowTester, RightsOfTheWindowCount) {
  const auto memory = MakeMemory(*pd_, 64, 0x33), from = MakeMemory(*pd_, 8, 0x44);
  const auto window = MakeWindow();
  const uint32_t key = Bind(*b_, *window, *memory, 0, 64, DAT_MEM_PRIV_REMOTE_WRITE_FLAG);
  ASSERT_EQ(PostRdma(*a_, Op::kRdmaWrite, {from->local()}, At(memory->address(), 8, key)),
            Code::kOk);
  EXPECT_EQ(Next(*a_->send_queue).status, WorkStatus::kSuccess);
  EXPECT_FALSE(Readable(At(memory->address(), 8, key)));
  EXPECT_EQ(memory->data()[7], 0x44);
}

// covers: semantics 7.3
TEST_F(WindowTester, ZeroBasedWindowsCountFromTheirStart) {
  const auto memory = MakeMemory(*pd_, 64, 0x33);
  memory->data()[10] = 0x99;
  const auto window = MakeWindow();
  const uint32_t key = Bind(*b_, *window, *memory, 10, 20, kAllRights, true);
  const auto to = MakeMemory(*pd_, 1);
  ASSERT_EQ(PostRdma(*a_, Op::kRdmaRead, {to->local()}, At(0, 1, key)), Code::kOk);
  EXPECT_EQ(Next(*a_->send_queue).status, WorkStatus::kSuccess);
  EXPECT_EQ(to->data()[0], 0x99);
  EXPECT_FALSE(Readable(At(memory->address() + 10, 1, key)));
}

// covers: semantics 7.2
TEST_F(WindowTester, ZeroBasedRegionsCountFromTheirStart) {
  const auto memory = MakeMemory(*pd_, 64, 0, kAllRights, true),
             from = MakeMemory(*pd_, 64, 0x21, kAllRights, true);
  ASSERT_EQ(PostRdma(*a_, Op::kRdmaWrite, {from->local(60, 4)}, memory->remote(8, 4)), Code::kOk);
  EXPECT_EQ(Next(*a_->send_queue).status, WorkStatus::kSuccess);
  EXPECT_TRUE(
      Until([&] { return __atomic_load_n(&memory->data()[11], __ATOMIC_ACQUIRE) == 0x21; }));
  EXPECT_EQ(memory->data()[7], 0);
  EXPECT_EQ(memory->data()[12], 0);
}

// covers: semantics 7.3
TEST_F(WindowTester, AnExclusiveWindowWorksOverItsQueuePairOnly) {
  const auto memory = MakeMemory(*pd_, 64);
  const auto window = MakeWindow(true);
  const auto c = MakePair(pd_.get()), d = MakePair(pd_.get());
  Join(*c, *d);
  const uint32_t key = Bind(*b_, *window, *memory, 0, 64);
  EXPECT_TRUE(Readable(At(memory->address(), 8, key)));
  const auto to = MakeMemory(*pd_, 8);
  ASSERT_EQ(PostRdma(*c, Op::kRdmaRead, {to->local()}, At(memory->address(), 8, key)), Code::kOk);
  EXPECT_EQ(Next(*c->send_queue).status, WorkStatus::kRemoteAccess);
}

// covers: semantics 7.3
TEST_F(WindowTester, ASendBehindABindFindsItDone) {
  const auto memory = MakeMemory(*pd_, 64, 0x61);
  const auto window = MakeWindow();
  SendRequest request;
  const DAT_LMR_TRIPLET part = memory->local();
  request.op = Op::kBind;
  request.local = {&part, 1};
  request.bind = {};
  request.bind.window = window.get();
  request.bind.region = memory->region.get();
  request.bind.privileges = kAllRights;
  request.key = window->NextKey();
  ASSERT_EQ(PostReceive(*a_, {}), Code::kOk);
  ASSERT_EQ(b_->qp->PostSend(request), Code::kOk);
  ASSERT_EQ(PostSend(*b_, {}), Code::kOk);
  EXPECT_EQ(Next(*a_->recv_queue).status, WorkStatus::kSuccess);
  EXPECT_TRUE(Readable(At(memory->address(), 64, request.key)));
}

// covers: semantics 7.3
TEST_F(WindowTester, BadBindsAreRefused) {
  const auto other_pd = MakePd();
  const auto memory = MakeMemory(*pd_, 64), foreign = MakeMemory(*other_pd, 64);
  const auto read_only = MakeMemory(*pd_, 64, 0, DAT_MEM_PRIV_LOCAL_READ_FLAG);
  const auto window = MakeWindow();
  struct Case {
    TestMemory* memory;
    size_t offset, length;
    Code expected;
  };
  for (const Case& c : {Case{foreign.get(), 0, 64, Code::kProtection},
                        Case{memory.get(), 0, 65, Code::kOutOfBounds},
                        Case{memory.get(), 64, 1, Code::kOutOfBounds},
                        Case{read_only.get(), 0, 64, Code::kPrivileges}}) {
    SendRequest request;
    const DAT_LMR_TRIPLET part = c.memory->local(c.offset, c.length);
    request.op = Op::kBind;
    request.local = {&part, 1};
    request.bind = {};
    request.bind.window = window.get();
    request.bind.region = c.memory->region.get();
    request.bind.privileges = kAllRights;
    request.key = window->NextKey();
    EXPECT_EQ(b_->qp->PostSend(request), c.expected);
  }
  Settle();
  EXPECT_FALSE(b_->over());
  EXPECT_TRUE(Drain(*b_->send_queue).empty());
}

// covers: semantics 7.3
TEST_F(WindowTester, ABindAfterTheEndIsFlushed) {
  const auto memory = MakeMemory(*pd_, 64);
  const auto window = MakeWindow();
  b_->qp->Disconnect(DisconnectMode::kAbrupt);
  ASSERT_TRUE(Until([&] { return b_->over(); }));
  SendRequest request;
  const DAT_LMR_TRIPLET part = memory->local();
  request.op = Op::kBind;
  request.local = {&part, 1};
  request.bind = {};
  request.bind.window = window.get();
  request.bind.region = memory->region.get();
  request.key = window->NextKey();
  request.bind.context = window.get();
  ASSERT_EQ(b_->qp->PostSend(request), Code::kOk);
  const Completion done = Next(*b_->send_queue);
  EXPECT_EQ(done.status, WorkStatus::kFlushed);
  EXPECT_EQ(done.context, window.get());
}

// covers: semantics 16.4
TEST_F(WindowTester, SendWithInvalidateUnbindsTheReceiversWindow) {
  const auto memory = MakeMemory(*pd_, 64), to = MakeMemory(*pd_, 8),
             from = MakeMemory(*pd_, 8, 0x17);
  const auto window = MakeWindow();
  const uint32_t key = Bind(*b_, *window, *memory, 0, 64);
  ASSERT_EQ(PostReceive(*b_, {to->local()}, 3), Code::kOk);
  SendRequest request;
  const DAT_LMR_TRIPLET data = from->local();
  request.op = Op::kSendInvalidate;
  request.local = {&data, 1};
  request.key = key;
  ASSERT_EQ(a_->qp->PostSend(request), Code::kOk);
  const Completion got = Next(*b_->recv_queue);
  EXPECT_EQ(got.op, Op::kReceiveInvalidate);
  EXPECT_EQ(got.key, key);
  EXPECT_EQ(got.length, 8u);
  EXPECT_EQ(to->data()[7], 0x17);
  EXPECT_EQ(Next(*a_->send_queue).status, WorkStatus::kSuccess);
  EXPECT_FALSE(Readable(At(memory->address(), 8, key)));
}

// covers: semantics 16.4
TEST_F(WindowTester, InvalidatingNothingBreaksTheConnection) {
  ASSERT_EQ(PostReceive(*b_, {}), Code::kOk);
  SendRequest request;
  request.op = Op::kSendInvalidate;
  request.key = 0x12345678;
  ASSERT_EQ(a_->qp->PostSend(request), Code::kOk);
  ASSERT_TRUE(Until([&] { return a_->over() && b_->over(); }));
  EXPECT_TRUE(a_->ended(EndReason::kBroken));
}

// covers: semantics 16.5
TEST_F(WindowTester, AReadMaySinkIntoAWindowAndUnbindIt) {
  const auto source = MakeMemory(*pd_, 32, 0x72), sink = MakeMemory(*pd_, 32);
  const auto window = MakeWindow();
  const uint32_t key = Bind(*a_, *window, *sink, 0, 32);
  SendRequest request;
  DAT_LMR_TRIPLET local = sink->local(0, 32);
  local.lmr_context = key;
  request.op = Op::kRdmaRead;
  request.local = {&local, 1};
  request.remote = source->remote();
  request.sink_is_window = true;
  request.invalidate_sink = true;
  ASSERT_EQ(a_->qp->PostSend(request), Code::kOk);
  EXPECT_EQ(Next(*a_->send_queue).status, WorkStatus::kSuccess);
  EXPECT_EQ(sink->data()[31], 0x72);
  // It is unbound now, so the same read is refused locally, at the post or later.
  const Code code = a_->qp->PostSend(request);
  if (code != Code::kOk) {
    EXPECT_EQ(code, Code::kProtection);
    return;
  }
  EXPECT_EQ(Next(*a_->send_queue).status, WorkStatus::kLocalProtection);
}

}  // namespace
}  // namespace softdat::transport
