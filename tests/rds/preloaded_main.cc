// SPDX-License-Identifier: BSD-3-Clause
// Runs the tests of this program over librds_preload.so, or, with SOFTDAT_TEST_RDS=kernel, over the
// kernel's RDS.
#include <dlfcn.h>
#include <gtest/gtest.h>
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

}  // namespace

int main(int argc, char** argv) {
  const char* const over = std::getenv("SOFTDAT_TEST_RDS");
  const bool kernel = over != nullptr && std::strcmp(over, "kernel") == 0;
  const char* const loaded = std::getenv("LD_PRELOAD");
  if (!kernel && (loaded == nullptr || std::strstr(loaded, "librds_preload.so") == nullptr)) {
    const char* const before = std::getenv("LD_LIBRARY_PATH");
    setenv("LD_LIBRARY_PATH", (std::string("rds/api:") + (before == nullptr ? "" : before)).c_str(),
           1);
    setenv("LD_PRELOAD", (SanitizerRuntime() + "rds/preload/librds_preload.so").c_str(), 1);
    execv("/proc/self/exe", argv);
    std::perror("cannot run itself");
    return 1;
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
