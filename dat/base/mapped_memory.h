// SPDX-License-Identifier: BSD-3-Clause
// What the kernel says about this process's memory: which mapping holds an address, and whether a
// range may be registered or accessed. Nothing here faults, whatever the address is.
#ifndef SOFTDAT_DAT_BASE_MAPPED_MEMORY_H_
#define SOFTDAT_DAT_BASE_MAPPED_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "dat/base/status.h"

namespace softdat {

// One mapping: [begin, end).
struct Mapping {
  uint64_t begin = 0, end = 0;
  bool readable = false, writable = false, shared = false;
  uint64_t device = 0, inode = 0;  // of the object behind it; 0 when anonymous and private
  uint64_t offset = 0;             // of `begin` in that object
};

// Reads the mappings of this process in the order of their addresses. Linux 6.11 and later answer
// for one address (PROCMAP_QUERY). Older kernels only offer a list that is read from its start, at
// about half a microsecond for each mapping below the address. A reader needs a descriptor while it
// exists. One thread may use it; a child of fork makes its own.
class MappingReader {
 public:
  enum class Source { kBest, kText };
  explicit MappingReader(Source source = Source::kBest);
  ~MappingReader();
  MappingReader(const MappingReader&) = delete;
  MappingReader& operator=(const MappingReader&) = delete;

  bool ok() const { return fd_ >= 0; }  // false: /proc/self/maps cannot be opened; errno says why
  // Finds the mapping that holds `address`, or the first one above it. Returns false when there is
  // none. No call may ask for a lower address than the call before.
  bool Find(uint64_t address, Mapping* mapping);

 private:
  bool NextLine();  // reads the next mapping of the text into line_; false at its end
  bool ReadMore();

  int fd_;
  bool asks_;           // whether the kernel answers for one address
  Mapping line_;        // the last one read from the text
  bool skips_ = false;  // whether the rest of a line is to be skipped
  char text_[4096];
  size_t begin_ = 0, end_ = 0;  // the part of text_ that is not parsed yet
};

// Whether [address, address + length) can be read, or written if `writes`, as its mappings stand
// now. `length` > 0, and the range does not wrap. kNotMapped names the first page that is not
// mapped, or one that lies behind the end of its file. kPrivileges names the first page whose
// protection forbids the access.
//
// It costs a few microseconds and one more for each mapping of the range, whatever the length (see
// MappingReader for kernels before 6.11). It touches no page but the last one of each file in the
// range, which it reads ahead to find the end of the file. That takes Linux 5.14: older kernels
// leave the end of a file unnoticed. When /proc cannot be read or no descriptor is free, it finds
// only holes.
Status CheckMapped(const void* address, uint64_t length, bool writes);

// The same for bytes that are accessed at once. It brings the pages in, as the access would. That
// takes about half a microsecond, plus some time for each page. Before Linux 5.14 it is
// CheckMapped.
Status CheckAccessible(const void* address, uint64_t length, bool writes);

// CheckMapped for memory that is registered, again and again. It keeps the list of mappings open,
// so that an answer takes 0.6 us for each mapping of the range, where to open it as well takes nine
// times as long. Not seen are pages that cannot be made (a full file system in memory), and those
// that MADV_GUARD_INSTALL has made inaccessible within a mapping. Any thread; not in a child of
// fork, for which the list would be that of its parent.
class RegistrationCheck {
 public:
  RegistrationCheck() = default;
  ~RegistrationCheck();
  RegistrationCheck(const RegistrationCheck&) = delete;
  RegistrationCheck& operator=(const RegistrationCheck&) = delete;

  // Opens the list. To be called once, before the questions.
  void Open();
  // Nothing if the kernel cannot be asked: it is older than 6.11, or there was no descriptor.
  std::optional<Status> Ask(const void* address, uint64_t length, bool writes) const;
  // Where it cannot be asked: CheckAccessible for up to 128 KiB, which brings pages in, and
  // CheckMapped above.
  Status Check(const void* address, uint64_t length, bool writes) const;

 private:
  int fd_ = -1;
};

}  // namespace softdat

#endif  // SOFTDAT_DAT_BASE_MAPPED_MEMORY_H_
