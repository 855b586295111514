// SPDX-License-Identifier: BSD-3-Clause
// What can be read and written where: mappings of every kind, with the system calls that are usual
// and without those that a kernel or a sandbox may lack.
#include "rds/socket/program_memory.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "dat/base/mapped_memory.h"
#include "rds/socket/test_pages.h"

namespace softdat::rds {
namespace {

// ---- rights ----

struct RightsCase {
  const char* what;
  const char* kinds;
  uint64_t offset;  // in the first page
  uint64_t bytes;
  bool readable, writable;
};

// The size of a page is written as 4096 here, and is what it is on the machine.
constexpr uint64_t kP = 4096;
const RightsCase kRights[] = {
    {"one octet", "w", 0, 1, true, true},
    {"the last octet of a page", "w", kP - 1, 1, true, true},
    {"a whole page", "w", 0, kP, true, true},
    {"two pages", "ww", 0, 2 * kP, true, true},
    {"an octet on each side", "ww", kP - 1, 2, true, true},
    {"many pages", "wwwwwwww", 5, 7 * kP, true, true},
    {"only to be read", "r", 0, kP, true, false},
    {"only to be read, two pages", "rr", 10, kP, true, false},
    {"the last page is only to be read", "wwr", 0, 2 * kP + 1, true, false},
    {"right before what can only be read", "wwr", 0, 2 * kP, true, true},
    {"the first page is only to be read", "rww", kP - 1, kP, true, false},
    {"neither", "-", 8, 8, false, false},
    {"neither, two pages", "--", 0, 2 * kP, false, false},
    {"not there", " ", 0, 1, false, false},
    {"not there, three pages", "   ", 0, 3 * kP, false, false},
    {"a hole in the middle", "w w", 0, 3 * kP, false, false},
    {"up to a hole", "w w", 0, kP, true, true},
    {"an octet into a hole", "w w", 0, kP + 1, false, false},
    {"a page without rights in the middle", "ww-ww", 0, 5 * kP, false, false},
    {"nothing, of what is there", "w", 0, 0, true, true},
    {"nothing, of what is not there", " ", 0, 0, true, true},
};

uint64_t Scaled(uint64_t bytes) { return bytes / kP * kPage + bytes % kP; }

// The last octet of a page is where the page ends, whatever its size.
uint64_t ScaledOffset(uint64_t offset) { return offset == kP - 1 ? kPage - 1 : offset; }

int FailedRights() {
  int failed = 0;
  for (const RightsCase& c : kRights) {
    const Pages pages(c.kinds);
    const Area area{pages.at(0, ScaledOffset(c.offset)), Scaled(c.bytes)};
    const bool readable = IsReadable(area), writable = IsWritable(area);
    if (readable == c.readable && writable == c.writable) continue;
    ++failed;
    std::fprintf(stderr, "%s: readable %d, writable %d\n", c.what, readable, writable);
  }
  return failed;
}

TEST(ProgramMemoryTest, RightsOfMappings) { EXPECT_EQ(FailedRights(), 0); }

TEST(ProgramMemoryTest, AddressesThatNoProgramHas) {
  const Pages pages("w");
  const uint64_t to_the_end = 0 - pages.at(0);
  for (const Area& area : std::initializer_list<Area>{
           {0, 1},
           {0, 8},
           {8, 8},
           {0, UINT64_MAX},
           {uint64_t{1} << 63, 1},
           {UINT64_MAX, 1},
           {UINT64_MAX - 7, 8},
           {UINT64_MAX - 7, 9},
           {0 - kPage, kPage},
           {0 - 2 * kPage, kPage},
           {UINT64_MAX, UINT64_MAX},
           {pages.at(0), to_the_end - 1},
           {pages.at(0), to_the_end},
           {pages.at(0), to_the_end + 1},
           {pages.at(0), UINT64_MAX},
       }) {
    SCOPED_TRACE(testing::Message() << std::hex << area.address << " + " << area.bytes);
    EXPECT_FALSE(IsReadable(area));
    EXPECT_FALSE(IsWritable(area));
  }
}

TEST(ProgramMemoryTest, BeyondTheEndOfAFile) {
  std::FILE* const file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  ASSERT_EQ(ftruncate(fileno(file), static_cast<off_t>(kPage)), 0);
  for (const int flags : {MAP_SHARED, MAP_PRIVATE}) {
    void* const at = mmap(nullptr, 3 * kPage, PROT_READ | PROT_WRITE, flags, fileno(file), 0);
    ASSERT_NE(at, MAP_FAILED);
    const auto address = reinterpret_cast<uint64_t>(at);
    EXPECT_TRUE(IsReadable({address, kPage}));
    EXPECT_TRUE(IsWritable({address, kPage}));
    EXPECT_FALSE(IsReadable({address + kPage, 1}));
    EXPECT_FALSE(IsWritable({address + kPage, 1}));
    EXPECT_FALSE(IsReadable({address, 2 * kPage}));
    EXPECT_FALSE(IsWritable({address, 2 * kPage}));
    munmap(at, 3 * kPage);
  }
  std::fclose(file);
}

struct ManyCase {
  const char* what;
  const char* kinds;
  std::vector<std::pair<size_t, size_t>> areas;  // octet from the start, and how many
  bool writable;
};

TEST(ProgramMemoryTest, ManyAreas) {
  const ManyCase cases[] = {
      {"none", "w", {}, true},
      {"pieces of a page", "w", {{0, 16}, {16, 16}, {64, 8}}, true},
      {"the same twice", "w", {{0, 16}, {0, 16}}, true},
      {"neighbours", "ww", {{0, kPage}, {kPage, kPage}}, true},
      {"backwards", "ww", {{kPage, kPage}, {0, kPage}}, true},
      {"a hole between them", "w w", {{0, kPage}, {2 * kPage, kPage}}, true},
      {"the first is bad", "rww", {{0, 8}, {kPage, 8}, {2 * kPage, 8}}, false},
      {"one in the middle is bad", "wrw", {{0, 8}, {kPage, 8}, {2 * kPage, 8}}, false},
      {"the last is bad", "wwr", {{0, 8}, {kPage, 8}, {2 * kPage, 8}}, false},
      {"the last is bad, and not a neighbour",
       "w w-",
       {{0, 8}, {2 * kPage, 8}, {3 * kPage, 8}},
       false},
      {"the second lies inside of the first", "wwr", {{0, 2 * kPage}, {8, 8}}, true},
      {"an empty one in what is bad", "w-", {{0, 8}, {kPage, 0}, {8, 8}}, true},
      {"only an empty one", "-", {{0, 0}}, true},
      {"one that wraps", "w", {{0, 8}, {8, SIZE_MAX}}, false},
  };
  for (const ManyCase& c : cases) {
    SCOPED_TRACE(c.what);
    const Pages pages(c.kinds);
    std::vector<Area> areas;
    for (const auto& [from, bytes] : c.areas) areas.push_back({pages.at(0) + from, bytes});
    EXPECT_EQ(AreWritable(areas), c.writable);
  }
}

TEST(ProgramMemoryTest, ManyAreasToBeRead) {
  const Pages pages("rw-");
  EXPECT_TRUE(AreReadable(std::vector<Area>{{pages.at(0), 8}, {pages.at(1), 8}}));
  EXPECT_FALSE(AreReadable(std::vector<Area>{{pages.at(0), 8}, {pages.at(2), 8}}));
}

// What a child maps and unmaps is not its parent's.
TEST(ProgramMemoryTest, AChildHasMappingsOfItsOwn) {
  const Pages pages("www");
  const Area area{pages.at(0), 3 * kPage};
  ASSERT_TRUE(IsWritable(area));
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ProgramMemoryAfterForkInChild();
    munmap(pages.pointer(1), kPage);
    const bool holed = IsWritable(area);
    const Pages more("www");
    _exit(!holed && IsWritable({more.at(0), 3 * kPage}) ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_TRUE(IsWritable(area));
}

// ---- nothing changes ----

TEST(ProgramMemoryTest, ContentsStay) {
  const Pages pages("wwww");
  for (size_t i = 0; i < 4 * kPage; ++i)
    pages.pointer(0)[i] = static_cast<uint8_t>(i * 7 + i / 256);
  const std::vector<uint8_t> before(pages.pointer(0), pages.pointer(4));
  for (uint64_t bytes : {uint64_t{1}, kPage, 2 * kPage, 4 * kPage}) {
    ASSERT_TRUE(IsWritable({pages.at(0), bytes}));
    ASSERT_TRUE(IsReadable({pages.at(0), bytes}));
  }
  EXPECT_EQ(std::memcmp(before.data(), pages.pointer(0), before.size()), 0);
}

// To bring pages in takes longer than what is done with them.
TEST(ProgramMemoryTest, PagesAreNotBroughtIn) {
  const Pages pages("wwww");
  RegistrationCheck kernel;
  kernel.Open();
  if (!kernel.Ask(pages.pointer(0), 4 * kPage, true)) {
    GTEST_SKIP() << "this kernel does not tell otherwise (Linux 6.11 does)";
  }
  EXPECT_TRUE(IsWritable({pages.at(0), 4 * kPage}));
  EXPECT_TRUE(IsReadable({pages.at(0), 4 * kPage}));
  unsigned char present[4] = {};
  ASSERT_EQ(mincore(pages.pointer(0), 4 * kPage, present), 0);
  for (const unsigned char flags : present) EXPECT_EQ(flags & 1, 0);
}

// A file that is mapped privately is copied page by page when it is written. A look is no write to
// the file.
TEST(ProgramMemoryTest, AFileStays) {
  std::FILE* const file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  ASSERT_EQ(std::fputs("contents", file), 1);
  ASSERT_EQ(std::fflush(file), 0);
  void* const at = mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE, fileno(file), 0);
  ASSERT_NE(at, MAP_FAILED);
  EXPECT_TRUE(IsWritable({reinterpret_cast<uint64_t>(at), kPage}));
  EXPECT_STREQ(static_cast<const char*>(at), "contents");
  munmap(at, kPage);
  std::fclose(file);
}

// Every value that the writer has stored is there when it looks again, while another thread asks
// for the very words that it writes.
TEST(ProgramMemoryTest, AWriterIsNotDisturbed) {
  const Pages pages("ww");
  std::atomic<bool> stop{false};
  std::atomic<int> looked{0};
  std::thread looker([&] {
    while (!stop) {
      if (!IsWritable({pages.at(0), 8}) || !IsWritable({pages.at(0), 2 * kPage})) std::abort();
      ++looked;
    }
  });
  auto* const word = reinterpret_cast<volatile uint64_t*>(pages.pointer(0));
  int lost = 0;
  for (uint64_t value = 1; looked < 2000; ++value) {
    *word = value;
    if (*word != value) ++lost;
  }
  stop = true;
  looker.join();
  EXPECT_EQ(lost, 0);
}

// ---- copying ----

// What is read comes from the program, and what is written goes there.
bool CopiesBothWays(const Pages& pages, size_t bytes) {
  std::vector<uint8_t> data(bytes), back(bytes);
  for (size_t i = 0; i < bytes; ++i) data[i] = static_cast<uint8_t>(i * 13 + i / 251);
  return CopyToProgram(pages.at(0, 3), data.data(), bytes) &&
         std::equal(data.begin(), data.end(), pages.pointer(0, 3)) &&
         CopyFromProgram(pages.at(0, 3), back.data(), bytes) && back == data;
}

struct CopyCase {
  const char* what;
  const char* kinds;
  uint64_t offset;
  size_t bytes;
  bool from, to;
};

const CopyCase kCopies[] = {
    {"in a page", "w", 8, 16, true, true},
    {"nothing", "-", 0, 0, true, true},
    {"only to be read", "r", 0, kP, true, false},
    {"neither", "-", 0, 1, false, false},
    {"not there", " ", 0, 1, false, false},
    {"across a border", "ww", kP - 1, 2, true, true},
    {"into what can only be read", "wr", kP - 1, 2, true, false},
    {"into a hole", "w ", kP - 1, 2, false, false},
    {"into a hole after much", "wwwwwwwwwwwwwwwwwwwwwwww ", 0, 24 * kP + 1, false, false},
};

int FailedCopies() {
  int failed = 0;
  const Pages large(std::string(300, 'w'));
  for (const size_t bytes : {size_t{0}, size_t{1}, size_t{4096}, size_t{65535}, size_t{65536},
                             size_t{65537}, size_t{1} << 20}) {
    if (CopiesBothWays(large, bytes)) continue;
    ++failed;
    std::fprintf(stderr, "%zu octets were not copied\n", bytes);
  }
  for (const CopyCase& c : kCopies) {
    const Pages pages(c.kinds);
    const uint64_t address = pages.at(0, ScaledOffset(c.offset));
    std::vector<uint8_t> own(Scaled(c.bytes));
    const bool from = CopyFromProgram(address, own.data(), own.size());
    const bool to = CopyToProgram(address, own.data(), own.size());
    if (from == c.from && to == c.to) continue;
    ++failed;
    std::fprintf(stderr, "%s: from %d, to %d\n", c.what, from, to);
  }
  uint64_t word = 0;
  for (const uint64_t address : {uint64_t{0}, uint64_t{1} << 63, UINT64_MAX - 7}) {
    if (!CopyFromProgram(address, &word, sizeof word) &&
        !CopyToProgram(address, &word, sizeof word)) {
      continue;
    }
    ++failed;
    std::fprintf(stderr, "copied at %llx\n", static_cast<unsigned long long>(address));
  }
  return failed;
}

TEST(ProgramMemoryTest, Copies) { EXPECT_EQ(FailedCopies(), 0); }

TEST(ProgramMemoryTest, WhatWasCopiedBeforeABadPageStays) {
  const Pages pages("w-");
  std::vector<uint8_t> data(kPage + 1, 0x5A);
  EXPECT_FALSE(CopyToProgram(pages.at(0), data.data(), data.size()));
  EXPECT_EQ(*pages.pointer(0), 0x5A);
  EXPECT_EQ(*pages.pointer(0, kPage - 1), 0x5A);
}

// ---- without some system calls ----

struct Refused {
  int call;
  int error;
  int argument = -1;  // which of its arguments decides; -1: the call as such
  uint32_t value = 0;
};

// From here on these calls fail in this process. Where no filter can be set, false.
bool Refuse(const std::vector<Refused>& calls) {
  std::vector<sock_filter> program;
  for (const Refused& r : calls) {
    // Each block falls through to the next one where it does not fit.
    const bool looks = r.argument >= 0;
    program.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)));
    program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(r.call), 0,
                               static_cast<uint8_t>(looks ? 3 : 1)));
    if (looks) {
      const auto at = static_cast<uint32_t>(offsetof(seccomp_data, args) +
                                            static_cast<size_t>(r.argument) * sizeof(uint64_t));
      program.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, at));
      program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, r.value, 0, 1));
    }
    program.push_back(
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<uint32_t>(r.error)));
  }
  program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  const sock_fprog all{static_cast<unsigned short>(program.size()), program.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &all) == 0;
}

