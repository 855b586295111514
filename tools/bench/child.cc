// SPDX-License-Identifier: BSD-3-Clause
// Runs this program once more, as a child.
#include "tools/bench/child.h"

#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace softdat::tools {
namespace {

std::vector<char*> Pointers(std::vector<std::string>* words) {
  std::vector<char*> pointers;
  pointers.reserve(words->size() + 1);
  for (auto& word : *words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

// This process's environment, with `additions` in place of the variables that they set.
std::vector<std::string> Environment(const std::vector<std::string>& additions) {
  std::vector<std::string> result = additions;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view ours(*entry);
    const std::string_view name = ours.substr(0, ours.find('=') + 1);
    bool replaced = false;
    for (const auto& addition : additions) replaced = replaced || addition.starts_with(name);
    if (!replaced) result.emplace_back(ours);
  }
  return result;
}

}  // namespace

Child::~Child() {
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

Outcome Child::Start(const std::vector<std::string>& arguments,
                     const std::vector<std::string>& environment) {
  // A socket rather than a pipe: writing to a child that has gone is then an error, not a signal.
  int to[2];
  int from[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, to) != 0)
    return Outcome::Fail(fmt::format("cannot make a socket pair: {}", strerror(errno)));
  in_ = UniqueFd(to[0]);
  const UniqueFd its_in(to[1]);
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, from) != 0)
    return Outcome::Fail(fmt::format("cannot make a socket pair: {}", strerror(errno)));
  out_ = UniqueFd(from[0]);
  const UniqueFd its_out(from[1]);

  std::vector<std::string> words = {"/proc/self/exe"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<std::string> variables = Environment(environment);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, its_in.get(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, its_out.get(), STDOUT_FILENO);
  const int error = posix_spawn(&pid_, words[0].c_str(), &actions, nullptr, Pointers(&words).data(),
                                Pointers(&variables).data());
  posix_spawn_file_actions_destroy(&actions);
  if (error == 0) return {};
  pid_ = -1;
  return Outcome::Fail(fmt::format("cannot start a process: {}", strerror(error)));
}

Outcome Child::Tell(const std::string& line) {
  const std::string text = line + "\n";
  size_t sent = 0;
  while (sent < text.size()) {
    const ssize_t n = send(in_.get(), text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return Outcome::Fail("a process of the measurement has ended");
    sent += static_cast<size_t>(n);
  }
  return {};
}

Outcome Child::Hear(std::string* line) {
  while (true) {
    if (const size_t end = heard_.find('\n'); end != std::string::npos) {
      *line = heard_.substr(0, end);
      heard_.erase(0, end + 1);
      return {};
    }
    char buffer[512];
    const ssize_t n = recv(out_.get(), buffer, sizeof buffer, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return Outcome::Fail("a process of the measurement has ended");
    heard_.append(buffer, static_cast<size_t>(n));
  }
}

void EndWithParent() { prctl(PR_SET_PDEATHSIG, SIGKILL); }

}  // namespace softdat::tools
