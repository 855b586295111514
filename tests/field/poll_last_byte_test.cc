// SPDX-License-Identifier: BSD-3-Clause
// Programs poll the last byte of a buffer that the peer writes by RDMA, and make no DAT call
// meanwhile. The write goes on without them, and the last byte changes last (semantics 10.3).
#include <atomic>
#include <cstring>
#include <thread>

#include "tests/field/field.h"
#include "tests/field/process.h"

namespace softdat::field {
namespace {

constexpr size_t kBytes = 64 * 1024 + 3;
constexpr int kRounds = 40;

uint8_t LastByte(const Memory& memory, size_t length) {
  return __atomic_load_n(memory.data() + length - 1, __ATOMIC_ACQUIRE);
}

// The writer is another thread of this process, with an IA of its own. It waits for its
// completions.
// covers: semantics 10.3
TEST(PollLastByteTest, TheTargetMakesNoCall) {
  Ia target_ia;
  Ia writer_ia;
  Memory target(target_ia, kBytes);
  Memory source(writer_ia, kBytes);
  End passive(target_ia);
  End active(writer_ia);
  ASSERT_TRUE(Join(active, passive));
  std::atomic<int> polled{0};
  std::jthread writer([&] {
    for (int round = 1; round <= kRounds; ++round) {
      std::memset(source.data(), round, kBytes);
      EXPECT_DAT_OK(PostWrite(active.ep, source.Local(0, kBytes), target.Remote(0, kBytes),
                              static_cast<uint64_t>(round)));
      EXPECT_TRUE(ExpectDto(active.request_evd, static_cast<uint64_t>(round), kBytes));
      // The next write must not overtake the check of this one.
      EXPECT_TRUE(Eventually([&] { return polled.load() == round; }));
    }
  });
  for (int round = 1; round <= kRounds; ++round) {
    const auto value = static_cast<uint8_t>(round);
    EXPECT_TRUE(Eventually([&] { return LastByte(target, kBytes) == value; })) << "round " << round;
    size_t wrong = 0;
    for (size_t i = 0; i < kBytes; ++i) wrong += target.data()[i] != value;
    EXPECT_EQ(wrong, 0u) << "bytes that came after the last one, in round " << round;
    polled.store(round);
  }
  writer.join();
}

// Many small writes go on at the same time. Each is polled at its own last byte.
// covers: semantics 10.3
TEST(PollLastByteTest, ManyMailboxes) {
  constexpr size_t kBoxes = 16;
  constexpr size_t kBox = 96;
  Ia target_ia;
  Ia writer_ia;
  Memory target(target_ia, kBoxes * kBox);
  Memory source(writer_ia, kBoxes * kBox);
  End passive(target_ia);
  End active(writer_ia);
  ASSERT_TRUE(Join(active, passive));
  std::memset(source.data(), 0x5A, kBoxes * kBox);
  for (size_t i = 0; i < kBoxes; ++i) {
    ASSERT_DAT_OK(PostWrite(active.ep, source.Local(i * kBox, kBox), target.Remote(i * kBox, kBox),
                            i, DAT_COMPLETION_SUPPRESS_FLAG));
  }
  for (size_t i = 0; i < kBoxes; ++i) {
    ASSERT_TRUE(Eventually([&] {
      return __atomic_load_n(target.data() + (i + 1) * kBox - 1, __ATOMIC_ACQUIRE) == 0x5A;
    })) << "mailbox "
        << i;
    for (size_t k = i * kBox; k < (i + 1) * kBox; ++k) ASSERT_EQ(target.data()[k], 0x5A);
  }
}

}  // namespace
}  // namespace softdat::field
