// SPDX-License-Identifier: BSD-3-Clause
#include "tools/rds/stress_children.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

namespace softdat::tools {
namespace {

Outcome MakePipe(UniqueFd* read, UniqueFd* write) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return Outcome::Fail(fmt::format("pipe: {}", strerrordesc_np(errno)));
  *read = UniqueFd(ends[0]);
  *write = UniqueFd(ends[1]);
  return {};
}

// The life of a task's process, to its end.
[[noreturn]] void Live(const StressTaskSetup& setup) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // Ctrl-C goes to all processes, and the parent decides what it means.
  signal(SIGINT, SIG_IGN);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  const Outcome outcome = RunStressTask(setup);
  if (!outcome.ok()) {
    const std::string text = outcome.message() + "\n";
    // If this fails, the exit status still tells.
    static_cast<void>(!write(setup.report, text.data(), text.size()));
  }
  std::fflush(nullptr);
  _exit(outcome.exit_code());
}

}  // namespace

StressChildren::~StressChildren() {
  Kill();
  if (counts_ != nullptr) munmap(counts_, children_.size() * sizeof *counts_);
}

Outcome StressChildren::Start(StressTaskSetup setup, int unneeded) {
  for (Gate& gate : gates_) SOFTDAT_TRY(MakePipe(&gate.read, &gate.write));
  setup.gates = {gates_[kRun].read.get(), gates_[kDrain].read.get(), gates_[kEnd].read.get()};
  children_.resize(setup.job.tasks);
  void* const shared = mmap(nullptr, children_.size() * sizeof *counts_, PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return Outcome::Fail(fmt::format("mmap: {}", strerrordesc_np(errno)));
  counts_ = static_cast<SharedCounts*>(shared);
  // Else a child would write again what waits to be written.
  std::fflush(nullptr);
  for (size_t i = 0; i < children_.size(); ++i) {
    UniqueFd report;
    SOFTDAT_TRY(MakePipe(&children_[i].reports, &report));
    const pid_t process = fork();
    if (process < 0)
      return Outcome::Fail(
          fmt::format("fork: {}\n  fewer tasks (-t), or a higher limit on "
                      "processes (ulimit -u)",
                      strerrordesc_np(errno)));
    if (process == 0) {
      for (Gate& gate : gates_) gate.write = UniqueFd();
      close(unneeded);
      setup.task = static_cast<uint16_t>(i);
      setup.report = report.get();
      setup.counts = counts_ + i;
      Live(setup);
    }
    children_[i].process = process;
    fcntl(children_[i].reports.get(), F_SETFL, O_NONBLOCK);
  }
  return {};
}

void StressChildren::AddTo(std::vector<pollfd>* polled) const {
  for (const Child& child : children_) {
    if (!child.ended) polled->push_back({child.reports.get(), POLLIN, 0});
  }
}

Outcome StressChildren::Look() {
  for (size_t i = 0; i < children_.size(); ++i) {
    Child& child = children_[i];
    if (child.ended) continue;
    char buffer[1024];
    const ssize_t size = read(child.reports.get(), buffer, sizeof buffer);
    if (size < 0) continue;
    child.lines.Add(buffer, static_cast<size_t>(size));
    while (auto line = child.lines.Next()) {
      if (*line == "ready") {
        ++ready_;
      } else if (*line == "drained") {
        ++drained_;
      } else {
        child.failure += (child.failure.empty() ? "" : "\n") + *line;
      }
    }
    if (size == 0) SOFTDAT_TRY(Ended(i));
  }
  return {};
}

Outcome StressChildren::Ended(size_t index) {
  Child& child = children_[index];
  int status = 0;
  while (waitpid(child.process, &status, 0) < 0 && errno == EINTR) continue;
  child.ended = true;
  ++ended_;
  if (WIFSIGNALED(status))
    return Outcome::Fail(
        fmt::format("task {} was ended by signal {}", index, strsignal(WTERMSIG(status))));
  if (WEXITSTATUS(status) == kExitOk) return {};
  return Outcome::Fail(
      static_cast<ExitCode>(WEXITSTATUS(status)),
      fmt::format("task {}: {}", index, child.failure.empty() ? "it failed" : child.failure));
}

StressCounts StressChildren::Counts() const {
  StressCounts sum;
  for (size_t i = 0; i < children_.size(); ++i) sum += counts_[i].Read();
  return sum;
}

void StressChildren::Kill() {
  for (Child& child : children_) {
    if (child.ended || child.process < 0) continue;
    kill(child.process, SIGKILL);
    while (waitpid(child.process, nullptr, 0) < 0 && errno == EINTR) continue;
    child.ended = true;
    ++ended_;
  }
}

}  // namespace softdat::tools
