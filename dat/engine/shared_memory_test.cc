// SPDX-License-Identifier: BSD-3-Clause
// Shared registrations: who may join which, and what a death leaves behind.
#include "dat/engine/shared_memory.h"

#include <fcntl.h>
#include <gtest/gtest.h>
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
#include <string>
#include <thread>
#include <vector>

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
    table_ = folder_ + "-" + std::to_string(geteuid());
    shared_ = Map(MAP_SHARED);
    other_ = Map(MAP_SHARED);
    private_ = Map(MAP_PRIVATE);
    cookie_.fill('c');
  }
  void TearDown() override {
    for (void* p : {shared_, other_, private_}) munmap(p, kLength);
    std::filesystem::remove_all(table_);
  }

  static void* Map(int kind) {
    void* p = mmap(nullptr, kLength, PROT_READ | PROT_WRITE, kind | MAP_ANONYMOUS, -1, 0);
    return p == MAP_FAILED ? nullptr : p;
  }
  auto Claim(void* p, uint64_t length) {
    return SharedMemoryClaim::Make(folder_, cookie_, p, length);
  }
  size_t Entries() {
    const auto files = std::filesystem::directory_iterator(table_);
    return static_cast<size_t>(std::distance(begin(files), end(files)));
  }

  // An entry as another program might leave it.
  int MakeEntry() {
    std::filesystem::create_directory(table_);
    std::string path = table_ + "/";
    for (size_t i = 0; i < cookie_.size(); ++i) path += "63";  // 'c'
    return open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  }

  std::string folder_;
  std::string table_;  // of this user
  void* shared_ = nullptr;
  void* other_ = nullptr;
  void* private_ = nullptr;
  Cookie cookie_{};
};

// covers: semantics 7.2
TEST_F(SharedMemoryTest, PrivateOrMissingMemoryIsRefused) {
  EXPECT_EQ(Claim(private_, kLength).status().code(), Code::kInvalidState);
  EXPECT_EQ(Claim(nullptr, 4096).status().code(), Code::kNotMapped);
}

// covers: semantics 7.2
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

// covers: semantics 7.2
TEST_F(SharedMemoryTest, ACookieNamesOneMemory) {
  const auto first = Claim(shared_, kLength);
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(Claim(other_, kLength).status().code(), Code::kInvalidState);
  EXPECT_EQ(Claim(static_cast<char*>(shared_) + 4096, 4096).status().code(), Code::kInvalidState);
}

// covers: semantics 7.2
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

// The child creates the registration, and is killed without any clean-up.
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

// Sets the umask for the length of a test.
class Umask {
 public:
  explicit Umask(mode_t mask) : before_(umask(mask)) {}
  ~Umask() { umask(before_); }

 private:
  const mode_t before_;
};

TEST_F(SharedMemoryTest, OnlyItsUserMayEnterWhateverTheUmask) {
  for (const mode_t mask : {0, 0077, 0777}) {
    const Umask in_force(mask);
    const auto claim = Claim(shared_, kLength);
    ASSERT_TRUE(claim.ok()) << claim.status().reason();
    struct stat folder {};
    ASSERT_EQ(stat(table_.c_str(), &folder), 0);
    EXPECT_EQ(folder.st_mode & 07777, 0700u);
    for (const auto& entry : std::filesystem::directory_iterator(table_)) {
      struct stat file {};
      ASSERT_EQ(stat(entry.path().c_str(), &file), 0);
      EXPECT_EQ(file.st_mode & 07777, 0600u);
    }
    EXPECT_EQ(Entries(), 1u);
    EXPECT_TRUE(Claim(shared_, kLength).ok()) << "mask " << mask;
    ASSERT_EQ(chmod(table_.c_str(), 0777), 0);  // the next claim undoes that
  }
}

// What the modes promise against another user. Only root can become another user.
TEST_F(SharedMemoryTest, AnotherUserHasATableOfTheirOwn) {
  if (geteuid() != 0) GTEST_SKIP() << "not root: there is no other user to be";
  constexpr uid_t kNobody = 65534;
  // Each user may go there, unlike to the folder of the test.
  char parent[] = "/tmp/shared_lmr_XXXXXX";
  ASSERT_NE(mkdtemp(parent), nullptr);
  ASSERT_EQ(chmod(parent, 01777), 0);
  folder_ = std::string(parent) + "/table";
  table_ = folder_ + "-0";
  {
    const auto claim = Claim(shared_, kLength);
    ASSERT_TRUE(claim.ok()) << claim.status().reason();
    const pid_t child = fork();
    if (child == 0) {
      if (setgid(kNobody) != 0 || setuid(kNobody) != 0) _exit(2);
      if (open(table_.c_str(), O_RDONLY | O_DIRECTORY) >= 0) _exit(3);
      if (!Claim(shared_, kLength).ok()) _exit(4);
      if (!Claim(other_, kLength).ok()) _exit(5);
      _exit(0);
    }
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status)) << status;
    EXPECT_EQ(WEXITSTATUS(status), 0);
  }
  // A folder under the right name that another user has made is not entered.
  ASSERT_EQ(chown(table_.c_str(), kNobody, kNobody), 0);
  const auto claim = Claim(shared_, kLength);
  EXPECT_EQ(claim.status().code(), Code::kNoResources);
  EXPECT_NE(claim.status().reason().find("SOFTDAT_SHARED_LMR_DIR"), std::string_view::npos)
      << claim.status().reason();
  std::filesystem::remove_all(parent);
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

TEST_F(SharedMemoryTest, AnEntryThatStaysLockedIsRefused) {
  const int fd = MakeEntry();
  ASSERT_GE(fd, 0);
  ASSERT_EQ(flock(fd, LOCK_EX), 0);
  const auto claim = Claim(shared_, kLength);
  EXPECT_EQ(claim.status().code(), Code::kNoResources);
  EXPECT_NE(claim.status().reason().find("locked"), std::string_view::npos);
  close(fd);
  EXPECT_TRUE(Claim(shared_, kLength).ok());
}

TEST_F(SharedMemoryTest, AnEntryOfAnotherFormIsRefused) {
  const int fd = MakeEntry();
  ASSERT_GE(fd, 0);
  ASSERT_EQ(flock(fd, LOCK_SH), 0);
  EXPECT_EQ(Claim(shared_, kLength).status().code(), Code::kNoResources) << "empty, and held";
  close(fd);
  EXPECT_TRUE(Claim(shared_, kLength).ok()) << "nobody holds it any more";
}

// Entries begin and end while others use them. Each claim must succeed, and nothing may be left.
TEST_F(SharedMemoryTest, ManyComeAndGoAtOnce) {
  constexpr int kThreads = 4, kRounds = 300;
  std::atomic<int> failed{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < kRounds; ++i) {
        const auto claim = Claim(shared_, kLength);
        if (!claim.ok() || Entries() == 0) ++failed;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failed, 0);
  EXPECT_EQ(Entries(), 0u);
}

}  // namespace
}  // namespace softdat::engine
