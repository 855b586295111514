// SPDX-License-Identifier: BSD-3-Clause
// Fuzz target: the control buffer of a sendmsg. The input is the buffer, in which words that begin
// with 5A FE (the upper half of an address) stand for addresses in an arena, so that inputs can
// name memory that exists. Nothing outside of the buffer is read, no memory is changed, and what is
// accepted keeps the rules.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "rds/socket/control_messages.h"
#include "rds/socket/program_memory.h"

namespace softdat::rds {
namespace {

void Require(bool condition) {
  if (!condition) std::abort();
}

// Memory that inputs name, which starts with iovecs.
class Arena {
 public:
  Arena() {
    for (size_t i = 0; i < kIovecs; ++i) {
      const std::array<uint64_t, 2> iovec{address() + kBehind + 24 * i, 1 + i % 24};
      std::memcpy(octets_.data() + sizeof iovec * i, iovec.data(), sizeof iovec);
    }
    before_ = octets_;
  }
  uint64_t address() const { return reinterpret_cast<uint64_t>(octets_.data()); }
  bool IsUnchanged() const { return octets_ == before_; }

  // What this word of an input stands for.
  uint64_t Resolve(uint64_t word) const {
    return word >> 16 == 0x5AFE'0000'0000 ? address() + word % 65536 : word;
  }

 private:
  static constexpr size_t kIovecs = 256;
  static constexpr size_t kBehind = kIovecs * 16;
  std::vector<uint8_t> octets_ = std::vector<uint8_t>(65536);
  std::vector<uint8_t> before_;
};

// A copy of the input that ends where no memory is.
class Guarded {
 public:
  Guarded(const uint8_t* data, size_t size, const Arena& arena) : size_(size) {
    static uint8_t* const end = End();
    begin_ = end - size;
    if (size > 0) std::memcpy(begin_, data, size);
    uint64_t word = 0;
    for (size_t at = 0; at + sizeof word <= size; at += sizeof word) {
      std::memcpy(&word, begin_ + at, sizeof word);
      word = arena.Resolve(word);
      std::memcpy(begin_ + at, &word, sizeof word);
    }
  }
  msghdr Message() const {
    msghdr out{};
    out.msg_control = begin_;
    out.msg_controllen = size_;
    return out;
  }

  static constexpr size_t kMost = size_t{1} << 20;

 private:
  static uint8_t* End() {
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    void* const at =
        mmap(nullptr, kMost + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    Require(at != MAP_FAILED);
    uint8_t* const end = static_cast<uint8_t*>(at) + kMost;
    Require(mprotect(end, page, PROT_NONE) == 0);
    return end;
  }

  uint8_t* begin_;
  size_t size_;
};

void CheckRdma(const RdmaOperation& rdma, uint64_t remote) {
  Require(!rdma.local.empty() && rdma.local.size() <= 1024);
  uint64_t sum = 0;
  for (const Area& area : rdma.local) {
    Require(area.bytes > 0);
    sum += area.bytes;
  }
  Require(rdma.bytes == sum && sum <= remote && sum <= 1 << 20);
  Require(AreReadable(rdma.local) && (rdma.write || AreWritable(rdma.local)));
}

void Check(const msghdr& message) {
  SendRequests requests;
  if (ParseSendRequests(message, &requests) != 0) return;
  Require(!(requests.rdma || requests.atomic) ||
          !(requests.destination || requests.map || requests.zero_copy_cookie));
  Require(!requests.destination || !requests.map);
  if (requests.rdma) CheckRdma(*requests.rdma, RemoteBytes(message));
  if (requests.atomic) {
    Require(requests.atomic->local % 8 == 0 && IsWritable({requests.atomic->local, 8}));
  }
}

}  // namespace
}  // namespace softdat::rds

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const softdat::rds::Arena arena;
  if (size > softdat::rds::Guarded::kMost) return 0;
  const softdat::rds::Guarded input(data, size, arena);
  const msghdr message = input.Message();
  (void)softdat::rds::RemoteBytes(message);
  softdat::rds::Check(message);
  if (!arena.IsUnchanged()) std::abort();
  return 0;
}
