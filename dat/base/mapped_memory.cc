// SPDX-License-Identifier: BSD-3-Clause
// Mappings from /proc/self/maps, and what they allow.
#include "dat/base/mapped_memory.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>

#include "dat/base/descriptor.h"

namespace softdat {
namespace {

// The argument of PROCMAP_QUERY as the kernel lays it out (proc(5), PROC_PID_MAPS since 6.11).
// Older headers do not have it.
struct ProcmapQuery {
  uint64_t size;
  uint64_t query_flags;
  uint64_t query_addr;
  uint64_t vma_start;
  uint64_t vma_end;
  uint64_t vma_flags;
  uint64_t vma_page_size;
  uint64_t vma_offset;
  uint64_t inode;
  uint32_t dev_major;
  uint32_t dev_minor;
  uint32_t vma_name_size;
  uint32_t build_id_size;
  uint64_t vma_name_addr;
  uint64_t build_id_addr;
};
static_assert(sizeof(ProcmapQuery) == 104);
constexpr unsigned long kProcmapQuery = _IOWR('f', 17, ProcmapQuery);
constexpr uint64_t kReadable = 0x01, kWritable = 0x02, kShared = 0x08;
constexpr uint64_t kCoveringOrNext = 0x10;

constexpr int kPopulateRead = 22, kPopulateWrite = 23;  // MADV_POPULATE_*, since Linux 5.14

// Up to here bringing in all pages of a range costs less than to open the list of mappings for a
// question: 0.8 us for one page, 3.3 us for 16, and 5.4 us to open, ask and close.
constexpr uint64_t kCheapToBringIn = 128 * 1024;

uint64_t PageSize() {
  static const auto size = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  return size;
}

uint64_t PageOf(uint64_t address) { return address - address % PageSize(); }

void* Address(uint64_t address) { return reinterpret_cast<void*>(address); }

// "LOW-HIGH rwxp OFFSET MAJOR:MINOR INODE PATH"
bool ParseMapping(const char* line, Mapping* m) {
  char permissions[8] = "";
  unsigned major_number = 0, minor_number = 0;
  const int n =
      std::sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %x:%x %" SCNu64, &m->begin,
                  &m->end, permissions, &m->offset, &major_number, &minor_number, &m->inode);
  if (n != 7) return false;
  m->readable = permissions[0] == 'r';
  m->writable = permissions[1] == 'w';
  m->shared = permissions[3] == 's';
  m->device = makedev(major_number, minor_number);
  return true;
}

Status Refuse(Code code, uint64_t address, const char* why) {
  char page[32];
  std::snprintf(page, sizeof page, "0x%" PRIx64, PageOf(address));
  return Status(code, std::string("the page at ") + page + " " + why);
}

constexpr char kNotMappedText[] = "is not mapped";
constexpr char kBehindFileText[] = "lies behind the end of its file";

// The fallback where /proc tells nothing. msync() tells whether all of a range is mapped, and has
// no effect on it.
Status CheckByMsync(uint64_t begin, uint64_t end) {
  uint64_t low = PageOf(begin), high = PageOf(end - 1) + PageSize();
  if (msync(Address(low), high - low, MS_ASYNC) == 0 || errno != ENOMEM) return Status::Ok();
  // Invariant: everything below `low` is mapped, and [low, high) is not mapped as a whole.
  while (high - low > PageSize()) {
    const uint64_t middle = PageOf(low + (high - low) / 2);
    if (msync(Address(low), middle - low, MS_ASYNC) == 0) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return Refuse(Code::kNotMapped, low, kNotMappedText);
}

// Whether the page can be read. A mapped page cannot be read only when it lies behind the end of
// its file, or when the machine has lost it.
bool PageExists(uint64_t address) {
  const uint64_t page = PageOf(address);
  int result = 0;
  do {
    result = madvise(Address(page), PageSize(), kPopulateRead);
  } while (result != 0 && errno == EINTR);
  return result == 0 || (errno != EFAULT && errno != EHWPOISON);
}

int OpenMappings() { return AboveStandard(open("/proc/self/maps", O_RDONLY | O_CLOEXEC)); }

enum class Answer { kFound, kNone, kUnsupported };

// Asks the kernel for the mapping that holds `address`, or the first one above it. kUnsupported:
// the kernel does not answer such questions, or `fd` is not a list of mappings.
Answer AskFor(int fd, uint64_t address, Mapping* mapping) {
  ProcmapQuery query{};
  query.size = sizeof query;
  query.query_flags = kCoveringOrNext;
  query.query_addr = address;
  // Directly, because a library that is loaded in front of libc may take its own locks in ioctl().
  if (syscall(SYS_ioctl, fd, kProcmapQuery, &query) != 0) {
    return errno == ENOENT ? Answer::kNone : Answer::kUnsupported;
  }
  mapping->begin = query.vma_start;
  mapping->end = query.vma_end;
  mapping->readable = (query.vma_flags & kReadable) != 0;
  mapping->writable = (query.vma_flags & kWritable) != 0;
  mapping->shared = (query.vma_flags & kShared) != 0;
  mapping->device = makedev(query.dev_major, query.dev_minor);
  mapping->inode = query.inode;
  mapping->offset = query.vma_offset;
  return Answer::kFound;
}

bool IsMappings(int fd) {
  Mapping mapping;
  return AskFor(fd, 0, &mapping) == Answer::kFound;
}

// Judges [begin, end) by its mappings, which `find` looks up as AskFor() does. Returns nothing if
// that is not supported.
template <typename Find>
std::optional<Status> Judge(uint64_t begin, uint64_t end, bool writes, Find find) {
  for (uint64_t at = begin; at < end;) {
    Mapping m;
    const Answer answer = find(at, &m);
    if (answer == Answer::kUnsupported) return std::nullopt;
    if (answer == Answer::kNone || m.begin > at) {
      return Refuse(Code::kNotMapped, at, kNotMappedText);
    }
    if (writes ? !m.writable : !m.readable) {
      return Refuse(Code::kPrivileges, at, writes ? "may not be written" : "may not be read");
    }
    const uint64_t stop = std::min(end, m.end);
    if (m.inode != 0 && !PageExists(stop - 1)) {
      return Refuse(Code::kNotMapped, stop - 1, kBehindFileText);
    }
    at = stop;
  }
  return Status::Ok();
}

}  // namespace

// -------------------------------------------------------------------------------------------------
// MappingReader

MappingReader::MappingReader(Source source) : fd_(OpenMappings()), asks_(source == Source::kBest) {}

MappingReader::~MappingReader() {
  if (fd_ >= 0) close(fd_);
}

bool MappingReader::Find(uint64_t address, Mapping* mapping) {
  if (!ok()) return false;
  if (asks_) {
    const Answer answer = AskFor(fd_, address, mapping);
    if (answer != Answer::kUnsupported) return answer == Answer::kFound;
    asks_ = false;
  }
  while (line_.end <= address) {
    if (!NextLine()) return false;
  }
  *mapping = line_;
  return true;
}

bool MappingReader::ReadMore() {
  std::memmove(text_, text_ + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  ssize_t n = 0;
  do {
    n = read(fd_, text_ + end_, sizeof text_ - 1 - end_);
  } while (n < 0 && errno == EINTR);
  if (n <= 0) return false;
  end_ += static_cast<size_t>(n);
  return true;
}

bool MappingReader::NextLine() {
  for (;;) {
    char* const line = text_ + begin_;
    auto* stop = static_cast<char*>(std::memchr(line, '\n', end_ - begin_));
    bool skips = skips_;
    if (stop != nullptr) {
      begin_ = static_cast<size_t>(stop + 1 - text_);
      skips_ = false;
    } else if (end_ - begin_ == sizeof text_ - 1) {
      // A path longer than the buffer. The fields in front of it are all here, and its rest is
      // skipped.
      stop = text_ + end_;
      begin_ = end_;
      skips_ = true;
    } else if (ReadMore()) {
      continue;
    } else {
      return false;
    }
    *stop = '\0';
    if (!skips) return ParseMapping(line, &line_);
  }
}

// -------------------------------------------------------------------------------------------------
// Checks

Status CheckMapped(const void* address, uint64_t length, bool writes) {
  const auto begin = static_cast<uint64_t>(reinterpret_cast<uintptr_t>(address));
  const uint64_t end = begin + length;
  MappingReader reader;
  if (!reader.ok()) return CheckByMsync(begin, end);
  return *Judge(begin, end, writes, [&](uint64_t at, Mapping* m) {
    return reader.Find(at, m) ? Answer::kFound : Answer::kNone;
  });
}

Status CheckAccessible(const void* address, uint64_t length, bool writes) {
  const auto begin = static_cast<uint64_t>(reinterpret_cast<uintptr_t>(address));
  const uint64_t page = PageOf(begin);
  const int advice = writes ? kPopulateWrite : kPopulateRead;
  int result = 0;
  do {
    result = madvise(Address(page), begin + length - page, advice);
  } while (result != 0 && errno == EINTR);
  if (result == 0) return Status::Ok();
  if (errno == EFAULT || errno == EHWPOISON) {
    return Refuse(Code::kNotMapped, begin, "or one behind it has lost what it maps");
  }
  // The range is not mapped, not allowed, part of a device, or the kernel is older.
  return CheckMapped(address, length, writes);
}

// -------------------------------------------------------------------------------------------------
// RegistrationCheck

void RegistrationCheck::Open() {
  fd_ = OpenMappings();
  if (fd_ < 0 || IsMappings(fd_)) return;
  close(fd_);
  fd_ = -1;
}

// A program may have closed the descriptor, and opened something else under its number.
RegistrationCheck::~RegistrationCheck() {
  if (fd_ >= 0 && IsMappings(fd_)) close(fd_);
}

std::optional<Status> RegistrationCheck::Ask(const void* address, uint64_t length,
                                             bool writes) const {
  if (fd_ < 0) return std::nullopt;
  const auto begin = static_cast<uint64_t>(reinterpret_cast<uintptr_t>(address));
  return Judge(begin, begin + length, writes,
               [this](uint64_t at, Mapping* m) { return AskFor(fd_, at, m); });
}

Status RegistrationCheck::Check(const void* address, uint64_t length, bool writes) const {
  if (auto judged = Ask(address, length, writes)) [[likely]]
    return *std::move(judged);
  if (length > kCheapToBringIn) return CheckMapped(address, length, writes);
  Status accessible = CheckAccessible(address, length, writes);
  if (accessible.ok()) return accessible;
  Status mapped = CheckMapped(address, length, writes);  // it names the page
  if (mapped.ok()) return accessible;
  return mapped;
}

}  // namespace softdat
