// SPDX-License-Identifier: BSD-3-Clause
// CountInstructions().
#include "tests/nulldevice/step_counter.h"

#include <errno.h>
#include <fmt/format.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace softdat::nulldevice {
namespace {

namespace fs = std::filesystem;

constexpr char kOfaProvider[] = "/usr/lib/x86_64-linux-gnu/libdaplofa.so.2";
constexpr char kDebianLibdat2[] = "/usr/lib/x86_64-linux-gnu/libdat2.so.2";
// Two lengths, so that the code before and after the loop drops out.
constexpr long kFew = 20;
constexpr long kMany = 80;

// The runfiles of `bazel test` and `bazel run`: the working directory is their root.
fs::path Runfile(const std::string& name) { return fs::absolute(name); }

// The child, before exec.
[[noreturn]] void Become(const Subject& subject, long operations) {
  const std::string& conf = subject.dat_conf;
  const int file = memfd_create("dat.conf", 0);
  if (file < 0 || write(file, conf.data(), conf.size()) != static_cast<ssize_t>(conf.size()))
    _exit(125);
  setenv("DAT_OVERRIDE", fmt::format("/proc/self/fd/{}", file).c_str(), 1);
  std::string preload = Runfile("tests/nulldevice/libnullverbs.so").string();
  // The program would load our library, which has the same name.
  if (subject.debian_libdat2) preload += fmt::format(":{}", kDebianLibdat2);
  setenv("LD_PRELOAD", preload.c_str(), 1);
  const std::string count = std::to_string(operations);
  const std::string program =
      Runfile(subject.is_12 ? "tests/nulldevice/subject12" : "tests/nulldevice/subject");
  ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
  execl(program.c_str(), program.c_str(), subject.ia.c_str(), count.c_str(),
        subject.reaps ? nullptr : "posts", nullptr);
  _exit(126);
}

// Lets the subject run to its next SIGTRAP of its own.
bool RunToMark(pid_t pid, std::string* failure) {
  int signal = 0;
  for (;;) {
    int status = 0;
    if (ptrace(PTRACE_CONT, pid, nullptr, signal) != 0 || waitpid(pid, &status, 0) != pid) {
      *failure = fmt::format("ptrace: {}", strerror(errno));
      return false;
    }
    if (!WIFSTOPPED(status)) {
      *failure = fmt::format("the subject ended early (wait status {:#x})", status);
      return false;
    }
    signal = WSTOPSIG(status);
    if (signal == SIGTRAP) return true;
  }
}

// A process raises the SIGTRAP of a mark, the kernel that of a step.
bool IsMark(pid_t pid) {
  siginfo_t info{};
  return ptrace(PTRACE_GETSIGINFO, pid, nullptr, &info) == 0 &&
         (info.si_code == SI_TKILL || info.si_code == SI_USER);
}

// Where the code of libdat2 lies in the subject. It is the package's file if that is to run.
struct Range {
  uintptr_t begin = 0, end = 0;
  bool Contains(uintptr_t address) const { return address - begin < end - begin; }
};

Range FindLibdat2(pid_t pid, bool debian, std::string* failure) {
  std::ifstream maps(fmt::format("/proc/{}/maps", pid));
  for (std::string line; std::getline(maps, line);) {
    if (line.find("r-xp") == std::string::npos || line.find("/libdat2.so.2") == std::string::npos)
      continue;
    if (debian != (line.find(" /usr/lib/") != std::string::npos)) break;
    Range range;
    if (std::sscanf(line.c_str(), "%lx-%lx", &range.begin, &range.end) == 2) return range;
  }
  *failure = "the subject does not run with the libdat2 that was asked for";
  return {};
}

struct Steps {
  long all = 0;
  long in_libdat2 = 0;
};

// Executes one instruction. Returns false if the subject has ended or has come to its mark.
bool Step(pid_t pid, std::string* failure) {
  int status = 0;
  if (ptrace(PTRACE_SINGLESTEP, pid, nullptr, nullptr) != 0 || waitpid(pid, &status, 0) != pid ||
      !WIFSTOPPED(status)) {
    *failure = "the subject ended in its loop; its message is above";
    return false;
  }
  return !IsMark(pid);
}

uintptr_t InstructionPointer(pid_t pid) {
  return static_cast<uintptr_t>(ptrace(
      PTRACE_PEEKUSER, pid, offsetof(user, regs) + offsetof(user_regs_struct, rip), nullptr));
}

Steps CountSteps(const Subject& subject, long operations, std::string* failure) {
  Steps steps;
  const pid_t pid = fork();
  if (pid < 0) {
    *failure = fmt::format("fork: {}", strerror(errno));
    return steps;
  }
  if (pid == 0) Become(subject, operations);
  int status = 0;
  waitpid(pid, &status, 0);  // the exec
  if (!WIFSTOPPED(status)) {
    *failure = fmt::format("the subject did not start (wait status {:#x})", status);
    return steps;
  }
  if (RunToMark(pid, failure)) {
    Range libdat2;
    if (subject.ia != "-") libdat2 = FindLibdat2(pid, subject.debian_libdat2, failure);
    while (failure->empty() && Step(pid, failure)) {
      ++steps.all;
      if (libdat2.Contains(InstructionPointer(pid))) ++steps.in_libdat2;
    }
  }
  if (kill(pid, SIGKILL) == 0) waitpid(pid, &status, 0);
  return steps;
}

}  // namespace

// Debian's libdat2 finds a line only with the thread safety that the program has asked for.
std::string OurLine() {
  return fmt::format("ours u2.0 nonthreadsafe default {} softdat.2.0 \"verbs-lo\" \"\"\n",
                     Runfile("provider_verbs/libdaplverbs.so.2").string());
}

std::string OfaLine() {
  return fmt::format("ofa u2.0 nonthreadsafe default {} dapl.2.0 \"lo 0\" \"\"\n", kOfaProvider);
}

Count CountInstructions(const Subject& subject) {
  Count count;
  const Steps few = CountSteps(subject, kFew, &count.failure);
  if (!count.failure.empty()) return count;
  const Steps many = CountSteps(subject, kMany, &count.failure);
  constexpr auto kOperations = static_cast<double>(kMany - kFew);
  count.per_operation = static_cast<double>(many.all - few.all) / kOperations;
  count.in_libdat2 = static_cast<double>(many.in_libdat2 - few.in_libdat2) / kOperations;
  return count;
}

}  // namespace softdat::nulldevice
