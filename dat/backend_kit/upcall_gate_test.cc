// SPDX-License-Identifier: BSD-3-Clause
// Closing a gate waits for the upcalls of other threads, and not for the caller's own.
#include "dat/backend_kit/upcall_gate.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace softdat {
namespace {

bool Opens(UpcallGate& gate) { return UpcallGate::Pass(gate).open(); }

TEST(UpcallGateTest, OpenUntilItIsClosed) {
  UpcallGate gate;
  EXPECT_TRUE(Opens(gate));
  EXPECT_TRUE(Opens(gate)) << "again, after the first pass has ended";
  gate.Close();
  EXPECT_FALSE(Opens(gate));
  gate.Close();
}

TEST(UpcallGateTest, ClosingWaitsForAnotherThreadsUpcall) {
  UpcallGate gate;
  std::atomic<bool> inside{false};
  std::atomic<bool> upcall_over{false};
  std::thread upcall([&] {
    const UpcallGate::Pass pass(gate);
    inside = true;
    // As soon as the other thread is in Close(), no pass opens any more.
    while (Opens(gate)) std::this_thread::yield();
    upcall_over = true;
  });
  while (!inside) std::this_thread::yield();
  gate.Close();
  EXPECT_TRUE(upcall_over);
  upcall.join();
}

TEST(UpcallGateTest, AnUpcallClosesItsOwnGate) {
  UpcallGate gate;
  const UpcallGate::Pass pass(gate);
  ASSERT_TRUE(pass.open());
  gate.Close();
  EXPECT_FALSE(Opens(gate));
}

// An upcall may call a function of the consumer that makes another upcall. Both belong to the
// thread that closes.
TEST(UpcallGateTest, NestedUpcallsAreAllOnesOwn) {
  UpcallGate outer;
  UpcallGate inner;
  const UpcallGate::Pass first(outer);
  const UpcallGate::Pass second(inner);
  const UpcallGate::Pass third(outer);
  outer.Close();
  inner.Close();
  EXPECT_FALSE(Opens(outer));
  EXPECT_FALSE(Opens(inner));
}

TEST(UpcallGateTest, OnesOwnUpcallDoesNotStandForAnothers) {
  UpcallGate gate;
  std::atomic<bool> inside{false};
  std::atomic<bool> upcall_over{false};
  std::thread upcall([&] {
    const UpcallGate::Pass pass(gate);
    inside = true;
    while (Opens(gate)) std::this_thread::yield();
    upcall_over = true;
  });
  const UpcallGate::Pass own(gate);
  while (!inside) std::this_thread::yield();
  gate.Close();
  EXPECT_TRUE(upcall_over);
  upcall.join();
}

// A pass that did not open counts neither as running nor as the thread's own.
TEST(UpcallGateTest, APassThatDidNotOpenLeavesNoTrace) {
  UpcallGate closed;
  closed.Close();
  UpcallGate gate;
  {
    const UpcallGate::Pass shut(closed);
    EXPECT_FALSE(shut.open());
    const UpcallGate::Pass open(gate);
    EXPECT_TRUE(open.open());
    gate.Close();
  }
  closed.Close();
  EXPECT_FALSE(Opens(gate));
}

}  // namespace
}  // namespace softdat
