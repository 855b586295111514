// SPDX-License-Identifier: BSD-3-Clause
// Shared registrations: who may join which, and what a death leaves behind.
#include "dat/engine/shared_memory.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

namespace softdat::engine {
namespace {

constexpr size_t kLength = 3 * 4096;
using Cookie = std::array<char, DAT_LMR_COOKIE_SIZE>;

class SharedMemoryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ =
        std::string(std::getenv("TEST_TMPDIR") != nullptr ? std::getenv("TEST_TMPDIR") : "/tmp") +
        "/shared_lmr_" + std::to_string(getpid());
    shared_ = Map(MAP_SHARED);
    other_ = Map(MAP_SHARED);
    private_ = Map(MAP_PRIVATE);
    cookie_.fill('c');
  }
  void TearDown() override {
    for (void* p : {shared_, other_, private_}) munmap(p, kLength);
    std::filesystem::remove_all(folder_);
  }

  static void* Map(int kind) {
    void* p = mmap(nullptr, kLength, PROT_READ | PROT_WRITE, kind | MAP_ANONYMOUS, -1, 0);
    return p == MAP_FAILED ? nullptr : p;
  }
  auto Claim(void* p, uint64_t length) {
    return SharedMemoryClaim::Make(folder_, cookie_, p, length);
  }
  size_t Entries() {
    const auto files = std::filesystem::directory_iterator(folder_);
    return static_cast<size_t>(std::distance(begin(files), end(files)));
  }

  std::string folder_;
  void* shared_ = nullptr;
  void* other_ = nullptr;
  void* private_ = nullptr;
  Cookie cookie_{};
};

TEST_F(SharedMemoryTest, PrivateOrMissingMemoryIsRefused) {
  EXPECT_EQ(Claim(private_, kLength).status().code(), Code::kInvalidState);
  EXPECT_EQ(Claim(nullptr, 4096).status().code(), Code::kInvalidState);
}

TEST_F(SharedMemoryTest, TheSameMemoryJoinsAndTheLastOneRemovesTheEntry) {
  auto first = Claim(shared_, kLength);
  ASSERT_TRUE(first.ok()) << first.status().reason();
  auto second = Claim(shared_, kLength);
  ASSERT_TRUE(second.ok()) << second.status().reason();
  first.value().reset();
  EXPECT_EQ(Entries(), 1u);
  second.value().reset();
  EXPECT_EQ(Entries(), 0u);
}

TEST_F(SharedMemoryTest, ACookieNamesOneMemory) {
  const auto first = Claim(shared_, kLength);
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(Claim(other_, kLength).status().code(), Code::kInvalidState);
  EXPECT_EQ(Claim(static_cast<char*>(shared_) + 4096, 4096).status().code(), Code::kInvalidState);
}

TEST_F(SharedMemoryTest, AllBytesOfTheCookieCount) {
  const auto first = Claim(shared_, kLength);
  ASSERT_TRUE(first.ok());
  cookie_ = Cookie{};  // a text comparison would stop at the first byte
  cookie_[39] = 1;
  const auto second = Claim(other_, kLength);
  EXPECT_TRUE(second.ok());
  cookie_[39] = 2;
  EXPECT_TRUE(Claim(shared_, kLength).ok());
  EXPECT_EQ(Entries(), 2u) << "the third one is gone again";
}

// The child creates the registration and is killed by itself, without any clean-up.
TEST_F(SharedMemoryTest, SurvivesItsCreatorAndForgetsTheDead) {
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    auto claim = Claim(shared_, kLength);
    const char ok = claim.ok() ? 'y' : 'n';
    [[maybe_unused]] const ssize_t n = write(ready[1], &ok, 1);
    pause();
    _exit(0);
  }
  char ok = 0;
  ASSERT_EQ(read(ready[0], &ok, 1), 1);
  ASSERT_EQ(ok, 'y');
  EXPECT_EQ(Claim(other_, kLength).status().code(), Code::kInvalidState);
  auto joined = Claim(shared_, kLength);
  ASSERT_TRUE(joined.ok());
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_EQ(Claim(other_, kLength).status().code(), Code::kInvalidState) << "held by the survivor";
  joined.value().reset();
  EXPECT_TRUE(Claim(other_, kLength).ok()) << "nobody holds it any more";
  close(ready[0]);
  close(ready[1]);
}

// A umask for the time of a test.
class Umask {
 public:
  explicit Umask(mode_t mask) : before_(umask(mask)) {}
  ~Umask() { umask(before_); }

 private:
  const mode_t before_;
};

