// SPDX-License-Identifier: BSD-3-Clause
// Starting and ending the server processes.
#include "tools/bench/peer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>

namespace softdat::tools {
namespace {

// One line from a pipe, without its newline; what came before an early end.
std::string ReadLine(int fd) {
  std::string line;
  char c = 0;
  while (line.size() < 100) {
    const ssize_t got = read(fd, &c, 1);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0 || c == '\n') break;
    line += c;
  }
  return line;
}

}  // namespace

Peer::~Peer() {
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

Outcome Peer::Start(const std::vector<std::string>& arguments) {
  int fds[2];
  if (pipe2(fds, O_CLOEXEC) != 0)
    return Outcome::Fail(fmt::format("cannot make a pipe: {}", strerror(errno)));
  std::vector<std::string> words = {"/proc/self/exe"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (auto& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, fds[1], STDOUT_FILENO);
  const int error = posix_spawn(&pid_, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(fds[1]);
  const std::string line = error == 0 ? ReadLine(fds[0]) : "";
  close(fds[0]);
  if (error != 0) {
    pid_ = -1;
    return Outcome::Fail(fmt::format("cannot start a server process: {}", strerror(error)));
  }
  const char* end = line.data() + line.size();
  const auto parsed = std::from_chars(line.data(), end, port_);
  if (parsed.ec != std::errc() || parsed.ptr != end)
    return Outcome::Fail("a server process did not start; its message is above");
  return {};
}

void AnnouncePort(uint64_t port) {
  // The server must not outlive its client, however that ends.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  fmt::print("{}\n", port);
  std::fflush(stdout);
}

}  // namespace softdat::tools
