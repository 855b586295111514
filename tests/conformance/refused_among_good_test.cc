// SPDX-License-Identifier: BSD-3-Clause
// The peer refuses one request among good ones. The requests before it are carried out and succeed.
// It reports why it failed. The requests after it are flushed and not carried out (semantics 8.4,
// 10.5).
#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "tests/conformance/fixture.h"
#ifndef CONFORMANCE_UDAPL_12
#include "dat2/dat_ib_extensions.h"
#endif

namespace softdat::conformance {
namespace {

enum class Kind : uint8_t { kRead, kWrite, kSend, kAtomic };
constexpr const char* kNames[] = {"read", "write", "send", "atomic"};

constexpr size_t kRequests = 6;
constexpr size_t kSlot = 64;
constexpr uint8_t kBlank = 0x33;
using Program = std::array<Kind, kRequests>;

constexpr auto kReadOnly = static_cast<DAT_MEM_PRIV_FLAGS>(
    DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_LOCAL_WRITE_FLAG | DAT_MEM_PRIV_REMOTE_READ_FLAG);
constexpr auto kWriteOnly = static_cast<DAT_MEM_PRIV_FLAGS>(
    DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_LOCAL_WRITE_FLAG | DAT_MEM_PRIV_REMOTE_WRITE_FLAG);

// Whether this IA and this version of the API have atomics.
bool HasAtomics(DAT_IA_HANDLE ia) {
#if DAT_VERSION_MAJOR >= 2
  DAT_IA_ATTR attr{};
  EXPECT_OK(dat_ia_query(ia, nullptr, DAT_IA_FIELD_ALL, &attr, 0, nullptr));
  return attr.extension_supported == DAT_EXTENSION_IB;
#else
  (void)ia;
  return false;
#endif
}

// The memory that the requests of one case read from and write to, with a slot for each request.
struct Memory {
  // If there are windows, the windows refuse.
  Memory(Side& a, Side& b, DAT_MEM_PRIV_FLAGS all, bool windows)
      : local(a.ia, a.pz, kRequests * kSlot, kBlank),
        from(a.ia, a.pz, kSlot, 0x77),
        target(b.ia, b.pz, kRequests * kSlot, kBlank, all),
        source(b.ia, b.pz, kSlot, 0x55),
        inbox(b.ia, b.pz, kRequests * kSlot, kBlank),
        read_only(b.ia, b.pz, kSlot, kBlank, windows ? all : kReadOnly),
        write_only(b.ia, b.pz, kSlot, kBlank, windows ? all : kWriteOnly),
        aligned((8 - target.address() % 8) % 8) {}
  DAT_RMR_TRIPLET Word(size_t i) const { return target.remote(aligned + i * kSlot, 8); }
  // The place that a request accesses: in the regions, or in windows over them.
  DAT_RMR_TRIPLET Slot(const Buffer& buffer, size_t i) const {
    DAT_RMR_TRIPLET remote = buffer.remote(i * kSlot, kSlot);
    if (const auto it = contexts.find(&buffer); it != contexts.end()) {
      remote.rmr_context = it->second;
    }
    return remote;
  }