TEST_F(SharedMemoryTest, EveryUserMayJoinWhateverTheUmask) {
  const Umask mask(077);
  const auto claim = Claim(shared_, kLength);
  ASSERT_TRUE(claim.ok()) << claim.status().reason();
  struct stat folder {};
  ASSERT_EQ(stat(folder_.c_str(), &folder), 0);
  EXPECT_EQ(folder.st_mode & 07777, 01777u);
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    struct stat file {};
    ASSERT_EQ(stat(entry.path().c_str(), &file), 0);
    EXPECT_EQ(file.st_mode & 07777, 0666u);
  }
  EXPECT_EQ(Entries(), 1u);
}

// What the modes promise, by another user: only root can become one.
TEST_F(SharedMemoryTest, AnotherUserJoinsAndTakesOver) {
  if (geteuid() != 0) GTEST_SKIP() << "not root: there is no other user to be";
  constexpr uid_t kNobody = 65534;
  // Where each user may go, unlike the folder of the test.
  char parent[] = "/tmp/shared_lmr_XXXXXX";
  ASSERT_NE(mkdtemp(parent), nullptr);
  ASSERT_EQ(chmod(parent, 0755), 0);
  folder_ = std::string(parent) + "/table";
  const Umask mask(077);
  // Whether another user can register `memory`.
  const auto by_another = [this](void* memory) {
    const pid_t child = fork();
    if (child == 0) {
      if (setgid(kNobody) != 0 || setuid(kNobody) != 0) _exit(2);
      const auto claim = Claim(memory, kLength);
      if (!claim.ok()) fprintf(stderr, "%s\n", std::string(claim.status().reason()).c_str());
      // Root's entry stays in a sticky folder when the other user's claim ends.
      _exit(claim.ok() ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  };
  {
    const auto claim = Claim(shared_, kLength);
    ASSERT_TRUE(claim.ok()) << claim.status().reason();
    EXPECT_EQ(by_another(shared_), 0);
    EXPECT_EQ(by_another(other_), 1) << "the cookie names other memory";
  }
  // Made by the other user, who dies with it: root joins a foreign file in a sticky folder.
  EXPECT_EQ(by_another(shared_), 0);
  EXPECT_EQ(Entries(), 1u);
  EXPECT_TRUE(Claim(other_, kLength).ok());
  folder_ = parent;
}

TEST_F(SharedMemoryTest, AnEntryOfTheDeadIsTakenOver) {
  const pid_t child = fork();
  if (child == 0) {
    auto claim = Claim(shared_, kLength);
    _exit(claim.ok() ? (kill(getpid(), SIGKILL), 1) : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(Entries(), 1u);
  EXPECT_TRUE(Claim(other_, kLength).ok());
}

// Not under ThreadSanitizer: it calls a signal handler late, when the thread has left its system
// call for good, and this test waits for the handler meanwhile.
#if !defined(__SANITIZE_THREAD__)
// The first holder fills its entry in under an exclusive lock; who comes meanwhile waits for it,
// whatever signals arrive.
TEST_F(SharedMemoryTest, ASignalDoesNotEndTheWaitForTheFirstHolder) {
  std::filesystem::create_directory(folder_);
  std::string path = folder_ + "/";
  for (size_t i = 0; i < cookie_.size(); ++i) path += "63";  // 'c'
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  ASSERT_GE(fd, 0);
  ASSERT_EQ(flock(fd, LOCK_EX), 0);
  static std::atomic<int> signals{0};
  struct sigaction counted {};
  counted.sa_handler = [](int) { ++signals; };  // without SA_RESTART
  struct sigaction before {};
  ASSERT_EQ(sigaction(SIGUSR1, &counted, &before), 0);
  std::atomic<int> tid{0};
  Code code = Code::kInternal;
  std::thread joiner([&] {
    tid = gettid();
    code = Claim(shared_, kLength).status().code();
  });
  while (tid == 0) sched_yield();
  const std::string stat = "/proc/self/task/" + std::to_string(tid) + "/stat";
  const auto gone_or_asleep = [&] {
    std::ifstream file(stat);
    std::string line;
    if (!std::getline(file, line)) return true;
    return line.find(") S ") != std::string::npos;
  };
  for (int sent = 1; sent <= 10; ++sent) {
    while (!gone_or_asleep()) sched_yield();
    if (!std::filesystem::exists(stat)) break;
    pthread_kill(joiner.native_handle(), SIGUSR1);
    while (signals < sent && std::filesystem::exists(stat)) sched_yield();
  }
  EXPECT_EQ(flock(fd, LOCK_UN), 0);
  joiner.join();
  close(fd);
  EXPECT_EQ(code, Code::kOk);
  EXPECT_EQ(signals, 10);
  sigaction(SIGUSR1, &before, nullptr);
}
#endif

}  // namespace
}  // namespace softdat::engine
