// SPDX-License-Identifier: BSD-3-Clause
// A process claims a block of qualifiers by the name of a local socket, which only one socket can
// have. Such names are those of a network name space, and so are ports.
#include "dat/backend_kit/testing/own_qualifier.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <mutex>
#include <string>

#include "dat/backend_kit/qualifier_port.h"

namespace softdat {
namespace {

constexpr uint32_t kFirst = 20'000;
constexpr uint32_t kBlocks = 100;
constexpr uint32_t kPerBlock = 100;

// The socket stays open until the process ends.
bool Claim(uint32_t block) {
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  const std::string text = "softdat-qualifiers-of-a-test-" + std::to_string(block);
  text.copy(name.sun_path + 1, text.size());  // behind a zero: a name, not a path
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size());
  const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd >= 0 && bind(fd, reinterpret_cast<const sockaddr*>(&name), size) == 0) return true;
  if (fd >= 0) close(fd);
  return false;
}

class Own {
 public:
  // 0 when there is none.
  uint64_t Next() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (owner_ != getpid() && !ClaimOne()) return 0;
    const uint64_t next = first_ + offset_;
    offset_ = (offset_ + 2) % kPerBlock;
    return next;
  }

 private:
  bool ClaimOne() {
    const pid_t self = getpid();
    for (uint32_t i = 0; i < kBlocks; ++i) {
      const uint32_t block = (static_cast<uint32_t>(self) + i) % kBlocks;
      if (!Claim(block)) continue;
      owner_ = self;
      first_ = kFirst + block * kPerBlock;
      offset_ = 0;
      return true;
    }
    return false;
  }

  std::mutex mutex_;  // protects the members below
  pid_t owner_ = 0;
  uint64_t first_ = 0;
  uint32_t offset_ = 0;
};

uint64_t FirstFree(const std::function<bool(uint64_t)>& is_free,
                   const std::function<uint64_t(uint64_t)>& made_of) {
  static Own own;
  for (uint32_t i = 0; i < kPerBlock / 2; ++i) {
    const uint64_t next = own.Next();
    if (next == 0) return 0;
    const uint64_t qualifier = made_of(next);
    if (is_free(qualifier)) return qualifier;
  }
  return 0;
}

}  // namespace

uint64_t OwnQualifier(const std::function<bool(uint64_t)>& is_free) {
  return FirstFree(is_free, [](uint64_t own) { return own; });
}

// As launchers make them: the process id in the upper bits.
uint64_t OwnLargeQualifier(const std::function<bool(uint64_t)>& is_free) {
  return FirstFree(is_free, [](uint64_t own) {
    uint64_t large = uint64_t{0xAB} << 56 | static_cast<uint64_t>(getpid()) << 20;
    while (PortOfQualifier(large) != own) ++large;
    return large;
  });
}

}  // namespace softdat
