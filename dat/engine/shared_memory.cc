// SPDX-License-Identifier: BSD-3-Clause
// Shared registrations, in files under locks.
#include "dat/engine/shared_memory.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <optional>

namespace softdat::engine {
namespace {

// One line of /proc/self/maps.
struct Mapping {
  uint64_t begin = 0, end = 0;
  bool shared = false;
  MemoryIdentity at;  // of `begin`; length unused
};

std::optional<Mapping> ParseMapping(const char* line) {
  Mapping m;
  char permissions[8] = "";
  unsigned major_number = 0, minor_number = 0;
  const int n =
      std::sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %x:%x %" SCNu64, &m.begin, &m.end,
                  permissions, &m.at.offset, &major_number, &minor_number, &m.at.inode);
  if (n != 7) return std::nullopt;
  m.shared = permissions[3] == 's';
  m.at.device = makedev(major_number, minor_number);
  return m;
}

std::string Hex(uint64_t n) {
  char text[20];
  std::snprintf(text, sizeof(text), "0x%" PRIx64, n);
  return text;
}

Status SystemFailure(const std::string& what) {
  return Status(Code::kNoResources, what + ": " + std::strerror(errno));
}

std::string FileName(const std::string& folder, std::span<const char, DAT_LMR_COOKIE_SIZE> cookie) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string name = folder + "/";
  for (const char c : cookie) {
    const auto byte = static_cast<unsigned char>(c);
    name += kDigits[byte >> 4];
    name += kDigits[byte & 15];
  }
  return name;
}

// Whether the locked file is still the one that the name leads to: its last holder may have removed
// it between our open and our lock.
bool StillNamed(int fd) {
  struct stat st {};
  return fstat(fd, &st) == 0 && st.st_nlink > 0;
}

constexpr mode_t kEntryMode = 0666;
constexpr int kPatience = 100;  // looks at an entry that may not be opened, a millisecond apart

// The entry's file, for every user of the host. -1 with errno, or -1 and *again when somebody else
// made or removed it meanwhile.
int OpenEntry(const std::string& path, bool* again) {
  *again = false;
  constexpr int kFlags = O_RDWR | O_CLOEXEC | O_NOFOLLOW;
  // Without O_CREAT where that does: with it, fs.protected_regular refuses another user's file in a
  // sticky folder.
  int fd = open(path.c_str(), kFlags);
  if (fd >= 0 || errno != ENOENT) return fd;
  fd = open(path.c_str(), kFlags | O_CREAT | O_EXCL, kEntryMode);
  if (fd < 0) {
    *again = errno == EEXIST;
    return -1;
  }
  if (fchmod(fd, kEntryMode) == 0) return fd;  // apart from the umask
  const int error = errno;
  unlink(path.c_str());
  close(fd);
  errno = error;
  return -1;
}

Status WriteIdentity(int fd, const MemoryIdentity& identity) {
  if (ftruncate(fd, 0) != 0 || pwrite(fd, &identity, sizeof(identity), 0) != sizeof(identity)) {
    return SystemFailure("cannot write the shared-registration table");
  }
  return Status::Ok();
}

// Brings an opened entry and this process's memory together; the file ends up under a shared lock.
// *again is set when the entry's first holder is just about to fill it in.
Status Join(int fd, const MemoryIdentity& mine, bool* again) {
  *again = false;
  if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
    // Nobody holds it: new, or left behind by processes that died. It is ours to fill in.
    Status status = WriteIdentity(fd, mine);
    if (!status.ok()) return status;
  }
  // This one may wait, for the first holder to fill the entry in, and a signal ends the wait.
  while (flock(fd, LOCK_SH) != 0) {
    if (errno != EINTR) return SystemFailure("flock");
  }
  // Changing the lock is not atomic: somebody may have filled the entry in between, so it is read
  // in any case.
  MemoryIdentity theirs;
  if (pread(fd, &theirs, sizeof(theirs), 0) != sizeof(theirs)) {
    *again = true;
    return Status::Ok();
  }
  if (theirs == mine) return Status::Ok();
  return Status(Code::kInvalidState,
                "the cookie already names other memory: inode " + std::to_string(theirs.inode) +
                    " offset " + Hex(theirs.offset) + " length " + std::to_string(theirs.length));
}

}  // namespace

Result<MemoryIdentity> IdentifySharedMemory(const void* address, uint64_t length) {
  const auto begin = reinterpret_cast<uintptr_t>(address);
  std::unique_ptr<FILE, int (*)(FILE*)> maps(std::fopen("/proc/self/maps", "re"), &std::fclose);
  if (maps == nullptr) return SystemFailure("/proc/self/maps");
  MemoryIdentity identity;
  uint64_t covered = begin;  // everything below it is in the object found so far
  char line[8192];
  while (covered < begin + length && std::fgets(line, sizeof(line), maps.get()) != nullptr) {
    const std::optional<Mapping> m = ParseMapping(line);
    if (!m || m->end <= covered) continue;
    if (m->begin > covered) break;
    if (!m->shared)
      return Status(Code::kInvalidState, "the memory at " + Hex(covered) + " is private");
    const uint64_t offset = m->at.offset + (covered - m->begin);
    if (covered == begin) {
      identity = {m->at.device, m->at.inode, offset, length};
    } else if (m->at.device != identity.device || m->at.inode != identity.inode ||
               offset != identity.offset + (covered - begin)) {
      return Status(Code::kInvalidState, "the range is made of several memory objects");
    }
    covered = m->end;
  }
  if (covered < begin + length) {
    return Status(Code::kInvalidState, "the memory at " + Hex(covered) + " is not mapped");
  }
  return identity;
}

Result<std::unique_ptr<SharedMemoryClaim>> SharedMemoryClaim::Make(
    const std::string& folder, std::span<const char, DAT_LMR_COOKIE_SIZE> cookie,
    const void* address, uint64_t length) {
  Result<MemoryIdentity> identity = IdentifySharedMemory(address, length);
  if (!identity.ok()) return identity.TakeStatus();
  // Everybody on the host meets here, like in /tmp; modes are set apart from the umask.
  if (mkdir(folder.c_str(), 01777) == 0) {
    if (chmod(folder.c_str(), 01777) != 0) return SystemFailure(folder);
  } else if (errno != EEXIST) {
    return SystemFailure(folder);
  }
  const std::string path = FileName(folder, cookie);
  int patience = kPatience;
  for (;;) {
    bool again = false;
    const int fd = OpenEntry(path, &again);
    if (fd < 0) {
      if (again) continue;
      if (errno != EACCES || patience-- == 0) return SystemFailure(path);
      // Another user who has just made it, or the folder, may be about to set its mode.
      usleep(1000);
      continue;
    }
    Status status = Join(fd, identity.value(), &again);
    if (status.ok() && !again && StillNamed(fd)) {
      return std::unique_ptr<SharedMemoryClaim>(new SharedMemoryClaim(fd, path));
    }
    close(fd);
    if (!status.ok()) return status;
    sched_yield();
  }
}

SharedMemoryClaim::~SharedMemoryClaim() {
  // The last holder takes the entry with it. Who opens the file between this lock and the unlink
  // finds that the name is gone and starts over.
  if (flock(fd_, LOCK_EX | LOCK_NB) == 0) unlink(path_.c_str());
  close(fd_);
}

}  // namespace softdat::engine
