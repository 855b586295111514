// SPDX-License-Identifier: BSD-3-Clause
#include "tests/vm/outside_program.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <thread>

extern char** environ;

namespace softdat::vm_test {
namespace {

constexpr auto kPatience = std::chrono::seconds(60);
constexpr auto kPollEvery = std::chrono::milliseconds(20);

}  // namespace

OutsideProgram::OutsideProgram(std::vector<std::string> command) {
  std::vector<std::string> words = {"timeout", "60", "nsenter", "--net=/proc/1/ns/net"};
  words.insert(words.end(), command.begin(), command.end());
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  int to[2], from[2];
  if (pipe2(to, O_CLOEXEC) != 0 || pipe2(from, O_CLOEXEC) != 0) {
    ADD_FAILURE() << std::strerror(errno);
    return;
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, to[0], 0);
  posix_spawn_file_actions_adddup2(&actions, from[1], 1);
  posix_spawn_file_actions_adddup2(&actions, from[1], 2);
  const int error = posix_spawnp(&pid_, arguments[0], &actions, nullptr, arguments.data(), environ);
  EXPECT_EQ(error, 0) << std::strerror(error);
  if (error != 0) pid_ = -1;
  posix_spawn_file_actions_destroy(&actions);
  close(to[0]);
  close(from[1]);
  input_ = to[1];
  output_ = fdopen(from[0], "r");
}

// `timeout` passes the signal on.
OutsideProgram::~OutsideProgram() {
  if (pid_ > 0) {
    kill(pid_, SIGTERM);
    waitpid(pid_, nullptr, 0);
  }
  if (input_ >= 0) close(input_);
  if (output_ != nullptr) std::fclose(output_);
}

std::string OutsideProgram::Line() {
  char* line = nullptr;
  size_t size = 0;
  const ssize_t length = output_ != nullptr ? getline(&line, &size, output_) : -1;
  std::string text(line != nullptr ? line : "", length > 0 ? static_cast<size_t>(length) : 0);
  std::free(line);
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

std::vector<std::string> OutsideProgram::Rest() {
  std::vector<std::string> lines;
  while (output_ != nullptr && std::feof(output_) == 0) lines.push_back(Line());
  return lines;
}

// The kernel's siw listens by a socket of TCP, which the namespace's table shows.
bool SomebodyListensOutside(uint16_t port) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  char wanted[16];
  std::snprintf(wanted, sizeof wanted, ":%04X ", port);
  constexpr const char* kListens = " 0A ";
  do {
    std::ifstream table("/proc/1/net/tcp");
    for (std::string line; std::getline(table, line);) {
      const size_t local = line.find(wanted);
      // "sl: address:port address:port state". The first address is our own.
      if (local != std::string::npos && local < 20 && line.find(kListens) != std::string::npos) {
        return true;
      }
    }
    std::this_thread::sleep_for(kPollEvery);
  } while (std::chrono::steady_clock::now() < end);
  return false;
}

bool SomebodyListensByRdma(uint16_t port) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  const std::string wanted = ":" + std::to_string(port) + " ";
  do {
    OutsideProgram rdma({"rdma", "resource", "show", "cm_id"});
    for (const std::string& line : rdma.Rest()) {
      if ((line + " ").find(wanted) != std::string::npos &&
          line.find("state LISTEN") != std::string::npos) {
        return true;
      }
    }
  } while (std::chrono::steady_clock::now() < end);
  return false;
}

}  // namespace softdat::vm_test
