// SPDX-License-Identifier: BSD-3-Clause
// A program that leaves by exit() in the handler of a signal (semantics 14).
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/field/field.h"
#include "tests/field/process.h"

namespace softdat::field {
namespace {

// Posts and polls until the process ends. Says so once when it has begun.
[[noreturn]] void ExchangeForEver(int begun) {
  Ia ia;
  Memory memory(ia, 4096);
  End a(ia);
  End b(ia);
  if (!Join(a, b)) _exit(2);
  for (uint64_t i = 0;; ++i) {
    if (!PostReceive(b.ep, memory.Local(0, 8), i).ok()) _exit(3);
    if (!PostSend(a.ep, memory.Local(8, 8), i).ok()) _exit(4);
    for (const client::Evd* evd : {&b.recv_evd, &a.request_evd}) {
      DAT_EVENT event{};
      while (dat_evd_dequeue(*evd, &event) != DAT_RETURN{DAT_SUCCESS}) {
      }
    }
    if (i == 100 && write(begun, "b", 1) != 1) _exit(5);
  }
}

// A handler that calls exit() interrupts a thread in the midst of a post or a poll, which may hold
// the library's locks. The process ends all the same.
// covers: semantics 14
TEST(HandlerExitTest, EndsAProcessInTheMidstOfTraffic) {
  constexpr int kRounds = 40;
  constexpr int kStepUs = 83;  // each round meets another moment
  for (int round = 0; round < kRounds; ++round) {
    int fds[2];
    ASSERT_EQ(pipe(fds), 0);
    const int child = StartChild([&]() -> int {
      struct sigaction action = {};
      action.sa_handler = [](int) { exit(0); };
      sigaction(SIGTERM, &action, nullptr);
      ExchangeForEver(fds[1]);
    });
    close(fds[1]);
    char byte = 0;
    EXPECT_EQ(read(fds[0], &byte, 1), 1);
    close(fds[0]);
    usleep(static_cast<useconds_t>(round * kStepUs));
    kill(child, SIGTERM);
    ASSERT_EQ(WaitForChild(child), 0) << "round " << round;
  }
}

}  // namespace
}  // namespace softdat::field
