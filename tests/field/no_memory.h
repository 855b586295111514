// SPDX-License-Identifier: BSD-3-Clause
// A process without memory.
#ifndef SOFTDAT_TESTS_FIELD_NO_MEMORY_H_
#define SOFTDAT_TESTS_FIELD_NO_MEMORY_H_

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <utility>

namespace softdat::field {

inline size_t AddressSpace() {
  std::ifstream statm("/proc/self/statm");
  size_t pages = 0;
  statm >> pages;
  return pages * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

// The stack grows as it is used, and counts as memory.
inline void GrowStack() {
  volatile char room[512 << 10];
  for (size_t i = 0; i < sizeof(room); i += 1024) room[i] = 0;
}

// While this object exists, the process may have this much more address space.
class Limit {
 public:
  explicit Limit(size_t more) {
    GrowStack();
    EXPECT_EQ(getrlimit(RLIMIT_AS, &before_), 0);
    rlimit now = before_;
    now.rlim_cur = AddressSpace() + more;
    EXPECT_EQ(setrlimit(RLIMIT_AS, &now), 0);
  }
  ~Limit() { Lift(); }
  Limit(const Limit&) = delete;
  Limit& operator=(const Limit&) = delete;

  void Lift() { setrlimit(RLIMIT_AS, &before_); }

 private:
  rlimit before_{};
};

// Memory for blocks of up to `size` bytes, but not of more, while a Hoard has the rest.
class Crumbs {
 public:
  explicit Crumbs(size_t size) {
    for (Crumb& crumb : crumbs_) {
      crumb.block = std::malloc(size);
      crumb.separator = std::malloc(size);
    }
  }
  ~Crumbs() {
    Scatter();
    for (const Crumb& crumb : crumbs_) std::free(crumb.separator);
  }
  Crumbs(const Crumbs&) = delete;
  Crumbs& operator=(const Crumbs&) = delete;

  void Scatter() {
    for (Crumb& crumb : crumbs_) std::free(std::exchange(crumb.block, nullptr));
  }

 private:
  struct Crumb {
    void* block;
    void* separator;  // keeps the blocks from becoming one
  };
  std::array<Crumb, 64> crumbs_;
};

// Takes all memory that malloc has left, so that the smallest allocation fails.
class Hoard {
 public:
  Hoard() {
    // Small blocks of each size are kept apart.
    for (size_t size = 1 << 20; size >= sizeof(Block);
         size -= size > kSmall ? size / 2 : sizeof(Block)) {
      while (auto* block = static_cast<Block*>(std::malloc(size))) {
        block->next = blocks_;
        blocks_ = block;
      }
    }
  }
  ~Hoard() {
    while (blocks_ != nullptr) std::free(std::exchange(blocks_, blocks_->next));
  }
  Hoard(const Hoard&) = delete;
  Hoard& operator=(const Hoard&) = delete;

 private:
  static constexpr size_t kSmall = 4096;
  struct Block {
    Block* next;
  };
  Block* blocks_ = nullptr;
};

}  // namespace softdat::field

#endif  // SOFTDAT_TESTS_FIELD_NO_MEMORY_H_
