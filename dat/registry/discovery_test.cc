// SPDX-License-Identifier: BSD-3-Clause
// IAs without a dat.conf.
#include "dat/registry/discovery.h"

#include <dat2/softdat.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "dat/registry/testing/child.h"

namespace softdat::registry::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// A new folder with links to these test libraries, under these names.
std::string FolderWith(const std::vector<std::pair<std::string, std::string>>& links) {
  const std::string folder = TempFolder();
  for (const auto& [name, library] : links) {
    EXPECT_EQ(symlink(LibraryPath(library).c_str(), (folder + "/" + name).c_str()), 0);
  }
  return folder;
}

std::vector<std::string> ListedNames() {
  DAT_COUNT count = 0;
  dat_registry_list_providers(0, &count, nullptr);
  std::vector<DAT_PROVIDER_INFO> infos(static_cast<size_t>(count));
  std::vector<DAT_PROVIDER_INFO*> list;
  for (auto& info : infos) list.push_back(&info);
  EXPECT_EQ(dat_registry_list_providers(count, &count, list.data()), DAT_SUCCESS);
  std::vector<std::string> names;
  for (const auto& info : infos) names.push_back(info.ia_name);
  return names;
}

TEST(SplitPath, LeavesOutEmptyAndRepeatedParts) {
  EXPECT_THAT(SplitPath(""), ElementsAre());
  EXPECT_THAT(SplitPath("/a:/b"), ElementsAre("/a", "/b"));
  EXPECT_THAT(SplitPath(":/a::/a:"), ElementsAre("/a"));
}

TEST(FindProviderLibraries, TakesOnlyLibrariesThatCanList) {
  InChild({}, [](FakeControl* control) {
    const std::string folder = FolderWith({{"libdaplone.so.2", "libdaplfake.so.2"},
                                           {"libdaplsame.so.2", "libdaplfake.so.2"},
                                           {"libdaplforeign.so.2", "libdaplforeign.so.2"},
                                           {"libother.so.2", "libdaplother.so.2"},
                                           {"libdaplother.so.1", "libdaplother.so.2"}});
    std::ofstream(folder + "/libdaplempty.so.2");
    std::ofstream(folder + "/libdapltext.so.2") << "softdat_provider_list_ias is text";
    EXPECT_THAT(FindProviderLibraries({folder, folder, "/nonexistent"}),
                ElementsAre(folder + "/libdaplone.so.2"));
    EXPECT_EQ(control->unloads, 0) << "looking loads nothing";
  });
}

TEST(FindProviderLibraries, AFileThatIsReplacedIsReadAgain) {
  InChild({}, [](FakeControl*) {
    const std::string folder = FolderWith({});
    const std::string path = folder + "/libdaplone.so.2";
    const auto write = [&path](const std::string& text) {
      std::ofstream(path + ".new", std::ios::binary) << text << '\0';
      ASSERT_EQ(std::rename((path + ".new").c_str(), path.c_str()), 0);
    };
    ReadLibraries read;
    for (int round = 0; round < 2; ++round) {
      write("softdat_provider_list_ias");
      EXPECT_THAT(FindProviderLibraries({folder}, &read), ElementsAre(path));
      EXPECT_THAT(FindProviderLibraries({folder}, &read), ElementsAre(path));
      write("softdat_provider_list_ibs");
      EXPECT_THAT(FindProviderLibraries({folder}, &read), ElementsAre());
    }
  });
}

TEST(DiscoverIas, FirstLibraryWithANameWins) {
  InChild({}, [](FakeControl*) {
    const std::string first = FolderWith({{"libdaplb.so.2", "libdaplother.so.2"}});
    const std::string second = FolderWith({{"libdapla.so.2", "libdaplfake.so.2"}});
    std::vector<std::string> seen;
    for (const auto& ia : DiscoverIas({first, second})) {
      seen.push_back(ia.name + " " + ia.library.substr(ia.library.rfind('/') + 1) + " " +
                     ia.unavailable_reason);
    }
    EXPECT_THAT(seen, ElementsAre("other-lo libdaplb.so.2 ",
                                  "other-down libdaplb.so.2 the interface is down",
                                  "shared-name libdaplb.so.2 ", "fake-lo libdapla.so.2 ",
                                  "fake-down libdapla.so.2 the interface is down"));
  });
}

