// SPDX-License-Identifier: BSD-3-Clause
// Shared registrations, in files under locks.
#include "dat/engine/shared_memory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <thread>
#include <utility>

#include "dat/base/descriptor.h"
#include "dat/base/mapped_memory.h"

namespace softdat::engine {
namespace {

// A descriptor with an owner.
class OwnDescriptor {
 public:
  explicit OwnDescriptor(int fd = -1) : fd_(fd) {}
  ~OwnDescriptor() { Reset(); }
  OwnDescriptor(OwnDescriptor&& other) noexcept : fd_(other.Release()) {}
  OwnDescriptor& operator=(OwnDescriptor&& other) noexcept {
    Reset(other.Release());
    return *this;
  }
  int get() const { return fd_; }
  int Release() { return std::exchange(fd_, -1); }
  // Closes the descriptor, and keeps errno.
  void Reset(int fd = -1) {
    const int error = errno;
    if (fd_ >= 0) close(fd_);
    fd_ = fd;
    errno = error;
  }

 private:
  int fd_;
};

std::string Hex(uint64_t n) {
  char text[20];
  std::snprintf(text, sizeof(text), "0x%" PRIx64, n);
  return text;
}

Status SystemFailure(const std::string& what) {
  return Status(Code::kNoResources, what + ": " + std::strerror(errno));
}

// The table of this user. In a table for all users, anybody could hold, fill in or remove what
// others need.
std::string FolderOfUser(const std::string& folder) {
  return folder + "-" + std::to_string(geteuid());
}

std::string FileName(std::span<const char, DAT_LMR_COOKIE_SIZE> cookie) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string name;
  for (const char c : cookie) {
    const auto byte = static_cast<unsigned char>(c);
    name += kDigits[byte >> 4];
    name += kDigits[byte & 15];
  }
  return name;
}

constexpr mode_t kFolderMode = 0700;
constexpr mode_t kEntryMode = 0600;
// How often to look at an entry that another process holds exclusively, and the time between two
// looks. They are needed because flock() has no deadline. Such a process only removes the entry.
constexpr int kPatience = 2000;
constexpr std::chrono::milliseconds kBetweenLooks(1);

// The descriptor of the user's folder, which is made if it is missing. The owner is checked on the
// open folder, because any user may have made the name.
Result<OwnDescriptor> OpenFolder(const std::string& path) {
  const bool made = mkdir(path.c_str(), kFolderMode) == 0;
  if (!made && errno != EEXIST) return SystemFailure(path);
  // Independent of the umask, which may have removed the owner's own rights.
  if (made && chmod(path.c_str(), kFolderMode) != 0) return SystemFailure(path);
  OwnDescriptor folder(
      AboveStandard(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)));
  struct stat st {};
  if (folder.get() < 0 || fstat(folder.get(), &st) != 0) return SystemFailure(path);
  if (st.st_uid != geteuid()) {
    return Status(Code::kNoResources,
                  path + " belongs to user " + std::to_string(st.st_uid) +
                      "; SOFTDAT_SHARED_LMR_DIR names another place for shared registrations");
  }
  if ((st.st_mode & 07777) != kFolderMode && fchmod(folder.get(), kFolderMode) != 0) {
    return SystemFailure(path);
  }
  return folder;
}