  Buffer local;       // results of the active side's reads and atomics
  Buffer from;        // the source of its writes and sends
  Buffer target;      // the place that writes and atomics change
  Buffer source;      // the source of reads
  Buffer inbox;       // the place for messages
  Buffer read_only;   // refuses writes and atomics
  Buffer write_only;  // refuses reads
  const size_t aligned;
  std::map<const Buffer*, DAT_RMR_CONTEXT> contexts;  // of the windows, if there are any
};

class RefusedAmongGoodTest : public ConnectedTest {
 protected:
  void Post(Memory& m, Kind kind, size_t i, bool bad) {
    switch (kind) {
      case Kind::kRead:
        ASSERT_OK(PostRead(a_->ep, {m.local.local(i * kSlot, kSlot)},
                           bad ? Refusing(m, m.write_only, m.source) : m.Slot(m.source, 0), i));
        break;
      case Kind::kWrite:
        ASSERT_OK(PostWrite(a_->ep, {m.from.local()},
                            bad ? Refusing(m, m.read_only, m.target) : m.Slot(m.target, i), i));
        break;
      case Kind::kSend:
        ASSERT_OK(PostSend(a_->ep, {m.from.local()}, i));
        break;
      case Kind::kAtomic: {
#if DAT_VERSION_MAJOR >= 2
        DAT_LMR_TRIPLET result = m.local.local(i * kSlot, 8);
        DAT_RMR_TRIPLET word = m.Word(i);
        if (bad) {
          word = m.read_only.remote((8 - m.read_only.address() % 8) % 8, 8);
        }
        ASSERT_OK(dat_ib_post_fetch_and_add(a_->ep, 1, &result, Cookie(i), &word,
                                            DAT_COMPLETION_DEFAULT_FLAG));
#endif
        break;
      }
    }
  }
  // The memory that refuses a request. It lacks the right, or the request begins in the last byte
  // of the memory of the good requests and does not fit into it.
  DAT_RMR_TRIPLET Refusing(const Memory& m, const Buffer& closed, const Buffer& open) const {
    if (!beyond_the_end_) return m.Slot(closed, 0);
    DAT_RMR_TRIPLET remote = open.remote(open.size() - 1, 1);
    remote.segment_length = kSlot;
    return remote;
  }
  // The status that request `i` must have. There is none if the device may have taken the request
  // before it knew of the end.
  std::optional<DAT_DTO_COMPLETION_STATUS> Status(Kind kind, size_t i, size_t bad) const {
    const bool answered = confirmed_ || kind == Kind::kRead || kind == Kind::kAtomic;
    if (i < bad || (i == bad && !answered)) return DAT_DTO_SUCCESS;
    if (i > bad) {
      return answered ? std::optional(DAT_DTO_ERR_FLUSHED) : std::nullopt;
    }
    return kind == Kind::kSend ? DAT_DTO_ERR_REMOTE_RESPONDER : DAT_DTO_ERR_REMOTE_ACCESS;
  }
  static bool Filled(const uint8_t* at, size_t n, uint8_t value) {
    return std::all_of(at, at + n, [&](uint8_t byte) { return byte == value; });
  }
  // The answers to the requests before the bad one have arrived, and nothing else.
  static void CheckAnswers(const Memory& m, const Program& program, size_t bad) {
    for (size_t i = 0; i < kRequests; ++i) {
      const bool read = i < bad && program[i] == Kind::kRead;
      EXPECT_TRUE(Filled(m.local.data() + i * kSlot + 8, kSlot - 8, read ? 0x55 : kBlank)) << i;
    }
    EXPECT_TRUE(m.local.guards_intact());
  }
  // The target's memory shows the requests that were carried out, and nothing else.
  static void CheckTarget(const Memory& m, const Program& program, size_t bad) {
    for (size_t i = 0; i < kRequests; ++i) {
      SCOPED_TRACE(i);
      const bool done = i < bad;
      const uint8_t* const target = m.target.data() + i * kSlot;
      if (program[i] == Kind::kAtomic) {
        // The word was blank before, and each byte of it but the last still is.
        EXPECT_EQ(target[m.aligned], done ? kBlank + 1 : kBlank);
      } else {
        EXPECT_TRUE(Filled(target + m.aligned, kSlot - m.aligned,
                           done && program[i] == Kind::kWrite ? 0x77 : kBlank));
      }
    }
    EXPECT_TRUE(m.read_only.untouched());
    EXPECT_TRUE(m.write_only.untouched());
    EXPECT_TRUE(m.target.guards_intact());
  }
  void CheckReceives(Memory& m, const Program& program, size_t bad) {
    for (size_t i = 0; i < kRequests; ++i) {
      if (program[i] != Kind::kSend) continue;
      const auto status = i < bad    ? DAT_DTO_SUCCESS
                          : i == bad ? DAT_DTO_ERR_LOCAL_LENGTH
                                     : DAT_DTO_ERR_FLUSHED;
      b_->ExpectDto(b_->recv_evd, b_->ep, i, status);
      if (i != bad) {
        EXPECT_TRUE(Filled(m.inbox.data() + i * kSlot, kSlot, i < bad ? 0x77 : kBlank));
      }
    }
    EXPECT_TRUE(m.inbox.guards_intact());
  }
  static std::string Text(const Program& program, size_t bad) {
    std::string text;
    for (const Kind kind : program) text += std::string(kNames[static_cast<int>(kind)]) + ' ';
    return text + "bad " + std::to_string(bad);
  }
  DAT_MEM_PRIV_FLAGS Rights() const {
    int rights = DAT_MEM_PRIV_ALL_FLAG;
#if DAT_VERSION_MAJOR >= 2
    if (HasAtomics(a_->ia)) rights |= DAT_IB_MEM_PRIV_REMOTE_ATOMIC;
#endif
    return static_cast<DAT_MEM_PRIV_FLAGS>(rights);
  }
  // Posts the receives for the messages among the requests, and the requests.
  void PostAll(Memory& m, const Program& program, size_t bad) {
    for (size_t i = 0; i < kRequests; ++i) {
      if (program[i] != Kind::kSend) continue;
      ASSERT_OK(PostRecv(b_->ep, {m.inbox.local(i * kSlot, i == bad ? kSlot / 2 : kSlot)}, i));
    }
    for (size_t i = 0; i < kRequests; ++i) {
      Post(m, program[i], i, i == bad);
      if (HasFatalFailure()) return;
    }
  }
  // Checks everything that follows from the refusal, including the status of each request.
  void Run(const Program& program, size_t bad) {
    SCOPED_TRACE(Text(program, bad));
    Memory m(*a_, *b_, Rights(), through_windows_);
    std::vector<DAT_RMR_HANDLE> windows;
    if (through_windows_) {
      windows.push_back(
          Cover(m, m.target, DAT_MEM_PRIV_REMOTE_READ_FLAG | DAT_MEM_PRIV_REMOTE_WRITE_FLAG));
      windows.push_back(Cover(m, m.source, DAT_MEM_PRIV_REMOTE_READ_FLAG));
      windows.push_back(Cover(m, m.read_only, DAT_MEM_PRIV_REMOTE_READ_FLAG));
      windows.push_back(Cover(m, m.write_only, DAT_MEM_PRIV_REMOTE_WRITE_FLAG));
    }
    PostAll(m, program, bad);
    if (HasFatalFailure()) return;
    a_->ExpectConnection(a_->ep, DAT_CONNECTION_EVENT_BROKEN);
    b_->ExpectConnection(b_->ep, DAT_CONNECTION_EVENT_BROKEN);
    for (size_t i = 0; i < kRequests; ++i) {
      const auto done = a_->Next(a_->request_evd).event_data.dto_completion_event_data;
      EXPECT_EQ(done.user_cookie.as_64, i);
      if (const auto status = Status(program[i], i, bad)) {
        EXPECT_EQ(done.status, *status) << i;
      }
    }
    CheckReceives(m, program, bad);
    // Nothing more of them comes later either.
    ExpectNothingMore({a_->request_evd, b_->recv_evd, b_->request_evd});
    CheckTarget(m, program, bad);
    CheckAnswers(m, program, bad);
    for (const DAT_RMR_HANDLE window : windows) EXPECT_OK(dat_rmr_free(window));
    ResetBoth();
    Join();
  }
  // Checks only memory, whatever the initiator is told. Its device may not have learned how far the
  // target has come, or whether an answer was on its way.
  void RunUntold(const Program& program, size_t bad) {
    SCOPED_TRACE(Text(program, bad));
    Memory m(*a_, *b_, Rights(), false);
    PostAll(m, program, bad);
    if (HasFatalFailure()) return;
    a_->ExpectEnd(a_->ep);
    b_->ExpectEnd(b_->ep);
    std::map<uint64_t, DAT_DTO_COMPLETION_STATUS> statuses;
    for (size_t i = 0; i < kRequests; ++i) {
      const auto done = a_->Next(a_->request_evd).event_data.dto_completion_event_data;
      statuses[done.user_cookie.as_64] = done.status;
    }
    ASSERT_EQ(statuses.size(), kRequests) << "each request completes once";
    CheckReceives(m, program, bad);
    ExpectNothingMore({a_->request_evd, b_->recv_evd, b_->request_evd});
    CheckTarget(m, program, bad);
    for (size_t i = 0; i < kRequests; ++i) {
      if (program[i] != Kind::kRead) continue;
      const bool read = statuses[i] == DAT_DTO_SUCCESS;
      EXPECT_TRUE(!read || i < bad) << i;
      EXPECT_TRUE(Filled(m.local.data() + i * kSlot, kSlot, read ? 0x55 : kBlank)) << i;
    }
    EXPECT_TRUE(m.local.guards_intact());
    ResetBoth();
    Join();
  }
  // Makes a window of b over all of the buffer.
  DAT_RMR_HANDLE Cover(Memory& m, const Buffer& buffer, int rights) {
    DAT_RMR_HANDLE window = DAT_HANDLE_NULL;
    EXPECT_OK(dat_rmr_create(b_->pz, &window));
    const DAT_LMR_TRIPLET all = buffer.local();
    EXPECT_OK(BindRmr(window, buffer.lmr(), &all, static_cast<DAT_MEM_PRIV_FLAGS>(rights), b_->ep,
                      Cookie(90), DAT_COMPLETION_DEFAULT_FLAG, &m.contexts[&buffer]));
    const auto bound = b_->Expect(b_->request_evd, DAT_RMR_BIND_COMPLETION_EVENT)
                           .event_data.rmr_completion_event_data;
    EXPECT_EQ(bound.status, DAT_RMR_BIND_SUCCESS);
    return window;
  }
  void SetUp() override {
    ConnectedTest::SetUp();
    if (HasFatalFailure()) return;
    confirmed_ = ConfirmsCompletions(a_->ia);
    kinds_ = {Kind::kRead, Kind::kWrite, Kind::kSend};
    if (HasAtomics(a_->ia)) kinds_.push_back(Kind::kAtomic);
  }

