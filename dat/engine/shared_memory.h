// SPDX-License-Identifier: BSD-3-Clause
// The table behind DAT_MEM_TYPE_SHARED_VIRTUAL: which memory a cookie names (semantics 7.2), among
// the processes of one user on one host.
//
// One file per cookie, in a folder of the user's own in shared memory. Each holder of a
// registration keeps a shared lock on it, which the kernel drops when a process dies however it
// dies; so the entry lives exactly as long as somebody holds it, and outlives its creator as long
// as others do. An entry gets its name when it is complete and held, and who finds no holder
// removes it: so an exclusive lock lasts for one removal, and nobody waits for anything else.
#ifndef SOFTDAT_DAT_ENGINE_SHARED_MEMORY_H_
#define SOFTDAT_DAT_ENGINE_SHARED_MEMORY_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "dat/base/status.h"
#include "dat2/udat.h"

namespace softdat::engine {

// What memory an address range is, the same in every process that maps it.
struct MemoryIdentity {
  uint64_t device = 0;
  uint64_t inode = 0;
  uint64_t offset = 0;  // of the first byte in that object
  uint64_t length = 0;

  bool operator==(const MemoryIdentity&) const = default;
};

// The identity of [address, address + length) in this process. kNotMapped where a part of it is not
// mapped; kInvalidState, with the reason, where one is private, or of another object than the rest.
Result<MemoryIdentity> IdentifySharedMemory(const void* address, uint64_t length);

// Membership in one shared registration; released by the destructor.
class SharedMemoryClaim {
 public:
  // Creates the registration that all 40 bytes of `cookie` name, or joins it. The table is the
  // folder `folder` with a dash and the number of the effective user added, which only this user
  // may enter. kNotMapped and kInvalidState as above, the latter also when the memory is not
  // shared, or the cookie already names other memory; kNoResources when the table cannot be used:
  // the folder belongs to somebody else, a file in it is no entry, or a process keeps the entry
  // locked for longer than about two seconds.
  static Result<std::unique_ptr<SharedMemoryClaim>> Make(
      const std::string& folder, std::span<const char, DAT_LMR_COOKIE_SIZE> cookie,
      const void* address, uint64_t length);
  ~SharedMemoryClaim();
  SharedMemoryClaim(const SharedMemoryClaim&) = delete;
  SharedMemoryClaim& operator=(const SharedMemoryClaim&) = delete;

 private:
  SharedMemoryClaim(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}

  const int fd_;  // holds the shared lock
  const std::string path_;
};

}  // namespace softdat::engine

#endif  // SOFTDAT_DAT_ENGINE_SHARED_MEMORY_H_
