// SPDX-License-Identifier: BSD-3-Clause
// UniqueFd and the table of owned descriptors.
#include "provider_softnet/driver/unique_fd.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "dat/base/descriptor.h"

namespace softdat::softnet {
namespace {

// One bit for each owned descriptor. The words are atomic instead of locked, because the child of a
// fork reads them, and a thread that exists only in the parent might hold a lock. Descriptors
// beyond the table are owned all the same, but a child does not close them.
constexpr size_t kTracked = 1 << 20;
std::atomic<uint64_t> owned_bits[kTracked / 64];

void Mark(int fd, bool owned) {
  const size_t n = static_cast<size_t>(fd);
  if (n >= kTracked) return;
  const uint64_t bit = uint64_t{1} << (n % 64);
  if (owned) {
    owned_bits[n / 64].fetch_or(bit);
  } else {
    owned_bits[n / 64].fetch_and(~bit);
  }
}

}  // namespace

UniqueFd::UniqueFd(int fd) : fd_(AboveStandard(fd)) {
  if (fd_ >= 0) Mark(fd_, true);
}

void UniqueFd::Close() {
  if (fd_ < 0) return;
  // The mark is removed first, because somebody else may get the number right after close().
  Mark(fd_, false);
  ::close(fd_);
  fd_ = -1;
}

void CloseInheritedDescriptors() {
  for (size_t word = 0; word < kTracked / 64; ++word) {
    if (owned_bits[word].load(std::memory_order_relaxed) == 0) continue;  // spares the zero pages
    uint64_t bits = owned_bits[word].exchange(0);
    while (bits != 0) {
      const int bit = std::countr_zero(bits);
      bits &= bits - 1;
      const int fd = static_cast<int>(word * 64) + bit;
      // A daemon may have closed every descriptor, those of this library with them, and have others
      // by their numbers. Ours are all closed by exec, and those of programs mostly are not.
      const int flags = fcntl(fd, F_GETFD);
      if (flags >= 0 && (flags & FD_CLOEXEC) != 0) ::close(fd);
    }
  }
}

int OwnedDescriptorCount() {
  int count = 0;
  for (const auto& word : owned_bits) count += std::popcount(word.load());
  return count;
}

}  // namespace softdat::softnet
