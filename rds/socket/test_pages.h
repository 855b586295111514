// SPDX-License-Identifier: BSD-3-Clause
// Memory for tests: pages that can be used in different ways.
#ifndef SOFTDAT_RDS_SOCKET_TEST_PAGES_H_
#define SOFTDAT_RDS_SOCKET_TEST_PAGES_H_

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace softdat::rds {

inline const auto kPage = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));

// Pages in a row, each of its own kind, with a page without rights in front and behind.
class Pages {
 public:
  // One letter for each page: "w" can be written, "r" can be read, "-" neither, " " is not there.
  explicit Pages(const std::string& kinds) : size_((kinds.size() + 2) * kPage) {
    void* const all = mmap(nullptr, size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED) std::abort();
    base_ = reinterpret_cast<uint64_t>(all) + kPage;
    for (size_t i = 0; i < kinds.size(); ++i) {
      void* const page = reinterpret_cast<void*>(at(i));
      if (kinds[i] == 'w') mprotect(page, kPage, PROT_READ | PROT_WRITE);
      if (kinds[i] == 'r') mprotect(page, kPage, PROT_READ);
      if (kinds[i] == ' ') munmap(page, kPage);
    }
  }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  ~Pages() { munmap(reinterpret_cast<void*>(base_ - kPage), size_); }

  uint64_t at(size_t page, uint64_t offset = 0) const { return base_ + page * kPage + offset; }
  uint8_t* pointer(size_t page, uint64_t offset = 0) const {
    return reinterpret_cast<uint8_t*>(at(page, offset));
  }

 private:
  size_t size_;
  uint64_t base_ = 0;
};

}  // namespace softdat::rds

#endif  // SOFTDAT_RDS_SOCKET_TEST_PAGES_H_