// Whether the entry's name still leads to this file.
bool StillNamed(int folder, const std::string& name, int fd) {
  struct stat file {
  }, named{};
  return fstat(fd, &file) == 0 && fstatat(folder, name.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0 &&
         file.st_dev == named.st_dev && file.st_ino == named.st_ino;
}

// Makes a new file in the folder under a name that nobody looks for.
OwnDescriptor MakeUnnamed(int folder, std::string* name) {
  for (unsigned n = 0;; ++n) {
    *name = "new." + std::to_string(getpid()) + "." + std::to_string(n);
    OwnDescriptor fd(AboveStandard(openat(
        folder, name->c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kEntryMode)));
    if (fd.get() >= 0 || errno != EEXIST) return fd;
  }
}

// Makes the entry. It gets its name only when it is filled in and held, so that nobody ever has to
// wait for that. Returns no descriptor, and no failure, when somebody else was first.
Result<OwnDescriptor> CreateEntry(int folder, const std::string& name, const MemoryIdentity& mine) {
  std::string temporary;
  OwnDescriptor fd = MakeUnnamed(folder, &temporary);
  if (fd.get() < 0) return SystemFailure("cannot add to the table of shared registrations");
  const bool filled = fchmod(fd.get(), kEntryMode) == 0 &&  // independent of the umask
                      flock(fd.get(), LOCK_SH | LOCK_NB) == 0 &&
                      pwrite(fd.get(), &mine, sizeof(mine), 0) == sizeof(mine);
  const bool named =
      filled && linkat(folder, temporary.c_str(), folder, name.c_str(), /*flags=*/0) == 0;
  const int error = errno;
  unlinkat(folder, temporary.c_str(), 0);
  if (named) return fd;
  if (filled && error == EEXIST) return OwnDescriptor();
  errno = error;
  return SystemFailure("cannot fill in the table of shared registrations");
}

// The result of an attempt to join an existing entry.
enum class Joining {
  kJoined,
  kGone,  // the entry has ended, by this call or another
  kBusy,  // another process is removing it now
};

// Joins an opened entry. If its identity is that of this process, the file ends up under a shared
// lock.
Result<Joining> JoinEntry(int folder, const std::string& name, int fd, const MemoryIdentity& mine) {
  if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
    // Nobody holds it, because its holders have died.
    if (StillNamed(folder, name, fd)) unlinkat(folder, name.c_str(), 0);
    return Joining::kGone;
  }
  if (errno != EWOULDBLOCK) return SystemFailure("flock");
  if (flock(fd, LOCK_SH | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return Joining::kBusy;
    return SystemFailure("flock");
  }
  if (!StillNamed(folder, name, fd)) return Joining::kGone;
  MemoryIdentity theirs;
  if (pread(fd, &theirs, sizeof(theirs), 0) != sizeof(theirs)) {
    return Status(Code::kNoResources, name + " is no entry of the table of shared registrations");
  }
  if (theirs == mine) return Joining::kJoined;
  return Status(Code::kInvalidState,
                "the cookie already names other memory: inode " + std::to_string(theirs.inode) +
                    " offset " + Hex(theirs.offset) + " length " + std::to_string(theirs.length));
}

}  // namespace

Result<MemoryIdentity> IdentifySharedMemory(const void* address, uint64_t length) {
  const auto begin = reinterpret_cast<uintptr_t>(address);
  MappingReader mappings;
  if (!mappings.ok()) return SystemFailure("/proc/self/maps");
  MemoryIdentity identity;
  uint64_t covered = begin;  // everything below is in the object found so far
  while (covered < begin + length) {
    Mapping m;
    if (!mappings.Find(covered, &m) || m.begin > covered) {
      return Status(Code::kNotMapped, "the memory at " + Hex(covered) + " is not mapped");
    }
    if (!m.shared)
      return Status(Code::kInvalidState, "the memory at " + Hex(covered) + " is private");
    const uint64_t offset = m.offset + (covered - m.begin);
    if (covered == begin) {
      identity = {m.device, m.inode, offset, length};
    } else if (m.device != identity.device || m.inode != identity.inode ||
               offset != identity.offset + (covered - begin)) {
      return Status(Code::kInvalidState, "the range is made of several memory objects");
    }
    covered = m.end;
  }
  return identity;
}

Result<std::unique_ptr<SharedMemoryClaim>> SharedMemoryClaim::Make(
    const std::string& folder, std::span<const char, DAT_LMR_COOKIE_SIZE> cookie,
    const void* address, uint64_t length) {
  Result<MemoryIdentity> identity = IdentifySharedMemory(address, length);
  if (!identity.ok()) return identity.TakeStatus();
  const std::string path = FolderOfUser(folder);
  Result<OwnDescriptor> opened = OpenFolder(path);
  if (!opened.ok()) return opened.TakeStatus();
  const OwnDescriptor table = opened.Take();
  const std::string name = FileName(cookie);
  const std::string whole = path + "/" + name;
  for (int patience = kPatience; patience > 0;) {
    OwnDescriptor fd(AboveStandard(
        openat(table.get(), name.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)));
    if (fd.get() < 0) {
      if (errno != ENOENT) return SystemFailure(whole);
      Result<OwnDescriptor> made = CreateEntry(table.get(), name, identity.value());
      if (!made.ok()) return made.TakeStatus();
      fd = made.Take();
      if (fd.get() < 0) continue;
    } else {
      Result<Joining> joining = JoinEntry(table.get(), name, fd.get(), identity.value());
      if (!joining.ok()) return joining.TakeStatus();
      if (joining.value() == Joining::kGone) continue;
      if (joining.value() == Joining::kBusy) {
        fd.Reset();
        std::this_thread::sleep_for(kBetweenLooks);
        --patience;
        continue;
      }
    }
    return std::unique_ptr<SharedMemoryClaim>(new SharedMemoryClaim(fd.Release(), whole));
  }
  return Status(Code::kNoResources, whole + " is kept locked by another process");
}

SharedMemoryClaim::~SharedMemoryClaim() {
  // The last holder removes the entry. A process that opens the file between this lock and the
  // unlink finds that the name is gone, and starts over.
  if (flock(fd_, LOCK_EX | LOCK_NB) == 0) unlink(path_.c_str());
  close(fd_);
}

}  // namespace softdat::engine
