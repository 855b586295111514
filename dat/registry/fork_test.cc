// SPDX-License-Identifier: BSD-3-Clause
// A forked child that uses inherited handles gets an error, and the parent is not disturbed.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "dat/registry/testing/child.h"

namespace softdat::registry::testing {
namespace {

Scenario WithLibrary(const std::string& library) {
  Scenario scenario;
  scenario.conf = ConfLine("ia0", library);
  return scenario;
}

// Forks within a scenario. Returns the exit code of the child's body.
int ExitCodeOfChild(const std::function<int()>& body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

class Fork : public ::testing::TestWithParam<const char*> {};

// covers: semantics 14
TEST_P(Fork, InheritedHandlesAreInvalidInTheChildOnly) {
  InChild(WithLibrary(GetParam()), [](FakeControl* control) {
    DAT_IA_HANDLE ia = nullptr;
    DAT_PZ_HANDLE pz = nullptr;
    ASSERT_EQ(Open("ia0", &ia), DAT_SUCCESS);
    ASSERT_EQ(dat_pz_create(ia, &pz), DAT_SUCCESS);
    DAT_HANDLE_TYPE type = DAT_HANDLE_TYPE_EP;
    EXPECT_EQ(dat_get_handle_type(pz, &type), DAT_SUCCESS);
    EXPECT_EQ(ExitCodeOfChild([&] {
                DAT_PZ_HANDLE other = nullptr;
                if (DAT_GET_TYPE(dat_pz_create(ia, &other)) != DAT_INVALID_HANDLE) return 1;
                if (DAT_GET_TYPE(dat_pz_free(pz)) != DAT_INVALID_HANDLE) return 2;
                if (DAT_GET_TYPE(dat_get_handle_type(pz, &type)) != DAT_INVALID_HANDLE) return 3;
                if (DAT_GET_TYPE(dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG)) != DAT_INVALID_HANDLE) {
                  return 4;
                }
                return control->finis == 0 ? 0 : 5;
              }),
              0);
    EXPECT_EQ(dat_pz_free(pz), DAT_SUCCESS);
    EXPECT_EQ(dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS);
    EXPECT_EQ(control->unloads, 1);
  });
}

// covers: semantics 14
TEST_P(Fork, ChildMayOpenAnIaOfItsOwn) {
  InChild(WithLibrary(GetParam()), [](FakeControl* control) {
    DAT_IA_HANDLE ia = nullptr;
    ASSERT_EQ(Open("ia0", &ia), DAT_SUCCESS);
    EXPECT_EQ(ExitCodeOfChild([&] {
                DAT_IA_HANDLE own = nullptr;
                DAT_PZ_HANDLE pz = nullptr;
                if (Open("ia0", &own) != DAT_SUCCESS) return 1;
                if (dat_pz_create(own, &pz) != DAT_SUCCESS) return 2;
                if (dat_pz_free(pz) != DAT_SUCCESS) return 3;
                if (dat_ia_close(own, DAT_CLOSE_ABRUPT_FLAG) != DAT_SUCCESS) return 4;
                return control->finis == 0 ? 0 : 5;  // what the parent loaded is left alone
              }),
              0);
    EXPECT_EQ(dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS);
  });
}

INSTANTIATE_TEST_SUITE_P(Providers, Fork,
                         ::testing::Values("libdaplfake.so.2", "libdaplforeign.so.2"));

// The child must find the registry's lock free, whatever other threads did at the moment of the
// fork.
TEST(ForkUnderLoad, ChildOpensWhileOtherThreadsOpen) {
  InChild(WithLibrary("libdaplfake.so.2"), [](FakeControl*) {
    std::atomic<bool> stop{false};
    std::thread other([&stop] {
      while (!stop) {
        DAT_IA_HANDLE ia = nullptr;
        DAT_COUNT count = 0;
        dat_registry_list_providers(0, &count, nullptr);
        if (Open("ia0", &ia) == DAT_SUCCESS) dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG);
      }
    });
    for (int i = 0; i < 20; ++i) {
      EXPECT_EQ(ExitCodeOfChild([] {
                  DAT_PZ_HANDLE pz = nullptr;
                  auto* one = reinterpret_cast<DAT_IA_HANDLE>(uintptr_t{1});
                  return DAT_GET_TYPE(dat_pz_create(one, &pz)) == DAT_INVALID_HANDLE ? 0 : 1;
                }),
                0);
    }
    stop = true;
    other.join();
  });
}

}  // namespace
}  // namespace softdat::registry::testing
