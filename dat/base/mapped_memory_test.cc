// SPDX-License-Identifier: BSD-3-Clause
// What may be registered and accessed, tested with every kind of memory that may not.
#include "dat/base/mapped_memory.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

namespace softdat {
namespace {

constexpr size_t kPage = 4096;

// Three pages of their own. Each test changes the middle one.
class MappedMemoryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto size = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    if (size != kPage) GTEST_SKIP() << "pages of " << size << " bytes";
    check_.Open();
    memory_ = static_cast<char*>(
        mmap(nullptr, 3 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(memory_, MAP_FAILED);
  }
  void TearDown() override {
    if (memory_ != nullptr) munmap(memory_, 3 * kPage);
  }
  char* middle() { return memory_ + kPage; }
  std::string Name(const void* page) {
    char text[32];
    std::snprintf(text, sizeof text, "0x%" PRIxPTR " ", reinterpret_cast<uintptr_t>(page));
    return text;
  }
  // Expects `code` from each check of the whole range, and that their reasons name the middle page.
  void ExpectAll(bool writes, Code code) {
    for (const Status& status : {CheckMapped(memory_ + 1, 3 * kPage - 2, writes),
                                 check_.Check(memory_ + 1, 3 * kPage - 2, writes),
                                 Unanswered()->Check(memory_ + 1, 3 * kPage - 2, writes),
                                 CheckAccessible(memory_ + 1, 3 * kPage - 2, writes)}) {
      EXPECT_EQ(status.code(), code) << status.reason();
      if (code == Code::kOk) continue;
      EXPECT_NE(status.reason().find(Name(middle())), std::string_view::npos) << status.reason();
    }
  }

  // A check that has to do without the kernel's answers, as before Linux 6.11.
  static std::unique_ptr<RegistrationCheck> Unanswered() {
    struct rlimit before {};
    EXPECT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
    const struct rlimit none { 0, before.rlim_max };
    EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
    auto check = std::make_unique<RegistrationCheck>();
    check->Open();
    EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
    EXPECT_FALSE(check->Ask(&before, sizeof before, true).has_value());
    return check;
  }

  RegistrationCheck check_;
  char* memory_ = nullptr;
};

TEST_F(MappedMemoryTest, OrdinaryMemoryIsFine) {
  ExpectAll(true, Code::kOk);
  ExpectAll(false, Code::kOk);
  int on_the_stack = 0;
  EXPECT_TRUE(CheckMapped(&on_the_stack, sizeof on_the_stack, true).ok());
  EXPECT_TRUE(CheckMapped("a constant", 10, false).ok());
  EXPECT_EQ(CheckMapped("a constant", 10, true).code(), Code::kPrivileges);
}

TEST_F(MappedMemoryTest, AHole) {
  ASSERT_EQ(munmap(middle(), kPage), 0);
  ExpectAll(false, Code::kNotMapped);
  EXPECT_TRUE(CheckMapped(memory_, kPage, true).ok());
  EXPECT_TRUE(CheckMapped(memory_ + 2 * kPage, kPage, true).ok());
}

TEST_F(MappedMemoryTest, NothingThere) {
  const auto low = reinterpret_cast<void*>(0x10000);  // NOLINT: an address is what it is about
  EXPECT_EQ(CheckMapped(low, 1, false).code(), Code::kNotMapped);
  const auto high = reinterpret_cast<void*>(UINTPTR_MAX - 2 * kPage);  // NOLINT
  EXPECT_EQ(CheckMapped(high, 1, false).code(), Code::kNotMapped);
}

TEST_F(MappedMemoryTest, AForbiddenPage) {
  ASSERT_EQ(mprotect(middle(), kPage, PROT_NONE), 0);
  ExpectAll(false, Code::kPrivileges);
}

TEST_F(MappedMemoryTest, APageToBeReadOnly) {
  ASSERT_EQ(mprotect(middle(), kPage, PROT_READ), 0);
  ExpectAll(true, Code::kPrivileges);
  ExpectAll(false, Code::kOk);
}

TEST_F(MappedMemoryTest, APageToBeWrittenOnly) {
  ASSERT_EQ(mprotect(middle(), kPage, PROT_WRITE), 0);
  ExpectAll(true, Code::kOk);
}

TEST_F(MappedMemoryTest, BehindTheEndOfAFile) {
  const int fd = memfd_create("mapped_memory_test", MFD_CLOEXEC);
  ASSERT_GE(fd, 0);
  ASSERT_EQ(ftruncate(fd, 3 * kPage), 0);
  auto* file =
      static_cast<char*>(mmap(nullptr, 3 * kPage, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
  ASSERT_NE(file, MAP_FAILED);
  EXPECT_TRUE(CheckMapped(file, 3 * kPage, true).ok());
  ASSERT_EQ(ftruncate(fd, 2 * kPage - 1), 0);
  if (madvise(file, kPage, 22 /* MADV_POPULATE_READ */) != 0) {
    GTEST_SKIP() << "this kernel does not tell (Linux 5.14 does)";
  }
  EXPECT_TRUE(CheckMapped(file, 2 * kPage, true).ok());
  EXPECT_TRUE(CheckAccessible(file, 2 * kPage, true).ok());
  for (const Status& status :
       {CheckMapped(file, 2 * kPage + 1, false), check_.Check(file, 2 * kPage + 1, false),
        Unanswered()->Check(file, 2 * kPage + 1, false)}) {
    EXPECT_EQ(status.code(), Code::kNotMapped);
    EXPECT_NE(status.reason().find(Name(file + 2 * kPage)), std::string_view::npos)
        << status.reason();
  }
  EXPECT_EQ(CheckAccessible(file + 8, 3 * kPage - 8, true).code(), Code::kNotMapped);
  munmap(file, 3 * kPage);
  close(fd);
}

TEST_F(MappedMemoryTest, ASparseRegionStaysSparse) {
  constexpr uint64_t kLength = uint64_t{64} << 30;
  void* const sparse = mmap(nullptr, kLength, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (sparse == MAP_FAILED) GTEST_SKIP() << "no 64 GiB of addresses";
  struct rusage before {
  }, after{};
  getrusage(RUSAGE_SELF, &before);
  EXPECT_TRUE(CheckMapped(sparse, kLength, true).ok());
  getrusage(RUSAGE_SELF, &after);
  EXPECT_LT(after.ru_minflt - before.ru_minflt, 100) << "page faults";
  munmap(sparse, kLength);
}

// Which of the pages are in memory.
std::vector<bool> Present(void* memory, size_t pages) {
  std::vector<unsigned char> flags(pages);
  EXPECT_EQ(mincore(memory, pages * kPage, flags.data()), 0);
  std::vector<bool> present;
  present.reserve(pages);
  for (const unsigned char flag : flags) present.push_back((flag & 1) != 0);
  return present;
}

TEST_F(MappedMemoryTest, WithoutAnswersAShortRegionIsBroughtIn) {
  EXPECT_EQ(Present(memory_, 3), std::vector<bool>(3, false));
  if (madvise(memory_, kPage, 23 /* MADV_POPULATE_WRITE */) != 0) {
    GTEST_SKIP() << "this kernel does not bring pages in (Linux 5.14 does)";
  }
  EXPECT_TRUE(Unanswered()->Check(middle(), kPage, true).ok());
  EXPECT_EQ(Present(memory_, 3), (std::vector<bool>{true, true, false}));
}

TEST_F(MappedMemoryTest, AnAnswerBringsNothingIn) {
  if (!check_.Ask(memory_, 3 * kPage, true)) {
    GTEST_SKIP() << "this kernel does not answer (Linux 6.11 does)";
  }
  EXPECT_TRUE(check_.Check(memory_, 3 * kPage, true).ok());
  EXPECT_EQ(Present(memory_, 3), std::vector<bool>(3, false));
}

TEST_F(MappedMemoryTest, ALongRegionIsNotBroughtIn) {
  constexpr size_t kPages = 256;
  void* const region =
      mmap(nullptr, kPages * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(region, MAP_FAILED);
  EXPECT_TRUE(check_.Check(region, kPages * kPage, true).ok());
  EXPECT_TRUE(Unanswered()->Check(region, kPages * kPage, true).ok());
  EXPECT_EQ(Present(region, kPages), std::vector<bool>(kPages, false));
  munmap(region, kPages * kPage);
}

// A program may close descriptors that are not its own, and open something else under the number.
TEST_F(MappedMemoryTest, ItsDescriptorIsTakenAway) {
  const int other = open("/dev/null", O_RDONLY | O_CLOEXEC);
  ASSERT_GE(other, 0);
  const int number = dup(other);  // the next one that is free
  ASSERT_EQ(close(number), 0);
  {
    RegistrationCheck check;
    check.Open();
    if (fcntl(number, F_GETFD) < 0) GTEST_SKIP() << "this kernel does not answer (Linux 6.11 does)";
    ASSERT_EQ(dup2(other, number), number);
    EXPECT_TRUE(check.Check(memory_, 3 * kPage, true).ok());
    ASSERT_EQ(munmap(middle(), kPage), 0);
    EXPECT_EQ(check.Check(memory_, 3 * kPage, true).code(), Code::kNotMapped);
  }
  EXPECT_GE(fcntl(number, F_GETFD), 0) << "it has closed what is not its own";
  close(number);
  close(other);
}

// Without a descriptor only holes are found.
TEST_F(MappedMemoryTest, OutOfDescriptors) {
  struct rlimit before {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const struct rlimit none { 0, before.rlim_max };
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  const Status whole = CheckMapped(memory_ + 1, 3 * kPage - 2, true);
  munmap(middle(), kPage);
  const Status holed = CheckMapped(memory_ + 1, 3 * kPage - 2, true);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_TRUE(whole.ok()) << whole.reason();
  EXPECT_EQ(holed.code(), Code::kNotMapped);
  EXPECT_NE(holed.reason().find(Name(middle())), std::string_view::npos) << holed.reason();
}

// For all that this process maps, the kernel's answers and its text are the same.
TEST_F(MappedMemoryTest, BothSourcesAgree) {
  ASSERT_EQ(mprotect(middle(), kPage, PROT_READ), 0);
  const int fd = memfd_create(std::string(200, 'n').c_str(), MFD_CLOEXEC);
  ASSERT_GE(fd, 0);
  ASSERT_EQ(ftruncate(fd, 2 * kPage), 0);
  void* const file = mmap(nullptr, kPage, PROT_READ, MAP_SHARED, fd, kPage);
  ASSERT_NE(file, MAP_FAILED);
  MappingReader best, text(MappingReader::Source::kText);
  ASSERT_TRUE(best.ok());
  ASSERT_TRUE(text.ok());
  int found = 0, shared = 0, fixed = 0;
  for (uint64_t at = 0;;) {
    Mapping a, b;
    const bool more = best.Find(at, &a);
    // Above the program's own addresses the text lists a page of the kernel's.
    if (!more) break;
    ASSERT_TRUE(text.Find(at, &b));
    if (a.begin >= uint64_t{1} << 47) break;
    EXPECT_EQ(a.begin, b.begin);
    EXPECT_EQ(a.end, b.end);
    EXPECT_EQ(a.readable, b.readable);
    EXPECT_EQ(a.writable, b.writable);
    EXPECT_EQ(a.shared, b.shared);
    EXPECT_EQ(a.device, b.device);
    EXPECT_EQ(a.inode, b.inode);
    EXPECT_EQ(a.offset, b.offset);
    ++found;
    shared += a.shared && a.begin == reinterpret_cast<uintptr_t>(file) && a.offset == kPage;
    fixed += a.begin == reinterpret_cast<uintptr_t>(middle()) && !a.writable;
    at = a.end;
  }
  EXPECT_GT(found, 10);
  EXPECT_EQ(shared, 1);
  EXPECT_EQ(fixed, 1);
  munmap(file, kPage);
  close(fd);
}

}  // namespace
}  // namespace softdat