constexpr int kNoFilter = 77;

// Runs the tables in a child that has not got these calls. Returns its exit status.
int FailedWithout(const std::vector<Refused>& calls) {
  const pid_t child = fork();
  if (child == 0) {
    ProgramMemoryAfterForkInChild();
    if (!Refuse(calls)) _exit(kNoFilter);
    _exit(FailedRights() + FailedCopies() == 0 ? 0 : 1);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status)) return -1;
  return WEXITSTATUS(status);
}

// The advice of Linux 5.14 by which pages are made, and what an older kernel says to it.
constexpr Refused kNoRead{SYS_madvise, EINVAL, 2, 22}, kNoWrite{SYS_madvise, EINVAL, 2, 23};
// Linux 6.11 answers questions about mappings.
constexpr Refused kNoQuestions{SYS_ioctl, ENOTTY};
constexpr uint32_t kWakeOp = FUTEX_WAKE_OP | FUTEX_PRIVATE_FLAG;

struct WithoutCase {
  const char* what;
  std::vector<Refused> calls;
};

TEST(ProgramMemoryTest, WithoutSomeSystemCalls) {
  const WithoutCase cases[] = {
      {"a kernel without copying",
       {{SYS_process_vm_readv, ENOSYS}, {SYS_process_vm_writev, ENOSYS}}},
      {"a sandbox without copying",
       {{SYS_process_vm_readv, EPERM}, {SYS_process_vm_writev, EPERM}}},
      {"a sandbox without writing", {{SYS_process_vm_writev, EPERM}}},
      {"a kernel before 6.11", {kNoQuestions}},
      {"no /proc", {{SYS_openat, ENOENT}}},
      {"a kernel before 5.14", {kNoQuestions, kNoRead, kNoWrite}},
      {"a kernel before 5.14, in a sandbox without copying",
       {{SYS_process_vm_readv, EPERM},
        {SYS_process_vm_writev, EPERM},
        kNoQuestions,
        kNoRead,
        kNoWrite}},
      {"a sandbox without FUTEX_WAKE_OP", {{SYS_futex, EPERM, 1, kWakeOp}}},
      {"an architecture without FUTEX_WAKE_OP", {{SYS_futex, ENOSYS, 1, kWakeOp}}},
  };
  for (const WithoutCase& c : cases) {
    SCOPED_TRACE(c.what);
    const int status = FailedWithout(c.calls);
    ASSERT_NE(status, kNoFilter) << "no filter for system calls can be set here";
    EXPECT_EQ(status, 0);
  }
}

}  // namespace
}  // namespace softdat::rds
