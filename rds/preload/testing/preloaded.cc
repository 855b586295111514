// SPDX-License-Identifier: BSD-3-Clause
#include "rds/preload/testing/preloaded.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

namespace softdat::rds::testing {
namespace {

// A sanitizer wants its run time to be the first library. "" without one.
std::string SanitizerRuntime() {
  for (const char* const start : {"__asan_init", "__tsan_init"}) {
    Dl_info library;
    void* const found = dlsym(RTLD_DEFAULT, start);
    if (found != nullptr && dladdr(found, &library) != 0)
      return std::string(library.dli_fname) + ":";
  }
  return "";
}

}  // namespace

int RunPreloaded(int argc, char** argv, const std::string& librds) {
  ::testing::InitGoogleTest(&argc, argv);
  if (getenv("SOFTDAT_TEST_PRELOADED") != nullptr) return RUN_ALL_TESTS();
  const std::string here = get_current_dir_name();
  setenv("SOFTDAT_TEST_PRELOADED", "1", 1);
  setenv("LD_PRELOAD",
         (SanitizerRuntime() + here + "/rds/preload/librds_preload.so:" + here +
          "/rds/preload/testing/early.so")
             .c_str(),
         1);
  setenv("LD_LIBRARY_PATH", (here + "/" + librds).c_str(), 1);
  execv("/proc/self/exe", argv);
  perror("execv");
  return 1;
}

FakeLibrds* LoadedFake() {
  void* const library = dlopen("librds.so", RTLD_NOW | RTLD_NOLOAD);
  if (library == nullptr) return nullptr;
  return reinterpret_cast<decltype(&fake_librds)>(dlsym(library, "fake_librds"))();
}

bool IsLoaded(const std::string& library) {
  std::stringstream maps;
  maps << std::ifstream("/proc/self/maps").rdbuf();
  return maps.str().find("/" + library) != std::string::npos;
}

}  // namespace softdat::rds::testing
