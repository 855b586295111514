// SPDX-License-Identifier: BSD-3-Clause
// Threads that open, use, list and close at once.
#include <dat2/dat_registry.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "dat/registry/testing/child.h"

namespace softdat::registry::testing {
namespace {

constexpr int kThreads = 4;
constexpr int kRounds = 150;

void RunThreads(const std::function<void(int)>& body) {
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) threads.emplace_back(body, t);
  for (auto& thread : threads) thread.join();
}

// Opens, makes and frees an object, closes. Returns how many steps went wrong.
int UseIa(const std::string& name) {
  int failures = 0;
  DAT_IA_HANDLE ia = nullptr;
  DAT_PZ_HANDLE pz = nullptr;
  DAT_HANDLE_TYPE type = DAT_HANDLE_TYPE_EP;
  if (Open(name, &ia) != DAT_SUCCESS) return 1;
  failures += dat_pz_create(ia, &pz) != DAT_SUCCESS;
  failures += dat_get_handle_type(pz, &type) != DAT_SUCCESS || type != DAT_HANDLE_TYPE_PZ;
  failures += dat_pz_free(pz) != DAT_SUCCESS;
  failures += DAT_GET_TYPE(dat_pz_free(nullptr)) != DAT_INVALID_HANDLE;
  failures += dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG) != DAT_SUCCESS;
  return failures;
}

// A new folder in which the IA "fake-lo" can be found.
std::string FolderWithFake() {
  const std::string folder = TempFolder();
  EXPECT_EQ(
      symlink(LibraryPath("libdaplfake.so.2").c_str(), (folder + "/libdaplfake.so.2").c_str()), 0);
  return folder;
}

class Threads : public ::testing::TestWithParam<const char*> {};

TEST_P(Threads, OpenUseListClose) {
  Scenario scenario;
  scenario.conf = ConfLine("ia0", GetParam()) + ConfLine("ia1", GetParam());
  InChild(scenario, [](FakeControl* control) {
    std::atomic<int> failures{0};
    RunThreads([&failures](int thread) {
      for (int i = 0; i < kRounds; ++i) {
        failures += UseIa((i + thread) % 2 == 0 ? "ia0" : "ia1");
        DAT_COUNT count = 0;
        if (i % 16 == 0) {
          dat_registry_list_providers(0, &count, nullptr);
          failures += count != 2;
        }
      }
    });
    EXPECT_EQ(failures, 0);
    EXPECT_EQ(control->opens, kThreads * kRounds);
    EXPECT_EQ(control->closes, kThreads * kRounds);
    EXPECT_EQ(control->inits, control->finis);
    EXPECT_LE(control->max_loaded, 2) << "never two inits of one IA without a fini";
  });
}

INSTANTIATE_TEST_SUITE_P(Providers, Threads,
                         ::testing::Values("libdaplfake.so.2", "libdaplforeign.so.2"));

TEST(ThreadsOnOneIa, OnlyOneCloseSucceeds) {
  Scenario scenario;
  scenario.conf = ConfLine("ia0", "libdaplfake.so.2");
  InChild(scenario, [](FakeControl* control) {
    DAT_IA_HANDLE keeper = nullptr;
    ASSERT_EQ(Open("ia0", &keeper), DAT_SUCCESS);
    for (int i = 0; i < 50; ++i) {
      DAT_IA_HANDLE ia = nullptr;
      ASSERT_EQ(Open("ia0", &ia), DAT_SUCCESS);
      std::atomic<int> closed{0};
      RunThreads([&](int) { closed += dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG) == DAT_SUCCESS; });
      EXPECT_EQ(closed, 1);
    }
    EXPECT_EQ(control->closes, 50);
    EXPECT_EQ(control->finis, 0);
  });
}

DAT_HA_RELATIONSHIP RelatedToItself(std::string name) {
  DAT_HA_RELATIONSHIP related = DAT_HA_CONFLICTING;
  EXPECT_EQ(dat_registry_providers_related(name.data(), name.data(), &related), DAT_SUCCESS);
  return related;
}

// The last close of an IA that was found in a folder unloads its provider, and the registry forgets
// it. That must not happen while the provider is asked something on behalf of another thread.
TEST(ThreadsOnOneIa, ACloseLeavesTheProviderThatIsAsked) {
  Scenario scenario;
  scenario.provider_path = FolderWithFake();
  InChild(scenario, [](FakeControl* control) {
    DAT_IA_HANDLE ia = nullptr;
    ASSERT_EQ(Open("fake-lo", &ia), DAT_SUCCESS);
    control->hold_related = true;
    std::thread asking([] { EXPECT_EQ(RelatedToItself("fake-lo"), DAT_HA_TRUE); });
    while (control->inside_related == 0) std::this_thread::yield();
    EXPECT_EQ(dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS);
    EXPECT_EQ(control->finis, 0);
    control->hold_related = false;
    asking.join();
    EXPECT_EQ(control->finis, 1);
  });
}

TEST(ThreadsOnOneIa, AskWhileOthersOpenAndClose) {
  Scenario scenario;
  scenario.provider_path = FolderWithFake();
  InChild(scenario, [](FakeControl*) {
    std::atomic<int> failures{0};
    std::atomic<bool> done{false};
    std::thread asking([&done] {
      while (!done) EXPECT_NE(RelatedToItself("fake-lo"), DAT_HA_FALSE);
    });
    for (int i = 0; i < kRounds; ++i) failures += UseIa("fake-lo");
    done = true;
    asking.join();
    EXPECT_EQ(failures, 0);
  });
}

}  // namespace
}  // namespace softdat::registry::testing
