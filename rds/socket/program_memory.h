// SPDX-License-Identifier: BSD-3-Clause
// Memory of the program at addresses that it gave in calls, control messages and options. Linux
// checks these when it uses them: nothing is signalled, and a call fails with EFAULT. Here the
// kernel is asked, except for what every message needs, which is not worth a system call each:
// there CanBeMemory() has to do.
#ifndef SOFTDAT_RDS_SOCKET_PROGRAM_MEMORY_H_
#define SOFTDAT_RDS_SOCKET_PROGRAM_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <span>

namespace softdat::rds {

// An area of the program's memory.
struct Area {
  uint64_t address = 0;
  uint64_t bytes = 0;

  bool operator==(const Area&) const = default;
};

// Whether there can be memory of a program: not in the first page, and not beyond what a process
// can address. This costs nothing, and finds null pointers and numbers that were never pointers.
// Memory that can be there need not be there.
inline bool CanBeMemory(uint64_t address, uint64_t bytes) {
  constexpr uint64_t kFirst = 4096, kEnd = uint64_t{1} << 56;
  return bytes == 0 || (address >= kFirst && bytes <= kEnd && address <= kEnd - bytes);
}
inline bool CanBeMemory(const void* address, uint64_t bytes) {
  return CanBeMemory(reinterpret_cast<uintptr_t>(address), bytes);
}

// Copies as the kernel does for this process. False when a part of either memory is not there or
// not allowed; what was copied until there stays.
bool CopyFromProgram(uint64_t address, void* out, size_t bytes);
bool CopyToProgram(uint64_t address, const void* data, size_t bytes);

// Whether all of the area can be read, or written. Its contents stay as they are, whoever else
// writes them meanwhile. An area without octets can be both, wherever it is; one that goes beyond
// the last address can be neither.
bool IsReadable(const Area& area);
bool IsWritable(const Area& area);
// The same for all of them. Neighbours are looked at together, so many small pieces of one buffer
// cost as little as the buffer.
bool AreReadable(std::span<const Area> areas);
bool AreWritable(std::span<const Area> areas);

// The mappings of a forked child are its own. To be called in it first.
void ProgramMemoryAfterForkInChild();

}  // namespace softdat::rds

#endif  // SOFTDAT_RDS_SOCKET_PROGRAM_MEMORY_H_
