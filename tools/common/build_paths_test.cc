// SPDX-License-Identifier: BSD-3-Clause
// Tests of finding the providers of a build, in a folder that is made for it.
#include "tools/common/build_paths.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

namespace softdat::tools {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

class BuildPathsTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "/build[1]XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    root_ = name;
  }
  void TearDown() override { fs::remove_all(root_); }

  void Touch(const std::string& path) {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << "";
  }
  std::vector<std::string> Near(const std::string& program) {
    return ProviderFoldersNear((root_ / program).string());
  }

  fs::path root_;
};

TEST_F(BuildPathsTest, FindsEachProviderFolderOnce) {
  Touch("provider_a/libdapla.so.2");
  Touch("provider_a/libdaplb.so.2");
  Touch("provider_c/libdaplc.so.2");
  Touch("provider_d/other.so");
  EXPECT_THAT(Near("tools/dat_info"),
              ElementsAre((root_ / "provider_a").string(), (root_ / "provider_c").string()));
  EXPECT_THAT(Near("tools/bench/bench_m1"), testing::SizeIs(2));
}

TEST_F(BuildPathsTest, NothingFarAway) {
  Touch("provider_a/libdapla.so.2");
  EXPECT_THAT(Near("a/b/c/program"), IsEmpty());
  EXPECT_THAT(ProviderFoldersNear("program"), IsEmpty());
}

TEST_F(BuildPathsTest, AValueOfTheUserStays) {
  setenv("SOFTDAT_PROVIDER_PATH", "/mine", 1);
  UseProvidersOfThisBuild();
  EXPECT_STREQ(getenv("SOFTDAT_PROVIDER_PATH"), "/mine");
  unsetenv("SOFTDAT_PROVIDER_PATH");
}

}  // namespace
}  // namespace softdat::tools
