// SPDX-License-Identifier: BSD-3-Clause
// CountInstructions.
#include "tests/nulldevice/step_counter.h"

#include <errno.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace softdat::nulldevice {
namespace {

namespace fs = std::filesystem;

constexpr char kDebianProvider[] = "/usr/lib/x86_64-linux-gnu/libdaplofa.so.2";
// Two lengths, so that what comes before and behind the loop drops out.
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
  setenv("LD_PRELOAD", Runfile("tests/nulldevice/libnullverbs.so").c_str(), 1);
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

// A raised SIGTRAP comes from a process, a step's from the kernel.
bool IsMark(pid_t pid) {
  siginfo_t info{};
  return ptrace(PTRACE_GETSIGINFO, pid, nullptr, &info) == 0 &&
         (info.si_code == SI_TKILL || info.si_code == SI_USER);
}

long Steps(const Subject& subject, long operations, std::string* failure) {
  const pid_t pid = fork();
  if (pid < 0) {
    *failure = fmt::format("fork: {}", strerror(errno));
    return 0;
  }
  if (pid == 0) Become(subject, operations);
  int status = 0;
  long steps = 0;
  waitpid(pid, &status, 0);  // the exec
  if (WIFSTOPPED(status)) {
    if (RunToMark(pid, failure)) {
      for (;; ++steps) {
        if (ptrace(PTRACE_SINGLESTEP, pid, nullptr, nullptr) != 0 ||
            waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status)) {
          *failure = "the subject ended in its loop; its message is above";
          break;
        }
        if (IsMark(pid)) break;
      }
    }
  } else {
    *failure = fmt::format("the subject did not start (wait status {:#x})", status);
  }
  if (WIFSTOPPED(status)) {
    ptrace(PTRACE_KILL, pid, nullptr, nullptr);
    waitpid(pid, &status, 0);
  }
  return steps;
}

}  // namespace

bool DebianIsInstalled() { return fs::exists(kDebianProvider); }

std::string OurLine() {
  return fmt::format("ours u2.0 threadsafe default {} softdat.2.0 \"verbs-lo\" \"\"\n",
                     Runfile("provider_verbs/libdaplverbs.so.2").string());
}

std::string DebianLine() {
  return fmt::format("debian u2.0 nonthreadsafe default {} dapl.2.0 \"lo 0\" \"\"\n",
                     kDebianProvider);
}

Count CountInstructions(const Subject& subject) {
  Count count;
  const long few = Steps(subject, kFew, &count.failure);
  if (!count.failure.empty()) return count;
  const long many = Steps(subject, kMany, &count.failure);
  count.per_operation = static_cast<double>(many - few) / static_cast<double>(kMany - kFew);
  return count;
}

}  // namespace softdat::nulldevice
