// SPDX-License-Identifier: BSD-3-Clause
// Hundreds of opens and closes of an IA in one process, with traffic in between. No descriptor,
// thread or memory is left behind.
#include <memory>
#include <set>
#include <vector>

#include "tests/field/field.h"
#include "tests/field/process.h"

namespace softdat::field {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kOpens = 60;
constexpr bool kCountMemory = false;  // the sanitizer keeps freed memory for a while
#else
constexpr int kOpens = 400;
constexpr bool kCountMemory = true;
#endif

void UseOnce(DAT_CLOSE_FLAGS flags) {
  Ia ia;
  if (flags == DAT_CLOSE_GRACEFUL_FLAG) {
    {
      Memory memory(ia, 65536);
      End a(ia);
      End b(ia);
      ASSERT_TRUE(Join(a, b));
      ASSERT_DAT_OK(PostReceive(b.ep, memory.Local(0, 64), 1));
      ASSERT_DAT_OK(PostSend(a.ep, memory.Local(64, 64), 2));
      ASSERT_TRUE(ExpectDto(b.recv_evd, 1, 64));
      ASSERT_TRUE(ExpectDto(a.request_evd, 2, 64));
    }
    EXPECT_DAT_OK(ia.Close(flags));
    return;
  }
  // Closes in the middle of everything.
  Memory memory(ia, 65536);
  End a(ia);
  End b(ia);
  ASSERT_TRUE(Join(a, b));
  ASSERT_DAT_OK(PostSend(a.ep, memory.Local(0, 64), 1));
  ASSERT_DAT_OK(PostReceive(b.ep, memory.Local(64, 64), 2));
  EXPECT_DAT_OK(ia.Close(flags));
}

class OpenCloseTest : public testing::TestWithParam<DAT_CLOSE_FLAGS> {};

TEST_P(OpenCloseTest, NothingIsLeftBehind) {
  // The first rounds pay for things that stay: tables, arenas of the allocator, the library itself.
  for (int i = 0; i < kOpens / 4; ++i) UseOnce(GetParam());
  const std::set<int> fds = OpenDescriptors();
  const size_t threads = Threads();
  const size_t memory = PrivateBytes();
  for (int i = 0; i < kOpens && !HasFatalFailure(); ++i) UseOnce(GetParam());
  EXPECT_EQ(OpenDescriptors(), fds);
  EXPECT_EQ(Threads(), threads);
  if (kCountMemory) {
    // Handles are quarantined for a while: 64 bytes each, about ten for each open.
    EXPECT_LT(PrivateBytes(), memory + kOpens * 2048 + (size_t{1} << 20));
  }
}

INSTANTIATE_TEST_SUITE_P(, OpenCloseTest,
                         testing::Values(DAT_CLOSE_GRACEFUL_FLAG, DAT_CLOSE_ABRUPT_FLAG),
                         [](const auto& p) {
                           return p.param == DAT_CLOSE_GRACEFUL_FLAG ? "Graceful" : "Abrupt";
                         });

TEST(ManyOpensTest, ManyAtOnce) {
  UseOnce(DAT_CLOSE_GRACEFUL_FLAG);
  const std::set<int> fds = OpenDescriptors();
  const size_t threads = Threads();
  {
    std::vector<std::unique_ptr<Ia>> ias;
    for (int i = 0; i < 64; ++i) ias.push_back(std::make_unique<Ia>());
    // All of them work. The first one communicates with the last.
    End a(*ias.front());
    End b(*ias.back());
    EXPECT_TRUE(Join(a, b));
  }
  EXPECT_EQ(OpenDescriptors(), fds);
  EXPECT_EQ(Threads(), threads);
}

}  // namespace
}  // namespace softdat::field