  bool confirmed_ = false;
  bool through_windows_ = false;
  bool beyond_the_end_ = false;
  std::vector<Kind> kinds_;
};
CONFORMANCE_FAMILIES(RefusedAmongGoodTest);

// covers: semantics 10.3, 10.5
TEST_P(RefusedAmongGoodTest, OfOneKind) {
  for (const Kind good : kinds_) {
    for (const Kind refused : kinds_) {
      for (const size_t bad : {size_t{0}, kRequests / 2, kRequests - 1}) {
        Program program;
        program.fill(good);
        program[bad] = refused;
        Run(program, bad);
        if (HasFailure()) return;
      }
    }
  }
}

// This holds whatever the initiator is told.
TEST_P(RefusedAmongGoodTest, TheTargetCarriesOutWhatStandsInFrontAndNothingElse) {
  beyond_the_end_ = true;
  for (const Kind good : kinds_) {
    for (const Kind refused : kinds_) {
      for (const size_t bad : {size_t{0}, kRequests / 2, kRequests - 1}) {
        Program program;
        program.fill(good);
        program[bad] = refused;
        RunUntold(program, bad);
        if (HasFailure()) return;
      }
    }
  }
}

// All requests use the same key, so that the key does not tell which one was refused.
// covers: semantics 10.5
TEST_P(RefusedAmongGoodTest, BeyondTheEndOfTheSameRegion) {
  beyond_the_end_ = true;
  for (const Kind kind : {Kind::kRead, Kind::kWrite}) {
    for (size_t bad = 0; bad < kRequests; ++bad) {
      Program program;
      program.fill(kind);
      Run(program, bad);
      if (HasFailure()) return;
    }
  }
}

// The bad request begins in the place of the good one. Nothing has confirmed the good request
// before the bad one is refused.
// covers: semantics 7.3, 10.5
TEST_P(RefusedAmongGoodTest, WhereASuppressedOneWent) {
  const Memory m(*a_, *b_, DAT_MEM_PRIV_ALL_FLAG, false);
  ASSERT_OK(PostWrite(a_->ep, {m.from.local()}, m.Slot(m.target, kRequests - 1), 1,
                      DAT_COMPLETION_SUPPRESS_FLAG));
  DAT_RMR_TRIPLET beyond = m.target.remote(m.target.size() - 8, 8);
  beyond.segment_length = kSlot;
  ASSERT_OK(PostWrite(a_->ep, {m.from.local()}, beyond, 2));
  a_->ExpectDto(a_->request_evd, a_->ep, 2,
                confirmed_ ? DAT_DTO_ERR_REMOTE_ACCESS : DAT_DTO_SUCCESS);
  a_->ExpectConnection(a_->ep, DAT_CONNECTION_EVENT_BROKEN);
  b_->ExpectConnection(b_->ep, DAT_CONNECTION_EVENT_BROKEN);
  EXPECT_TRUE(Filled(m.target.data() + (kRequests - 1) * kSlot, kSlot, 0x77));
  EXPECT_TRUE(m.target.guards_intact());
  ExpectNothingMore({a_->request_evd});
}

TEST_P(RefusedAmongGoodTest, ThroughWindows) {
  if (!HasWindows(b_->ia)) {
    DAT_RMR_HANDLE window = DAT_HANDLE_NULL;
    EXPECT_TYPE(dat_rmr_create(b_->pz, &window), DAT_MODEL_NOT_SUPPORTED);
    return;
  }
  through_windows_ = true;
  for (const Kind good : {Kind::kRead, Kind::kWrite, Kind::kSend}) {
    for (const Kind refused : {Kind::kRead, Kind::kWrite}) {
      for (const size_t bad : {size_t{0}, kRequests / 2, kRequests - 1}) {
        Program program;
        program.fill(good);
        program[bad] = refused;
        Run(program, bad);
        if (HasFailure()) return;
      }
    }
  }
}

// covers: semantics 10.5
TEST_P(RefusedAmongGoodTest, InAnyMix) {
  uint32_t state = 20'091'218;
  for (int round = 0; round < 40; ++round) {
    Program program;
    for (Kind& kind : program) {
      state = state * 1'664'525 + 1'013'904'223;
      kind = kinds_[(state >> 16) % kinds_.size()];
    }
    Run(program, static_cast<size_t>(round) % kRequests);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace softdat::conformance
