// SPDX-License-Identifier: BSD-3-Clause
// Starts a program (launched_program) as launchers and shells do: without standard descriptors,
// with pipes for them, with an empty environment, as a daemon, and with small limits and all
// signals blocked. Each of these leaves in three ways: it closes everything, only the IA, or
// nothing (docs/porting.md, "What programs do").
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <string>
#include <tuple>
#include <vector>

namespace softdat::conformance {
namespace {

constexpr unsigned kPatienceS = 40;

// What is done to the process before the program starts. Only calls that a forked child may make.
struct Launch {
  const char* name;
  void (*prepare)();
  bool piped = true;  // its output comes back
};

void Nothing() {}
void ClosedInput() { close(STDIN_FILENO); }
void ClosedStandard() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) close(fd);
}
void PipedInput() {
  int ends[2];
  if (pipe(ends) != 0) _exit(126);
  close(ends[1]);
  dup2(ends[0], STDIN_FILENO);
  close(ends[0]);
}
// Nothing of the shell is left: no PATH, no HOME, no user.
void EmptyEnvironment() {
  const std::string path = getenv("SOFTDAT_PROVIDER_PATH");
  clearenv();
  setenv("SOFTDAT_PROVIDER_PATH", path.c_str(), 1);
}
// The child of the second fork is the daemon. The test process adopts it.
void Daemon() {
  setsid();
  if (fork() != 0) _exit(0);
  alarm(kPatienceS);  // which fork() does not pass on
  if (chdir("/") != 0) _exit(126);
  umask(077);
  for (int fd = 0; fd < 1024; ++fd) close(fd);
}
void SmallLimits() {
  const auto limit = [](auto resource, rlim_t value) {
    const rlimit both{value, value};
    setrlimit(resource, &both);
  };
  limit(RLIMIT_NOFILE, 64);
  limit(RLIMIT_MEMLOCK, 0);
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_STACK, 1 << 20);
}
void BlockedSignals() {
  sigset_t all;
  sigfillset(&all);
  sigdelset(&all, SIGALRM);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  signal(SIGPIPE, SIG_IGN);
  signal(SIGCHLD, SIG_IGN);
}

constexpr Launch kLaunches[] = {
    {"Plainly", Nothing},
    {"WithoutStandardInput", ClosedInput},
    {"WithoutStandardDescriptors", ClosedStandard, false},
    {"WithPipes", PipedInput},
    {"WithoutEnvironment", EmptyEnvironment},
    {"AsADaemon", Daemon, false},
    {"WithSmallLimits", SmallLimits},
    {"WithSignalsBlocked", BlockedSignals},
};

class LaunchedProgramTest : public testing::TestWithParam<std::tuple<Launch, const char*>> {
 protected:
  static void SetUpTestSuite() {
    // Relative paths, which would be meaningless after chdir().
    for (const char* name : {"SOFTDAT_PROVIDER_PATH", "LAUNCHED_PROGRAM"}) {
      char absolute[PATH_MAX];
      ASSERT_NE(realpath(getenv(name), absolute), nullptr) << name;
      setenv(name, absolute, 1);
    }
    prctl(PR_SET_CHILD_SUBREAPER, 1);
  }
  // Starts the program in this way. `output` is the read end of its output.
  static void Start(const Launch& launch, const char* way, int* output) {
    int ends[2];
    ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
    const std::string program = getenv("LAUNCHED_PROGRAM"), ia = getenv("SOFTDAT_TEST_IA");
    const pid_t pid = fork();
    ASSERT_GE(pid, 0);
    if (pid == 0) {
      alarm(kPatienceS);
      dup2(ends[1], STDOUT_FILENO);
      dup2(ends[1], STDERR_FILENO);
      launch.prepare();
      execl(program.c_str(), "launched_program", ia.c_str(), way, nullptr);
      _exit(127);
    }
    close(ends[1]);
    *output = ends[0];
  }
  static std::string ReadAll(int fd) {
    std::string text;
    char buffer[512];
    for (ssize_t n; (n = read(fd, buffer, sizeof buffer)) > 0;) {
      text.append(buffer, static_cast<size_t>(n));
    }
    close(fd);
    return text;
  }
};

TEST_P(LaunchedProgramTest, DoesItsWorkAndPrintsNothingElse) {
  const auto& [launch, way] = GetParam();
  int output = -1;
  Start(launch, way, &output);
  if (HasFatalFailure()) return;
  const std::string text = ReadAll(output);
  // Collects the program and, before it, the process that made it a daemon.
  int status = 0;
  while (wait(&status) > 0) {
    EXPECT_TRUE(WIFEXITED(status)) << "killed by signal " << WTERMSIG(status) << '\n' << text;
    EXPECT_EQ(WEXITSTATUS(status), 0) << text;
  }
  if (launch.piped) {
    EXPECT_EQ(text, "done\n");
  }
}

INSTANTIATE_TEST_SUITE_P(, LaunchedProgramTest,
                         testing::Combine(testing::ValuesIn(kLaunches),
                                          testing::Values("close", "abrupt", "return", "exit")),
                         [](const auto& p) {
                           return std::string(std::get<0>(p.param).name) + "_" +
                                  std::get<1>(p.param);
                         });

}  // namespace
}  // namespace softdat::conformance
