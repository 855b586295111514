// SPDX-License-Identifier: BSD-3-Clause
// Pages of a file in memory. Tests protect or unmap them, or take them away while they are
// registered.
#ifndef SOFTDAT_TESTS_CONFORMANCE_PAGES_H_
#define SOFTDAT_TESTS_CONFORMANCE_PAGES_H_

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "tests/conformance/fixture.h"

namespace softdat::conformance {

inline size_t PageSize() { return static_cast<size_t>(sysconf(_SC_PAGESIZE)); }

class Pages {
 public:
  explicit Pages(size_t count) : size_(count * PageSize()) {
    EXPECT_GE(file_, 0);
    EXPECT_EQ(ftruncate(file_, static_cast<off_t>(size_)), 0);
    // The pages lie in the middle of a wide hole. Later mappings do not come to addresses that a
    // test has unmapped.
    void* const hole =
        mmap(nullptr, kHole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    EXPECT_NE(hole, MAP_FAILED);
    memory_ = static_cast<uint8_t*>(hole) + kHole / 2;
    EXPECT_EQ(mmap(memory_, size_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file_, 0),
              memory_);
    munmap(hole, kHole / 2);
    munmap(memory_ + size_, kHole / 2 - size_);
    std::memset(memory_, 0x5A, size_);
  }
  ~Pages() {
    munmap(memory_, size_);
    close(file_);
  }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  uint8_t* page(size_t n) { return memory_ + n * PageSize(); }
  size_t size() const { return size_; }

  void Protect(size_t first, size_t count, int protection) {
    EXPECT_EQ(mprotect(page(first), count * PageSize(), protection), 0);
  }
  void Unmap(size_t first, size_t count) { EXPECT_EQ(munmap(page(first), count * PageSize()), 0); }
  // The file ends here, but its mapping goes on.
  void CutTo(size_t count) {
    EXPECT_EQ(ftruncate(file_, static_cast<off_t>(count * PageSize())), 0);
  }

 private:
  static constexpr size_t kHole = size_t{8} << 30;  // an arena of malloc takes 128 MiB of it
  const size_t size_;
  const int file_ = memfd_create("conformance", MFD_CLOEXEC);
  uint8_t* memory_ = nullptr;
};

}  // namespace softdat::conformance

#endif  // SOFTDAT_TESTS_CONFORMANCE_PAGES_H_
