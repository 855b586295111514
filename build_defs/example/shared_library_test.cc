// SPDX-License-Identifier: BSD-3-Clause
// What softdat_shared_library promises: linkable, soname, version node, nothing leaks out.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include "build_defs/example/example.h"

namespace {

TEST(SharedLibrary, LinksByItsSoname) {
  EXPECT_EQ(softdat_example_words("a bc  d", 7), 3u);
  void* library = dlopen("libsoftdat_example.so.2", RTLD_NOW | RTLD_NOLOAD);
  ASSERT_NE(library, nullptr) << dlerror();
  EXPECT_NE(dlvsym(library, "softdat_example_words", "EXAMPLE_2.0"), nullptr);
  EXPECT_EQ(dlvsym(library, "softdat_example_words", "EXAMPLE_1.0"), nullptr);
  dlclose(library);
}

TEST(SharedLibrary, KeepsTheRestToItself) {
  void* library = dlopen("libsoftdat_example.so.2", RTLD_NOW | RTLD_NOLOAD);
  ASSERT_NE(library, nullptr) << dlerror();
  EXPECT_EQ(dlsym(library, "softdat_example_hidden"), nullptr);
  dlclose(library);
}

}  // namespace
