// SPDX-License-Identifier: BSD-3-Clause
// The resources that this process uses, according to /proc.
#include "tests/field/process.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

namespace {

bool g_is_child = false;

}  // namespace

#ifdef __SANITIZE_ADDRESS__
// LeakSanitizer asks this at exit. In a child it would wait for its own locks that threads of the
// parent held, and stop threads that do not exist.
extern "C" [[gnu::visibility("default")]] int __lsan_is_turned_off() { return g_is_child ? 1 : 0; }
#endif

namespace softdat::field {
namespace {
constexpr std::chrono::seconds kPatience{30};

// Opened once and read anew each time, because a look must not take a descriptor number that has
// just become free.
int StatDescriptor() {
  static const int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
  return fd;
}

}  // namespace

std::set<int> OpenDescriptors() {
  StatDescriptor();
  constexpr int kMost = 4096;
  std::set<int> fds;
  for (int fd = 0; fd < kMost; ++fd) {
    if (fcntl(fd, F_GETFD) >= 0) fds.insert(fd);
  }
  return fds;
}

size_t Threads() {
  char text[1024] = {};
  if (pread(StatDescriptor(), text, sizeof(text) - 1, 0) <= 0) return 0;
  // "pid (name) state ...": the count is the 18th field after the name, which may contain anything.
  const char* const name_end = std::strrchr(text, ')');
  if (name_end == nullptr) return 0;
  std::istringstream fields(name_end + 1);
  std::string field;
  for (int i = 0; i < 18; ++i) fields >> field;
  return std::strtoull(field.c_str(), nullptr, 10);
}

size_t PrivateBytes() {
  std::ifstream statm("/proc/self/statm");
  size_t total = 0;
  size_t resident = 0;
  size_t shared = 0;
  statm >> total >> resident >> shared;
  return (resident - shared) * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

std::string DescriptorName(int fd) {
  char target[256] = {};
  const std::string link = "/proc/self/fd/" + std::to_string(fd);
  const ssize_t n = readlink(link.c_str(), target, sizeof(target) - 1);
  return n < 0 ? "?" : target;
}

std::vector<int> Inheritable(const std::set<int>& fds) {
  std::vector<int> found;
  for (const int fd : fds) {
    const int flags = fcntl(fd, F_GETFD);
    if (flags >= 0 && (flags & FD_CLOEXEC) == 0) found.push_back(fd);
  }
  return found;
}

bool Eventually(const std::function<bool()>& condition) {
  const auto until = std::chrono::steady_clock::now() + kPatience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > until) return false;
    sched_yield();
  }
  return true;
}

int StartChild(const std::function<int()>& body) {
  std::fflush(nullptr);
  const pid_t pid = fork();
  if (pid == 0) {
    g_is_child = true;
    alarm(25);
    _exit(body());
  }
  return pid;
}

int WaitForChild(int pid) {
  int status = 0;
  if (!Eventually([&] { return waitpid(pid, &status, WNOHANG) != 0; })) {
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
    return -1;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

}  // namespace softdat::field
