// SPDX-License-Identifier: BSD-3-Clause
// What the kernel says of this process's memory: which mapping holds an address, and whether a
// range may be registered or accessed. Nothing here faults, whatever address is asked for.
#ifndef SOFTDAT_DAT_BASE_MAPPED_MEMORY_H_
#define SOFTDAT_DAT_BASE_MAPPED_MEMORY_H_

#include <cstddef>
#include <cstdint>

#include "dat/base/status.h"

namespace softdat {

// One mapping: [begin, end).
struct Mapping {
  uint64_t begin = 0, end = 0;
  bool readable = false, writable = false, shared = false;
  uint64_t device = 0, inode = 0;  // of the object behind it; 0 where it is anonymous and private
  uint64_t offset = 0;             // of `begin` in that object
};

// Reads the mappings of this process in the order of their addresses. Linux 6.11 and later answer
// for one address (PROCMAP_QUERY); before, everything below it is read too, which takes about half
// a microsecond for each mapping. Needs a descriptor while it exists. One thread; a child of fork
// makes its own.
class MappingReader {
 public:
  enum class Source { kBest, kText };
  explicit MappingReader(Source source = Source::kBest);
  ~MappingReader();
  MappingReader(const MappingReader&) = delete;
  MappingReader& operator=(const MappingReader&) = delete;

  bool ok() const { return fd_ >= 0; }  // false: /proc/self/maps cannot be opened; errno says why
  // The mapping that holds `address`, or the first one above it. From call to call addresses must
  // not fall. False when there is none.
  bool Find(uint64_t address, Mapping* mapping);

 private:
  enum class Answer { kFound, kNone, kUnsupported };
  Answer Ask(uint64_t address, Mapping* mapping) const;
  bool NextLine();  // the next mapping of the text into line_; false at its end
  bool ReadMore();

  int fd_;
  bool asks_;           // whether the kernel answers for one address
  Mapping line_;        // the last one read from the text
  bool skips_ = false;  // whether the rest of a line is to be skipped
  char text_[4096];
  size_t begin_ = 0, end_ = 0;  // what of text_ is to be parsed yet
};

// Whether [address, address + length) can be read, and be written where `writes`, as its mappings
// stand now. `length` > 0, and the range does not wrap. kNotMapped names the first page that is not
// mapped, or one that lies behind the end of its file, kPrivileges the first whose protection
// forbids the access. Costs a few microseconds and one more for each mapping of the range (see
// MappingReader for kernels before 6.11), whatever the length: pages are not touched, but for the
// last one of each file in the range, which is read ahead. That look takes Linux 5.14; before, the
// end of a file goes unnoticed. Where /proc cannot be read, or no descriptor is free, only what is
// not mapped is found.
Status CheckMapped(const void* address, uint64_t length, bool writes);

// The same for bytes that are accessed at once: it brings the pages in, as the access would, which
// takes about half a microsecond and some for each page (Linux 5.14; before, as CheckMapped).
Status CheckAccessible(const void* address, uint64_t length, bool writes);

}  // namespace softdat

#endif  // SOFTDAT_DAT_BASE_MAPPED_MEMORY_H_
