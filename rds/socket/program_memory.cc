// SPDX-License-Identifier: BSD-3-Clause
#include "rds/socket/program_memory.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <optional>

#include "dat/base/fork_safe_once.h"
#include "dat/base/mapped_memory.h"
#include "dat/base/process_wide.h"

namespace softdat::rds {
namespace {

#ifndef MADV_POPULATE_READ  // Linux 5.14
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif

// Opened by the first question, which most children of fork never ask.
class OwnMappings {
 public:
  const RegistrationCheck& Get() {
    once_.Call([this] { check_.Open(); });
    return check_;
  }

 private:
  ForkSafeOnce once_;
  RegistrationCheck check_;
};
constinit ProcessWide<OwnMappings> own_mappings;

// ---- copying ----

enum class Direction : uint8_t { kFrom, kTo };

// The call is not in this kernel, or a sandbox does not have it.
bool IsRefusal(int error) { return error == EPERM || error == ENOSYS; }

// A pipe that nobody waits for. The calls are made directly, because those of libc may be those of
// librds_preload.so.
class Pipe {
 public:
  Pipe() { open_ = syscall(SYS_pipe2, ends_, O_CLOEXEC | O_NONBLOCK) == 0; }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    if (!open_) return;
    syscall(SYS_close, ends_[0]);
    syscall(SYS_close, ends_[1]);
  }

  // Carries up to `bytes` of them through. Returns how many arrived; 0: the first one did not.
  size_t Carry(const void* from, void* to, size_t bytes) const {
    if (!open_) return 0;
    const auto put = syscall(SYS_write, ends_[1], from, std::min(bytes, kMost));
    if (put <= 0) return 0;
    const auto got = syscall(SYS_read, ends_[0], to, put);
    // If only a part could be stored, the rest is lost with the pipe: what is at its place is bad.
    return got == put ? static_cast<size_t>(put) : 0;
  }

 private:
  static constexpr size_t kMost = 65536;  // what a pipe usually holds
  int ends_[2] = {-1, -1};
  bool open_ = false;
};

bool CopyByPipe(const uint8_t* from, uint8_t* to, size_t bytes) {
  const Pipe pipe;
  while (bytes > 0) {
    const size_t moved = pipe.Carry(from, to, bytes);
    if (moved == 0) return false;
    from += moved;
    to += moved;
    bytes -= moved;
  }
  return true;
}

// The kernel copies within this process: it knows what is mapped. A process may always do that to
// itself; but some sandboxes refuse the calls whoever it is done to.
bool Copy(Direction direction, uint64_t address, uint8_t* own, size_t bytes) {
  static std::atomic<bool> refused{false};
  while (bytes > 0) {
    auto* const program = reinterpret_cast<uint8_t*>(address);
    if (refused.load(std::memory_order_relaxed)) {
      return direction == Direction::kFrom ? CopyByPipe(program, own, bytes)
                                           : CopyByPipe(own, program, bytes);
    }
    const iovec here{own, bytes};
    const iovec there{program, bytes};
    const ssize_t moved = direction == Direction::kFrom
                              ? process_vm_readv(getpid(), &here, 1, &there, 1, 0)
                              : process_vm_writev(getpid(), &here, 1, &there, 1, 0);
    if (moved < 0 && IsRefusal(errno)) {
      refused = true;
      continue;
    }
    if (moved <= 0) return false;
    own += moved;
    address += static_cast<uint64_t>(moved);
    bytes -= static_cast<size_t>(moved);
  }
  return true;
}

// ---- rights ----

uint64_t PageSize() {
  static const auto size = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  return size;
}

bool Populate(uint64_t first, uint64_t end, int advice) {
  return madvise(reinterpret_cast<void*>(first), end - first, advice) == 0;
}

// Linux reads a set of signals before it sees that nothing can be done with it, and then refuses
// the call. (The first word is left out, as there is no set at address 0.)
bool IsPageReadable(uint64_t page) {
  constexpr int kNothing = -1;
  const uint64_t set = page + sizeof(uint64_t);
  return syscall(SYS_rt_sigprocmask, kNothing, set, nullptr, sizeof(uint64_t)) == 0 ||
         errno != EFAULT;
}

// Adds 0 to the first word of the page, as one atomic operation, so that nobody sees a difference.
// The call would then wake one who waits for that word if it is -2048, and any who waits for a word
// of ours.
bool IsPageWritable(uint64_t page) {
  static uint32_t ours = 0;
  constexpr int kAddNothing = FUTEX_OP(FUTEX_OP_ADD, 0, FUTEX_OP_CMP_EQ, -2048);
  constexpr long kWake = 0;
  if (syscall(SYS_futex, &ours, FUTEX_WAKE_OP | FUTEX_PRIVATE_FLAG, kWake, kWake, page,
              kAddNothing) >= 0) {
    return true;
  }
  return IsRefusal(errno) && Populate(page, page + PageSize(), MADV_POPULATE_WRITE);
}

struct Right {
  bool writes;
  int advice;  // faults pages in, as a use of this right would, and changes none
  bool (*has_page)(uint64_t page);
};
constexpr Right kRead{false, MADV_POPULATE_READ, IsPageReadable};
constexpr Right kWrite{true, MADV_POPULATE_WRITE, IsPageWritable};

// Whole pages, up to `end`.
bool HavePages(uint64_t first, uint64_t end, const Right& right) {
  if (end - first > PageSize()) {
    const std::optional<Status> judged =
        own_mappings.Get().Get().Ask(reinterpret_cast<void*>(first), end - first, right.writes);
    if (judged ? judged->ok() : Populate(first, end, right.advice)) return true;
  }
  // One page alone; or an older kernel, or a mapping of a device, which cannot be populated; or
  // there is indeed a page without the right.
  for (uint64_t page = first; page != end; page += PageSize()) {
    if (!right.has_page(page)) return false;
  }
  return true;
}

bool Have(std::span<const Area> areas, const Right& right) {
  const uint64_t page = PageSize();
  uint64_t first = 0, end = 0;  // pages that are to be looked at; none if the same
  for (const Area& area : areas) {
    if (area.bytes == 0) continue;
    uint64_t last = 0;
    if (__builtin_add_overflow(area.address, area.bytes - 1, &last)) return false;
    const uint64_t from = area.address / page * page;
    const uint64_t to = last / page * page + page;
    if (to == 0) return false;  // the last page of all, which is never a program's
    if (first != end && from >= first && from <= end) {
      end = std::max(end, to);
      continue;
    }
    if (!HavePages(first, end, right)) return false;
    first = from;
    end = to;
  }
  return HavePages(first, end, right);
}

}  // namespace

bool CopyFromProgram(uint64_t address, void* out, size_t bytes) {
  return Copy(Direction::kFrom, address, static_cast<uint8_t*>(out), bytes);
}

bool CopyToProgram(uint64_t address, const void* data, size_t bytes) {
  return Copy(Direction::kTo, address, const_cast<uint8_t*>(static_cast<const uint8_t*>(data)),
              bytes);
}

void ProgramMemoryAfterForkInChild() { own_mappings.AbandonAfterFork(); }

bool IsReadable(const Area& area) { return AreReadable({&area, 1}); }
bool IsWritable(const Area& area) { return AreWritable({&area, 1}); }
bool AreReadable(std::span<const Area> areas) { return Have(areas, kRead); }
bool AreWritable(std::span<const Area> areas) { return Have(areas, kWrite); }

}  // namespace softdat::rds
