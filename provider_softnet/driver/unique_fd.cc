// SPDX-License-Identifier: BSD-3-Clause
// UniqueFd and the table of owned descriptors.
#include "provider_softnet/driver/unique_fd.h"

#include <unistd.h>

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "dat/base/descriptor.h"

namespace softdat::softnet {
namespace {

// One bit for each owned descriptor. Atomic words instead of a lock, because the child of a fork
// reads it while a lock might be held by a thread that exists in the parent only. Descriptors
// beyond the table are owned all the same, they are only not closed in a child.
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
  // Unmarked first: the number may belong to somebody else right after close().
  Mark(fd_, false);
  ::close(fd_);
  fd_ = -1;
}

void CloseInheritedDescriptors() {
  for (size_t word = 0; word < kTracked / 64; ++word) {
    if (owned_bits[word].load(std::memory_order_relaxed) == 0) continue;  // spare the zero pages
    uint64_t bits = owned_bits[word].exchange(0);
    while (bits != 0) {
      const int bit = std::countr_zero(bits);
      bits &= bits - 1;
      ::close(static_cast<int>(word * 64) + bit);
    }
  }
}

int OwnedDescriptorCount() {
  int count = 0;
  for (const auto& word : owned_bits) count += std::popcount(word.load());
  return count;
}

}  // namespace softdat::softnet
