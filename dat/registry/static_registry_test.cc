// SPDX-License-Identifier: BSD-3-Clause
// libdat2 with a dat.conf: opening, versions, order of lines, life of the libraries.
#include <dat2/softdat.h>
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dat/registry/testing/child.h"

namespace softdat::registry::testing {
namespace {

using ::testing::HasSubstr;

constexpr DAT_RETURN kNotFound = DAT_CLASS_ERROR | DAT_PROVIDER_NOT_FOUND;

Scenario WithConf(const std::string& conf) {
  Scenario scenario;
  scenario.conf = conf;
  return scenario;
}

DAT_RETURN Openv(const char* name, DAT_UINT32 major, DAT_UINT32 minor, DAT_BOOLEAN thread_safe) {
  DAT_EVD_HANDLE evd = nullptr;
  DAT_IA_HANDLE ia = nullptr;
  std::string writable = name;
  const DAT_RETURN result = dat_ia_openv(writable.data(), 8, &evd, &ia, major, minor, thread_safe);
  if (result == DAT_SUCCESS) {
    EXPECT_EQ(dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS);
  }
  return result;
}

// covers: semantics 2.1
TEST(StaticRegistry, FirstOpenLoadsAndLastCloseUnloads) {
  InChild(WithConf(ConfLine("ia0", "libdaplfake.so.2", "u2.0", "nonthreadsafe", "some params")),
          [](FakeControl* control) {
            DAT_IA_HANDLE first = nullptr;
            DAT_IA_HANDLE second = nullptr;
            ASSERT_EQ(Open("ia0", &first), DAT_SUCCESS);
            EXPECT_STREQ(control->ia_params, "some params");
            EXPECT_STREQ(control->info.ia_name, "ia0");
            EXPECT_EQ(control->info.dapl_version_major, 2u);
            EXPECT_EQ(control->info.dapl_version_minor, 0u);
            EXPECT_EQ(control->info.is_thread_safe, DAT_FALSE);
            ASSERT_EQ(Open("ia0", &second), DAT_SUCCESS);
            EXPECT_EQ(reinterpret_cast<uintptr_t>(first), 1u);
            EXPECT_EQ(reinterpret_cast<uintptr_t>(second), 2u);
            EXPECT_EQ(control->inits, 1);
            EXPECT_EQ(control->opens, 2);
            EXPECT_EQ(dat_ia_close(first, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS);
            EXPECT_EQ(control->finis, 0);
            EXPECT_EQ(dat_ia_close(second, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS);
            EXPECT_EQ(control->finis, 1);
            EXPECT_EQ(control->unloads, 1);
            EXPECT_EQ(dlopen(LibraryPath("libdaplfake.so.2").c_str(), RTLD_NOLOAD | RTLD_LAZY),
                      nullptr);
            ASSERT_EQ(Open("ia0", &first), DAT_SUCCESS) << "and again";
            EXPECT_EQ(reinterpret_cast<uintptr_t>(first), 1u);
            EXPECT_EQ(control->inits, 2);
            EXPECT_EQ(dat_ia_close(first, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS);
          });
}

// covers: semantics 2.1, 3.2
TEST(StaticRegistry, ClosingTwiceIsAnInvalidHandle) {
  InChild(WithConf(ConfLine("ia0", "libdaplfake.so.2")), [](FakeControl*) {
    DAT_IA_HANDLE ia = nullptr;
    ASSERT_EQ(Open("ia0", &ia), DAT_SUCCESS);
    EXPECT_EQ(dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS);
    EXPECT_EQ(dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG), 0x8005000Bu);
  });
}

TEST(StaticRegistry, RefusedCloseLeavesTheIaOpen) {
  InChild(WithConf(ConfLine("ia0", "libdaplfake.so.2")), [](FakeControl* control) {
    DAT_IA_HANDLE ia = nullptr;
    ASSERT_EQ(Open("ia0", &ia), DAT_SUCCESS);
    control->close_result = DAT_CLASS_ERROR | DAT_INVALID_STATE | DAT_INVALID_STATE_IA_IN_USE;
    EXPECT_EQ(dat_ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG), control->close_result);
    EXPECT_EQ(control->finis, 0);
    control->close_result = DAT_SUCCESS;
    EXPECT_EQ(dat_ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG), DAT_SUCCESS);
    EXPECT_EQ(control->finis, 1);
  });
}

TEST(StaticRegistry, RefusedOpenUnloadsAndTellsTheProvidersReason) {
  InChild(WithConf(ConfLine("ia0", "libdaplfake.so.2")), [](FakeControl* control) {
    control->open_result = DAT_CLASS_ERROR | DAT_INSUFFICIENT_RESOURCES;
    DAT_IA_HANDLE ia = nullptr;
    EXPECT_EQ(Open("ia0", &ia), control->open_result);
    EXPECT_EQ(ia, nullptr);
    EXPECT_EQ(control->unloads, 1);
    EXPECT_EQ(LastReason(),
              "dat_ia_open: the provider refused ia0 2.0 nonthreadsafe\nfake: told to refuse");
    control->open_result = DAT_SUCCESS;
    EXPECT_EQ(Open("ia0", &ia), DAT_SUCCESS);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(ia), 1u) << "the integer was given back";
  });
}

TEST(StaticRegistry, ProviderThatReturnsJunkIsCaught) {
  InChild(WithConf(ConfLine("ia0", "libdaplfake.so.2")), [](FakeControl* control) {
    control->return_junk_ia = true;
    DAT_IA_HANDLE ia = nullptr;
    EXPECT_EQ(Open("ia0", &ia), DAT_CLASS_ERROR | DAT_INTERNAL_ERROR);
    EXPECT_EQ(control->finis, 1);
  });
}

// covers: semantics 2.2
TEST(StaticRegistry, LinesWithTheSameKeyAreTriedInOrder) {
  const std::string conf = "ia0 u2.0 nonthreadsafe default /nonexistent/lib.so x.1.0 a b\n" +
                           ConfLine("ia0", "libdaplnofini.so.2") +
                           ConfLine("ia0", "libdaplother.so.2", "u2.0", "nonthreadsafe", "third") +
                           ConfLine("ia0", "libdaplfake.so.2", "u2.0", "nonthreadsafe", "fourth");
  InChild(WithConf(conf), [](FakeControl* control) {
    DAT_IA_HANDLE ia = nullptr;
    ASSERT_EQ(Open("ia0", &ia), DAT_SUCCESS);
    EXPECT_STREQ(control->library, "other");
    EXPECT_STREQ(control->ia_params, "third");
    EXPECT_EQ(control->inits, 1);
    DAT_COUNT count = 0;
    DAT_PROVIDER_INFO info{};
    DAT_PROVIDER_INFO* list[] = {&info};
    EXPECT_EQ(dat_registry_list_providers(1, &count, list), DAT_SUCCESS);
    EXPECT_EQ(count, 1) << "listed once";
    EXPECT_STREQ(info.ia_name, "ia0");
    EXPECT_EQ(dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS);
  });
}

TEST(StaticRegistry, LibraryThatDoesNotRegisterIsSkipped) {
  InChild(WithConf(ConfLine("ia0", "libdaplfake.so.2") + ConfLine("ia0", "libdaplother.so.2")),
          [](FakeControl* control) {
            control->register_in_init = false;
            DAT_IA_HANDLE ia = nullptr;
            EXPECT_EQ(Open("ia0", &ia), kNotFound | DAT_NAME_NOT_REGISTERED);
            EXPECT_EQ(control->inits, 2);
            EXPECT_EQ(control->finis, 2);
            EXPECT_EQ(control->unloads, 2);
            EXPECT_THAT(LastReason(), HasSubstr("libdaplfake.so.2 did not register ia0"));
            EXPECT_THAT(LastReason(), HasSubstr("libdaplother.so.2 did not register ia0"));
          });
}

TEST(StaticRegistry, ProviderThatForgetsToRemoveItselfIsRemoved) {
  InChild(WithConf(ConfLine("ia0", "libdaplfake.so.2")), [](FakeControl* control) {
    control->remove_in_fini = false;
    for (int round = 1; round <= 2; ++round) {
      DAT_IA_HANDLE ia = nullptr;
      ASSERT_EQ(Open("ia0", &ia), DAT_SUCCESS);
      EXPECT_EQ(dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS);
      EXPECT_EQ(control->unloads, round);
    }
  });
}

TEST(StaticRegistry, OpeningWithinInitIsRefusedNotADeadlock) {
  InChild(WithConf(ConfLine("ia0", "libdaplfake.so.2")), [](FakeControl* control) {
    control->open_within_init = true;
    DAT_IA_HANDLE ia = nullptr;
    EXPECT_EQ(Open("ia0", &ia), DAT_SUCCESS);
    EXPECT_EQ(control->within_result, DAT_CLASS_ERROR | DAT_INVALID_STATE);
  });
}

// covers: semantics 2.1
TEST(StaticRegistry, VersionsAndThreadSafety) {
  const std::string conf = ConfLine("plain", "libdaplfake.so.2", "u2.1") +
                           ConfLine("safe", "libdaplfake.so.2", "u2.0", "threadsafe") +
                           ConfLine("old", "libdaplfake.so.2", "u1.2");
  InChild(WithConf(conf), [](FakeControl* control) {
    EXPECT_EQ(Openv("plain", 2, 1, DAT_FALSE), DAT_SUCCESS);
    EXPECT_EQ(Openv("plain", 2, 0, DAT_FALSE), DAT_SUCCESS) << "a larger minor serves";
    EXPECT_EQ(control->info.dapl_version_minor, 1u);
    EXPECT_EQ(Openv("plain", 2, 2, DAT_FALSE), kNotFound | DAT_MINOR_NOT_FOUND);
    EXPECT_EQ(Openv("plain", 3, 0, DAT_FALSE), kNotFound | DAT_MAJOR_NOT_FOUND);
    EXPECT_EQ(Openv("plain", 2, 0, DAT_TRUE), kNotFound | DAT_THREAD_SAFETY_NOT_FOUND);
    EXPECT_EQ(Openv("safe", 2, 0, DAT_TRUE), DAT_SUCCESS);
    EXPECT_EQ(Openv("safe", 2, 0, DAT_FALSE), DAT_SUCCESS);
    EXPECT_EQ(control->info.is_thread_safe, DAT_TRUE);
    EXPECT_EQ(Openv("old", 2, 0, DAT_FALSE), kNotFound | DAT_MAJOR_NOT_FOUND);
    EXPECT_EQ(Openv("PLAIN", 2, 0, DAT_FALSE), kNotFound | DAT_NAME_NOT_REGISTERED);
    EXPECT_THAT(LastReason(), HasSubstr("no IA is called PLAIN"));
    EXPECT_THAT(LastReason(), HasSubstr("plain, safe, old"));
  });
}

// covers: semantics 2.2
TEST(StaticRegistry, KernelAndNondefaultLinesAreInvisible) {
  const std::string line = ConfLine("ia0", "libdaplfake.so.2");
  std::string kernel = line;
  kernel.replace(kernel.find(" u2"), 3, " k2");
  std::string nondefault = line;
  nondefault.replace(nondefault.find(" default"), 8, " nondefault");
  InChild(WithConf(kernel + nondefault), [](FakeControl*) {
    DAT_IA_HANDLE ia = nullptr;
    EXPECT_EQ(Open("ia0", &ia), kNotFound | DAT_NAME_NOT_REGISTERED);
  });
}

// covers: semantics 2.2
TEST(StaticRegistry, BadLinesAndCrlfHideNothing) {
  std::string crlf = ConfLine("ia0", "libdaplfake.so.2");
  crlf.insert(crlf.size() - 1, "\r");
  InChild(WithConf("garbage\nia1 u2.0\n" + crlf + "\"unclosed\n"), [](FakeControl*) {
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    DAT_IA_HANDLE ia = nullptr;
    EXPECT_EQ(Open("ia0", &ia), DAT_SUCCESS);
    EXPECT_EQ(dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS);
    EXPECT_EQ(::testing::internal::GetCapturedStdout(), "");
    EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  });
}

TEST(StaticRegistry, BadLinesAreNamedInTheLog) {
  InChild(WithConf("ia0 u2.0 maybe\n"), [](FakeControl*) {
    setenv("SOFTDAT_LOG", "stderr", 1);
    ::testing::internal::CaptureStderr();
    DAT_IA_HANDLE ia = nullptr;
    EXPECT_NE(Open("ia0", &ia), DAT_SUCCESS);
    EXPECT_THAT(::testing::internal::GetCapturedStderr(),
                HasSubstr("dat.conf:1:10: field 3 (thread_safety): 'maybe' is neither"));
  });
}

// covers: semantics 2.2
TEST(StaticRegistry, UnreadableOverrideHasNoFallback) {
  Scenario scenario;
  scenario.override_path = "/nonexistent/dat.conf";
  scenario.provider_path = LibraryPath("");
  InChild(scenario, [](FakeControl*) {
    DAT_IA_HANDLE ia = nullptr;
    EXPECT_EQ(Open("fake-lo", &ia), kNotFound | DAT_NAME_NOT_REGISTERED);
    EXPECT_THAT(LastReason(), HasSubstr("DAT_OVERRIDE is set: cannot read /nonexistent/dat.conf"));
    DAT_COUNT count = -1;
    EXPECT_EQ(dat_registry_list_providers(0, &count, nullptr), DAT_SUCCESS);
    EXPECT_EQ(count, 0);
  });
}

TEST(StaticRegistry, OverrideThatIsNoFileIsReported) {
  Scenario scenario;
  scenario.override_path = "/";
  InChild(scenario, [](FakeControl*) {
    DAT_IA_HANDLE ia = nullptr;
    EXPECT_EQ(Open("ia0", &ia), kNotFound | DAT_NAME_NOT_REGISTERED);
    EXPECT_THAT(LastReason(), HasSubstr("not a regular file"));
  });
}

// A readable configuration that names nothing. Discovery goes on, as with an empty file.
TEST(StaticRegistry, TheNullDeviceIsAnEmptyConfiguration) {
  Scenario scenario;
  scenario.override_path = "/dev/null";
  scenario.provider_path = LibraryPath("");
  InChild(scenario, [](FakeControl*) {
    DAT_IA_HANDLE ia = nullptr;
    EXPECT_EQ(Open("fake-nowhere", &ia), kNotFound | DAT_NAME_NOT_REGISTERED);
    EXPECT_THAT(LastReason(), ::testing::Not(HasSubstr("DAT_OVERRIDE")));
    EXPECT_EQ(Open("fake-lo", &ia), DAT_SUCCESS) << LastReason();
  });
}

TEST(StaticRegistry, OtherDevicesAreNot) {
  Scenario scenario;
  scenario.override_path = "/dev/zero";
  InChild(scenario, [](FakeControl*) {
    DAT_IA_HANDLE ia = nullptr;
    EXPECT_EQ(Open("ia0", &ia), kNotFound | DAT_NAME_NOT_REGISTERED);
    EXPECT_THAT(LastReason(), HasSubstr("not a regular file"));
  });
}

// covers: semantics 2.1
TEST(StaticRegistry, MissingLibraryIsNamed) {
  InChild(WithConf("ia0 u2.0 nonthreadsafe default libnosuch.so.2 x.1.0 a b\n"), [](FakeControl*) {
    DAT_IA_HANDLE ia = nullptr;
    EXPECT_EQ(Open("ia0", &ia), kNotFound | DAT_NAME_NOT_REGISTERED);
    EXPECT_THAT(LastReason(), HasSubstr("cannot load libnosuch.so.2"));
    EXPECT_THAT(LastReason(), HasSubstr("dat_ia_open(ia0) failed"));
  });
}

// covers: semantics 2.1
TEST(StaticRegistry, ArgumentsOfOpen) {
  InChild(WithConf(ConfLine("ia0", "libdaplfake.so.2")), [](FakeControl* control) {
    DAT_IA_HANDLE ia = nullptr;
    DAT_EVD_HANDLE evd = nullptr;
    char name[] = "ia0";
    std::string too_long(256, 'n');
    constexpr DAT_RETURN kParameter = DAT_CLASS_ERROR | DAT_INVALID_PARAMETER;
    EXPECT_EQ(dat_ia_open(nullptr, 8, &evd, &ia), kParameter | DAT_INVALID_ARG1);
    EXPECT_EQ(dat_ia_open(too_long.data(), 8, &evd, &ia), kParameter | DAT_INVALID_ARG1);
    too_long.pop_back();
    EXPECT_EQ(dat_ia_open(too_long.data(), 8, &evd, &ia), kNotFound | DAT_NAME_NOT_REGISTERED);
    EXPECT_EQ(dat_ia_open(name, 8, &evd, nullptr),
              DAT_CLASS_ERROR | DAT_INVALID_HANDLE | DAT_INVALID_HANDLE_IA);
    EXPECT_EQ(dat_ia_open(name, 0, &evd, &ia), kParameter | DAT_INVALID_ARG2);
    EXPECT_EQ(dat_ia_open(name, 8, nullptr, &ia), kParameter | DAT_INVALID_ARG3);
    EXPECT_EQ(control->inits, control->finis);
  });
}

TEST(StaticRegistry, TwoIasOfOneLibraryHaveTheirOwnInitAndFini) {
  InChild(WithConf(ConfLine("ia0", "libdaplfake.so.2") + ConfLine("ia1", "libdaplfake.so.2")),
          [](FakeControl* control) {
            DAT_IA_HANDLE first = nullptr;
            DAT_IA_HANDLE second = nullptr;
            ASSERT_EQ(Open("ia0", &first), DAT_SUCCESS);
            ASSERT_EQ(Open("ia1", &second), DAT_SUCCESS);
            EXPECT_EQ(control->inits, 2);
            EXPECT_EQ(dat_ia_close(first, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS);
            EXPECT_EQ(control->finis, 1);
            EXPECT_EQ(control->unloads, 0);
            DAT_PZ_HANDLE pz = nullptr;
            EXPECT_EQ(dat_pz_create(second, &pz), DAT_SUCCESS) << "the other still works";
            EXPECT_EQ(dat_pz_free(pz), DAT_SUCCESS);
            EXPECT_EQ(dat_ia_close(second, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS);
            EXPECT_EQ(control->unloads, 1);
          });
}

}  // namespace
}  // namespace softdat::registry::testing
