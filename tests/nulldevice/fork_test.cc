// SPDX-License-Identifier: BSD-3-Clause
// A program forks while another thread of it is inside librdmacm or libibverbs, which have locks
// that fork does not know. The child opens an IA of its own.
#include <dat2/udat.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>

#include "tests/nulldevice/null_verbs.h"
#include "tests/nulldevice/step_counter.h"

namespace softdat::nulldevice {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr unsigned kPatienceS = 20;

DAT_RETURN Open(DAT_IA_HANDLE* ia) {
  std::string name = "ours";
  DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
  return dat_ia_open(name.data(), 8, &async, ia);
}

class ForkTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto conf = std::filesystem::path(testing::TempDir()) / "dat.conf";
    std::ofstream(conf) << OurLine();
    setenv("DAT_OVERRIDE", conf.c_str(), 1);
    ASSERT_EQ(Open(&ia_), DAT_SUCCESS);
    ASSERT_EQ(dat_evd_create(ia_, 8, DAT_HANDLE_NULL, DAT_EVD_CR_FLAG, &requests_), DAT_SUCCESS);
  }
  void TearDown() override {
    HoldNullLibraries({});
    if (ia_ != DAT_HANDLE_NULL) {
      EXPECT_EQ(dat_ia_close(ia_, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS);
    }
  }

  // Forks. Returns the exit status of the child, which opens an IA, or the negative number of the
  // signal that has ended it.
  static int StatusOfChild() {
    const pid_t child = fork();
    if (child == 0) {
      HoldNullLibraries({});
      alarm(kPatienceS);
      DAT_IA_HANDLE own = DAT_HANDLE_NULL;
      _exit(Open(&own) == DAT_SUCCESS && dat_ia_close(own, DAT_CLOSE_ABRUPT_FLAG) == DAT_SUCCESS
                ? 0
                : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

  DAT_IA_HANDLE ia_ = DAT_HANDLE_NULL;
  DAT_EVD_HANDLE requests_ = DAT_HANDLE_NULL;
};

// covers: semantics 14
TEST_F(ForkTest, TheChildOpensAnIaWhateverTheParentsThreadsDo) {
  HoldNullLibraries(microseconds(200));
  std::atomic<bool> stop{false};
  std::atomic<int> rounds{0};
  std::thread listens([&] {
    for (; !stop; ++rounds) {
      DAT_PSP_HANDLE service = DAT_HANDLE_NULL;
      EXPECT_EQ(dat_psp_create(ia_, 4711, requests_, DAT_PSP_CONSUMER_FLAG, &service), DAT_SUCCESS);
      EXPECT_EQ(dat_psp_free(service), DAT_SUCCESS);
    }
  });
  std::thread opens([&] {
    for (; !stop; ++rounds) {
      DAT_IA_HANDLE other = DAT_HANDLE_NULL;
      EXPECT_EQ(Open(&other), DAT_SUCCESS);
      EXPECT_EQ(dat_ia_close(other, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS);
    }
  });
  int status = 0;
  for (int i = 0; i < 20 && status == 0; ++i) {
    const int before = rounds;
    while (rounds == before) std::this_thread::yield();
    std::this_thread::sleep_for(microseconds(30 * i));  // each time at another point of a call
    status = StatusOfChild();
  }
  EXPECT_EQ(status, 0);
  stop = true;
  listens.join();
  opens.join();
}

// A call that stays in the kernel for seconds, like the end of an attempt over iWARP that was given
// up, holds nothing that a child needs.
TEST_F(ForkTest, ALongCallHoldsUpAForkForASecond) {
  DAT_PSP_HANDLE service = DAT_HANDLE_NULL;
  ASSERT_EQ(dat_psp_create(ia_, 4711, requests_, DAT_PSP_CONSUMER_FLAG, &service), DAT_SUCCESS);
  HoldNullLibraries(seconds(3));
  std::thread ends([&] { EXPECT_EQ(dat_psp_free(service), DAT_SUCCESS); });
  std::this_thread::sleep_for(milliseconds(200));
  const auto start = std::chrono::steady_clock::now();
  const pid_t child = fork();
  if (child == 0) _exit(0);
  const auto took = std::chrono::steady_clock::now() - start;
  HoldNullLibraries({});  // the next ones
  EXPECT_GT(took, milliseconds(500)) << "the call was not seen";
  EXPECT_LT(took, milliseconds(2000));
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  ends.join();
}

}  // namespace
}  // namespace softdat::nulldevice