TEST(DiscoverIas, OneWantedIaLoadsNoMoreThanItMust) {
  InChild({}, [](FakeControl* control) {
    const std::string folder = FolderWith({{"libdaplaaa.so.2", "libdaplother.so.2"},
                                           {"libdaplfake.so.2", "libdaplfake.so.2"},
                                           {"libdaplfak.so.2", "libdaplforeign.so.2"}});
    // The library that is named for it is the only one that is loaded.
    EXPECT_EQ(DiscoverIas({folder}, "fake-lo").size(), 3u);
    EXPECT_EQ(control->unloads, 1);
    // No library is named for it, so all are asked in order.
    EXPECT_EQ(DiscoverIas({folder}, "other-lo").size(), 3u);
    EXPECT_EQ(control->unloads, 2);
    // The library that is named for it does not have it. So all are asked, and we know what they
    // have.
    EXPECT_EQ(DiscoverIas({folder}, "fake-eth9").size(), 5u);
    EXPECT_EQ(control->unloads, 4);
  });
}

TEST(DiscoverIas, FileThatOnlyLooksLikeAProviderIsSkipped) {
  InChild({}, [](FakeControl*) {
    const std::string folder = FolderWith({{"libdaplz.so.2", "libdaplfake.so.2"}});
    std::ofstream(folder + "/libdapla.so.2", std::ios::binary)
        << "not ELF, softdat_provider_list_ias" << '\0';
    EXPECT_EQ(DiscoverIas({folder}).size(), 3u);
  });
}

