// SPDX-License-Identifier: BSD-3-Clause
// Runs the tests of this program over librds_preload.so, or, with SOFTDAT_TEST_RDS=kernel, over the
// kernel's RDS. With a sanitizer each test has a process of its own: its threads would be in the
// way of the next one's fork.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

// A sanitizer wants its run time to be the first library. "" without one.
std::string SanitizerRuntime() {
  Dl_info library;
  void* const found = dlsym(RTLD_DEFAULT, "__asan_init");
  if (found == nullptr || dladdr(found, &library) == 0) return "";
  return std::string(library.dli_fname) + ":";
}

bool IsSanitized() {
  return dlsym(RTLD_DEFAULT, "__asan_init") != nullptr ||
         dlsym(RTLD_DEFAULT, "__tsan_init") != nullptr;
}

bool RunAlone(const testing::TestInfo& test) {
  const std::string filter =
      std::string("--gtest_filter=") + test.test_suite_name() + "." + test.name();
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    unsetenv("XML_OUTPUT_FILE");
    execl("/proc/self/exe", "test", filter.c_str(), nullptr);
    _exit(1);
  }
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

int RunEachAlone() {
  const testing::UnitTest& all = *testing::UnitTest::GetInstance();
  int failed = 0;
  for (int i = 0; i < all.total_test_suite_count(); ++i) {
    const testing::TestSuite& suite = *all.GetTestSuite(i);
    for (int k = 0; k < suite.total_test_count(); ++k) {
      if (!RunAlone(*suite.GetTestInfo(k))) ++failed;
    }
  }
  return failed == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const char* const over = std::getenv("SOFTDAT_TEST_RDS");
  const bool kernel = over != nullptr && std::strcmp(over, "kernel") == 0;
  const char* const loaded = std::getenv("LD_PRELOAD");
  if (!kernel && (loaded == nullptr || std::strstr(loaded, "librds_preload.so") == nullptr)) {
    const char* const before = std::getenv("LD_LIBRARY_PATH");
    setenv("LD_LIBRARY_PATH", (std::string("rds/api:") + (before == nullptr ? "" : before)).c_str(),
           1);
    // A thousandth of a second is enough to wait for races at the end of each of many processes.
    setenv("TSAN_OPTIONS", "atexit_sleep_ms=1", 0);
    setenv("LD_PRELOAD", (SanitizerRuntime() + "rds/preload/librds_preload.so").c_str(), 1);
    execv("/proc/self/exe", argv);
    std::perror("cannot run itself");
    return 1;
  }
  testing::InitGoogleTest(&argc, argv);
  if (IsSanitized() && testing::GTEST_FLAG(filter) == "*") return RunEachAlone();
  return RUN_ALL_TESTS();
}
