// SPDX-License-Identifier: BSD-3-Clause
// What this process uses, as /proc tells.
#include "tests/field/process.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace softdat::field {
namespace {
constexpr std::chrono::seconds kPatience{30};
}

std::set<int> OpenDescriptors() {
  std::set<int> fds;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    fds.insert(std::atoi(entry.path().filename().c_str()));
  }
  // The directory's own descriptor is closed again by now.
  for (auto it = fds.begin(); it != fds.end();) {
    it = fcntl(*it, F_GETFD) < 0 ? fds.erase(it) : std::next(it);
  }
  return fds;
}

size_t Threads() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return static_cast<size_t>(std::distance(begin(tasks), end(tasks)));
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