TEST(Discovery, OpensWithoutAnyFile) {
  Scenario scenario;
  scenario.set_override = false;
  scenario.provider_path = FolderWith({{"libdaplfake.so.2", "libdaplfake.so.2"}});
  InChild(scenario, [](FakeControl* control) {
    DAT_IA_HANDLE ia = nullptr;
    ASSERT_EQ(Open("fake-lo", &ia), DAT_SUCCESS) << LastReason();
    EXPECT_STREQ(control->ia_params, "");
    EXPECT_EQ(control->info.dapl_version_major, 2u);
    EXPECT_EQ(control->info.dapl_version_minor, 0u);
    EXPECT_EQ(control->info.is_thread_safe, DAT_FALSE);
    DAT_IA_HANDLE second = nullptr;
    ASSERT_EQ(Open("fake-lo", &second), DAT_SUCCESS);
    EXPECT_EQ(control->inits, 1);
    EXPECT_EQ(dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS);
    EXPECT_EQ(dat_ia_close(second, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS);
    EXPECT_EQ(control->finis, 1);
    EXPECT_EQ(Open("fake-eth9", &ia),
              DAT_CLASS_ERROR | DAT_PROVIDER_NOT_FOUND | DAT_NAME_NOT_REGISTERED);
    EXPECT_THAT(LastReason(), HasSubstr("the registry has: fake-lo, shared-name"));
    EXPECT_THAT(ListedNames(), Contains("fake-lo"));
  });
}

TEST(Discovery, WhatFollowsASlashIsTheProviders) {
  Scenario scenario;
  scenario.set_override = false;
  scenario.provider_path = FolderWith({{"libdaplfake.so.2", "libdaplfake.so.2"}});
  InChild(scenario, [](FakeControl* control) {
    DAT_IA_HANDLE ia = nullptr;
    ASSERT_EQ(Open("fake-lo/fd00::1", &ia), DAT_SUCCESS) << LastReason();
    EXPECT_STREQ(control->info.ia_name, "fake-lo/fd00::1");
    EXPECT_THAT(ListedNames(), Contains("fake-lo"));
    EXPECT_EQ(dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS);
    EXPECT_THAT(ListedNames(), Not(Contains("fake-lo/fd00::1")));
    constexpr DAT_RETURN kUnknown =
        DAT_CLASS_ERROR | DAT_PROVIDER_NOT_FOUND | DAT_NAME_NOT_REGISTERED;
    EXPECT_EQ(Open("fake-eth9/fd00::1", &ia), kUnknown);
    EXPECT_EQ(Open("/fake-lo", &ia), kUnknown);
    control->open_result = DAT_CLASS_ERROR | DAT_INVALID_ADDRESS;
    EXPECT_EQ(Open("fake-lo/nothing", &ia), DAT_CLASS_ERROR | DAT_INVALID_ADDRESS);
  });
}

TEST(Discovery, AddsToWhatTheFileNames) {
  Scenario scenario;
  scenario.conf = ConfLine("fake-lo", "libdaplother.so.2", "u2.0", "nonthreadsafe", "from file") +
                  ConfLine("ia0", "libdaplother.so.2");
  scenario.provider_path = FolderWith({{"libdaplfake.so.2", "libdaplfake.so.2"}});
  InChild(scenario, [](FakeControl* control) {
    // There is no device called "from". IAs that may be opened come first.
    EXPECT_THAT(ListedNames(), ElementsAre("ia0", "shared-name", "fake-lo", "fake-down"));
    DAT_IA_HANDLE ia = nullptr;
    ASSERT_EQ(Open("fake-lo", &ia), DAT_SUCCESS);
    EXPECT_STREQ(control->ia_params, "from file");
    ASSERT_EQ(Open("shared-name", &ia), DAT_SUCCESS);
    EXPECT_STREQ(control->library, "fake");
  });
}

TEST(Discovery, ALineForProgramsOf12HidesNothing) {
  Scenario scenario;
  scenario.conf = ConfLine("fake-lo", "libdaplother.so.2", "u1.2");
  scenario.provider_path = FolderWith({{"libdaplfake.so.2", "libdaplfake.so.2"}});
  InChild(scenario, [](FakeControl* control) {
    EXPECT_THAT(ListedNames(), ElementsAre("fake-lo", "shared-name", "fake-lo", "fake-down"));
    DAT_IA_HANDLE ia = nullptr;
    ASSERT_EQ(Open("fake-lo", &ia), DAT_SUCCESS) << LastReason();
    EXPECT_STREQ(control->library, "fake");
  });
}

TEST(Discovery, WhatAFewPlacesTakeIsWhatCanBeOpened) {
  Scenario scenario;
  for (int i = 0; i < 62; ++i) {
    const std::string n = std::to_string(i);
    scenario.conf += ConfLine("ofa-v2-" + n, "libdaplother.so.2", "u2.0", "nonthreadsafe",
                              "nodevice" + n + " 0");
  }
  scenario.conf += ConfLine("mine", "libdaplother.so.2", "u2.0", "nonthreadsafe", "lo 0");
  scenario.conf += ConfLine("gone", "libnowhere.so.2");
  scenario.provider_path = FolderWith({{"libdaplfake.so.2", "libdaplfake.so.2"}});
  InChild(scenario, [](FakeControl*) {
    DAT_PROVIDER_INFO infos[4] = {};
    DAT_PROVIDER_INFO* list[] = {&infos[0], &infos[1], &infos[2], &infos[3]};
    DAT_COUNT count = 0;
    ASSERT_EQ(dat_registry_list_providers(4, &count, list), DAT_SUCCESS);
    ASSERT_EQ(count, 4);
    std::vector<std::string> names;
    for (const auto& info : infos) names.push_back(info.ia_name);
    EXPECT_THAT(names, ElementsAre("mine", "fake-lo", "shared-name", "ofa-v2-0"));
    EXPECT_EQ(ListedNames().size(), 67u);
  });
}

TEST(Discovery, AMistypedNameGetsTheNearestOnes) {
  Scenario scenario;
  scenario.set_override = false;
  scenario.provider_path = FolderWith({{"libdaplfake.so.2", "libdaplfake.so.2"}});
  InChild(scenario, [](FakeControl*) {
    DAT_IA_HANDLE ia = nullptr;
    EXPECT_EQ(Open("fakelo", &ia),
              DAT_CLASS_ERROR | DAT_PROVIDER_NOT_FOUND | DAT_NAME_NOT_REGISTERED);
    EXPECT_THAT(LastReason(), HasSubstr("the nearest: fake-lo"));
  });
}

TEST(Discovery, FileThatNamesTheIaOtherwiseIsNotOverruled) {
  Scenario scenario;
  scenario.conf = ConfLine("fake-lo", "libdaplother.so.2", "u2.1", "threadsafe");
  scenario.provider_path = FolderWith({{"libdaplfake.so.2", "libdaplfake.so.2"}});
  InChild(scenario, [](FakeControl* control) {
    DAT_IA_HANDLE ia = nullptr;
    ASSERT_EQ(Open("fake-lo", &ia), DAT_SUCCESS) << LastReason();
    EXPECT_STREQ(control->library, "other");
    EXPECT_THAT(ListedNames(), ElementsAre("fake-lo", "shared-name", "fake-down"));
  });
}

TEST(Discovery, ProviderDecidesAboutAnUnavailableIa) {
  Scenario scenario;
  scenario.set_override = false;
  scenario.provider_path = FolderWith({{"libdaplfake.so.2", "libdaplfake.so.2"}});
  InChild(scenario, [](FakeControl* control) {
    control->open_result = DAT_CLASS_ERROR | DAT_INVALID_ADDRESS;
    DAT_IA_HANDLE ia = nullptr;
    EXPECT_EQ(Open("fake-down", &ia), DAT_CLASS_ERROR | DAT_INVALID_ADDRESS);
  });
}

}  // namespace
}  // namespace softdat::registry::testing
