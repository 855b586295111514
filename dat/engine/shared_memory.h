// SPDX-License-Identifier: BSD-3-Clause
// The table behind DAT_MEM_TYPE_SHARED_VIRTUAL: which memory a cookie names (semantics 7.2), among
// the processes of one user on one host.
//
// There is one file per cookie, in a folder of the user's own in shared memory. Each holder of a
// registration keeps a shared lock on it, which the kernel drops when the process dies, however it
// dies. So the entry lives exactly as long as somebody holds it, and outlives its creator as long
// as others do. An entry gets its name only when it is complete and held. A process that finds no
// holder removes it. So an exclusive lock lasts for one removal, and nobody waits for anything
// else.
#ifndef SOFTDAT_DAT_ENGINE_SHARED_MEMORY_H_
#define SOFTDAT_DAT_ENGINE_SHARED_MEMORY_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "dat/base/status.h"
#include "dat2/udat.h"

namespace softdat::engine {

// Identifies the memory of an address range. It is the same in every process that maps the memory.
struct MemoryIdentity {
  uint64_t device = 0;
  uint64_t inode = 0;
  uint64_t offset = 0;  // of the first byte in that object
  uint64_t length = 0;

  bool operator==(const MemoryIdentity&) const = default;
};

// The identity of [address, address + length) in this process. kNotMapped when a part is not
// mapped. kInvalidState, with the reason, when a part is private, or belongs to another object than
// the rest.
Result<MemoryIdentity> IdentifySharedMemory(const void* address, uint64_t length);

// Membership in one shared registration. The destructor releases it.
class SharedMemoryClaim {
 public:
  // Creates the registration that all 40 bytes of `cookie` name, or joins it. The table is the
  // folder `folder` with a dash and the number of the effective user added. Only this user may
  // enter it. Fails with kNotMapped and kInvalidState as above. It is also kInvalidState when the
  // memory is not shared, or the cookie already names other memory. It is kNoResources when the
  // table cannot be used: the folder belongs to another user, a file in it is not an entry, or a
  // process keeps the entry locked for more than about two seconds.
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
