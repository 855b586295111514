// SPDX-License-Identifier: BSD-3-Clause
// Unloading libdat2 itself, as a program does that loaded it with dlopen.
#include <dat2/udat.h>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>
#include <string>

namespace {

std::string WriteConf() {
  const std::string path = std::string(getenv("TEST_TMPDIR")) + "/dat.conf";
  std::ofstream(path) << "ia0 u2.0 nonthreadsafe default libnosuch.so x.1.0 a b\n";
  return path;
}

// Loads, uses and unloads the library twice. Its destructor drops the registry's memory and the
// fork handlers.
// covers: semantics 14
TEST(Shutdown, LibraryCanBeLoadedUsedAndUnloadedAgain) {
  setenv("DAT_OVERRIDE", WriteConf().c_str(), 1);
  for (int round = 0; round < 2; ++round) {
    void* library = dlopen("dat/registry/libdat2.so.2", RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library, nullptr) << dlerror();
    auto list = reinterpret_cast<decltype(&dat_registry_list_providers)>(
        dlsym(library, "dat_registry_list_providers"));
    ASSERT_NE(list, nullptr);
    DAT_COUNT count = 0;
    list(0, &count, nullptr);
    EXPECT_EQ(count, 1);
    EXPECT_EQ(dlclose(library), 0);
    EXPECT_EQ(dlopen("dat/registry/libdat2.so.2", RTLD_NOW | RTLD_NOLOAD), nullptr);
  }
}

}  // namespace
