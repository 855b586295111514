// SPDX-License-Identifier: BSD-3-Clause
// Providers that announce themselves without a file, and the list of all providers.
#include <dat2/dat_registry.h>
#include <dat2/softdat.h>
#include <gtest/gtest.h>
#include <string.h>

#include <vector>

#include "dat/registry/testing/child.h"

namespace softdat::registry::testing {
namespace {

// A provider that is part of the program itself.
struct Ia {
  const DAT_PROVIDER* table;
};

DAT_RETURN OpenIa(const DAT_NAME_PTR, DAT_COUNT, DAT_EVD_HANDLE*, DAT_IA_HANDLE* ia);
DAT_RETURN CloseIa(DAT_IA_HANDLE ia, DAT_CLOSE_FLAGS) {
  delete static_cast<Ia*>(ia);
  return DAT_SUCCESS;
}

DAT_PROVIDER g_table = [] {
  DAT_PROVIDER table{};
  table.device_name = "mine";
  table.ia_open_func = OpenIa;
  table.ia_close_func = CloseIa;
  return table;
}();

DAT_RETURN OpenIa(const DAT_NAME_PTR, DAT_COUNT, DAT_EVD_HANDLE*, DAT_IA_HANDLE* ia) {
  *ia = new Ia{&g_table};
  return DAT_SUCCESS;
}

DAT_PROVIDER_INFO Info(const std::string& name, DAT_UINT32 minor = 0) {
  DAT_PROVIDER_INFO info{};
  memcpy(info.ia_name, name.data(), name.size());
  info.dapl_version_major = 2;
  info.dapl_version_minor = minor;
  return info;
}

Scenario WithConf(const std::string& conf) {
  Scenario scenario;
  scenario.conf = conf;
  return scenario;
}

std::vector<std::string> Names() {
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

// covers: semantics 2.1
TEST(DynamicRegistry, AddOpenCloseRemove) {
  InChild({}, [](FakeControl*) {
    const DAT_PROVIDER_INFO info = Info("mine");
    EXPECT_EQ(dat_registry_add_provider(&g_table, &info), DAT_SUCCESS);
    EXPECT_EQ(dat_registry_add_provider(&g_table, &info), 0x80100000u);
    EXPECT_EQ(Names(), std::vector<std::string>({"mine"}));
    DAT_IA_HANDLE ia = nullptr;
    ASSERT_EQ(Open("mine", &ia), DAT_SUCCESS);
    EXPECT_EQ(dat_registry_remove_provider(&g_table, &info), DAT_CLASS_ERROR | DAT_PROVIDER_IN_USE);
    DAT_PZ_HANDLE pz = nullptr;
    EXPECT_EQ(dat_pz_create(ia, &pz), DAT_CLASS_ERROR | DAT_NOT_IMPLEMENTED) << "an empty slot";
    EXPECT_EQ(dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS);
    EXPECT_EQ(dat_registry_remove_provider(&g_table, &info), DAT_SUCCESS);
    EXPECT_EQ(dat_registry_remove_provider(&g_table, &info) & DAT_TYPE_MASK,
              DAT_PROVIDER_NOT_FOUND);
    EXPECT_EQ(Open("mine", &ia),
              DAT_CLASS_ERROR | DAT_PROVIDER_NOT_FOUND | DAT_NAME_NOT_REGISTERED);
    EXPECT_TRUE(Names().empty());
  });
}

// covers: semantics 2.1
TEST(DynamicRegistry, BadArguments) {
  InChild({}, [](FakeControl*) {
    const DAT_PROVIDER_INFO info = Info("mine");
    const DAT_PROVIDER_INFO nameless = Info("");
    DAT_PROVIDER_INFO endless = info;
    memset(endless.ia_name, 'n', sizeof endless.ia_name);
    constexpr DAT_RETURN kParameter = DAT_CLASS_ERROR | DAT_INVALID_PARAMETER;
    EXPECT_EQ(dat_registry_add_provider(nullptr, &info), kParameter | DAT_INVALID_ARG1);
    EXPECT_EQ(dat_registry_add_provider(&g_table, nullptr), kParameter | DAT_INVALID_ARG2);
    EXPECT_EQ(dat_registry_add_provider(&g_table, &nameless), kParameter | DAT_INVALID_ARG2);
    EXPECT_EQ(dat_registry_add_provider(&g_table, &endless), kParameter | DAT_INVALID_ARG2);
    EXPECT_EQ(dat_registry_remove_provider(nullptr, &info), kParameter | DAT_INVALID_ARG1);
    EXPECT_EQ(dat_registry_remove_provider(&g_table, nullptr), kParameter | DAT_INVALID_ARG2);
    const DAT_PROVIDER other{};
    EXPECT_EQ(dat_registry_add_provider(&g_table, &info), DAT_SUCCESS);
    EXPECT_EQ(dat_registry_remove_provider(&other, &info) & DAT_TYPE_MASK, DAT_PROVIDER_NOT_FOUND);
  });
}

TEST(DynamicRegistry, AnnouncedProviderServesALineOfTheFile) {
  InChild(WithConf(ConfLine("ia0", "libdaplfake.so.2")), [](FakeControl* control) {
    const DAT_PROVIDER_INFO info = Info("ia0");
    EXPECT_EQ(dat_registry_add_provider(&g_table, &info), DAT_SUCCESS);
    DAT_IA_HANDLE ia = nullptr;
    ASSERT_EQ(Open("ia0", &ia), DAT_SUCCESS);
    EXPECT_EQ(control->inits, 0) << "nothing was loaded";
    EXPECT_EQ(dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS);
    EXPECT_EQ(dat_registry_remove_provider(&g_table, &info), DAT_SUCCESS);
    ASSERT_EQ(Open("ia0", &ia), DAT_SUCCESS) << "now the file's line counts";
    EXPECT_EQ(control->inits, 1);
    EXPECT_EQ(dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS);
  });
}

TEST(DynamicRegistry, OneTableUnderTwoNames) {
  InChild({}, [](FakeControl*) {
    const DAT_PROVIDER_INFO first = Info("first");
    const DAT_PROVIDER_INFO second = Info("second");
    ASSERT_EQ(dat_registry_add_provider(&g_table, &first), DAT_SUCCESS);
    ASSERT_EQ(dat_registry_add_provider(&g_table, &second), DAT_SUCCESS);
    DAT_IA_HANDLE ia = nullptr;
    ASSERT_EQ(Open("second", &ia), DAT_SUCCESS);
    EXPECT_EQ(dat_registry_remove_provider(&g_table, &first), DAT_SUCCESS);
    EXPECT_EQ(dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS) << "the table is still known";
  });
}

// covers: semantics 2.1
TEST(ListProviders, FileOrderOncePerKey) {
  const std::string conf = ConfLine("b", "libdaplfake.so.2") + ConfLine("a", "libdaplfake.so.2") +
                           ConfLine("b", "libdaplother.so.2") +
                           ConfLine("b", "libdaplother.so.2", "u2.1") +
                           ConfLine("b", "libdaplother.so.2", "u2.1", "threadsafe");
  InChild(WithConf(conf), [](FakeControl*) {
    EXPECT_EQ(Names(), std::vector<std::string>({"b", "a", "b", "b"}));
    const DAT_PROVIDER_INFO info = Info("mine");
    const DAT_PROVIDER_INFO known = Info("a");
    EXPECT_EQ(dat_registry_add_provider(&g_table, &info), DAT_SUCCESS);
    EXPECT_EQ(dat_registry_add_provider(&g_table, &known), DAT_SUCCESS);
    EXPECT_EQ(Names(), std::vector<std::string>({"b", "a", "b", "b", "mine"}));
  });
}

// covers: semantics 2.1
TEST(ListProviders, CountAndRoom) {
  InChild(WithConf(ConfLine("a", "libdaplfake.so.2") + ConfLine("b", "libdaplfake.so.2")),
          [](FakeControl*) {
            constexpr DAT_RETURN kParameter = DAT_CLASS_ERROR | DAT_INVALID_PARAMETER;
            DAT_PROVIDER_INFO infos[3] = {};
            DAT_PROVIDER_INFO* list[] = {&infos[0], &infos[1], &infos[2]};
            DAT_COUNT count = -1;
            EXPECT_EQ(dat_registry_list_providers(0, &count, nullptr), 0x80060025u);
            EXPECT_EQ(count, 2);
            EXPECT_EQ(dat_registry_list_providers(-1, &count, list), 0x80060025u);
            EXPECT_EQ(count, 2) << "how many there are";
            EXPECT_EQ(dat_registry_list_providers(1, &count, list), DAT_SUCCESS);
            EXPECT_EQ(count, 1);
            EXPECT_STREQ(infos[0].ia_name, "a");
            EXPECT_STREQ(infos[1].ia_name, "") << "beyond the room";
            EXPECT_EQ(dat_registry_list_providers(3, &count, list), DAT_SUCCESS);
            EXPECT_EQ(count, 2);
            EXPECT_EQ(infos[1].dapl_version_major, 2u);
            EXPECT_EQ(infos[1].is_thread_safe, DAT_FALSE);
            EXPECT_EQ(dat_registry_list_providers(3, nullptr, list), kParameter | DAT_INVALID_ARG2);
            EXPECT_EQ(dat_registry_list_providers(3, &count, nullptr),
                      kParameter | DAT_INVALID_ARG3);
            list[1] = nullptr;
            EXPECT_EQ(dat_registry_list_providers(3, &count, list), kParameter | DAT_INVALID_ARG3);
          });
}

// covers: semantics 16.3
TEST(ProvidersRelated, SaysWhatIsKnown) {
  InChild(WithConf(ConfLine("a", "libdaplfake.so.2") + ConfLine("b", "libdaplfake.so.2")),
          [](FakeControl*) {
            char a[] = "a";
            char b[] = "b";
            char c[] = "c";
            constexpr DAT_RETURN kParameter = DAT_CLASS_ERROR | DAT_INVALID_PARAMETER;
            DAT_HA_RELATIONSHIP related = DAT_HA_FALSE;
            EXPECT_EQ(dat_registry_providers_related(a, b, &related), DAT_SUCCESS);
            EXPECT_EQ(related, DAT_HA_UNKNOWN) << "no provider is open";
            DAT_IA_HANDLE ia = nullptr;
            ASSERT_EQ(Open("b", &ia), DAT_SUCCESS);
            EXPECT_EQ(dat_registry_providers_related(a, b, &related), DAT_SUCCESS);
            EXPECT_EQ(related, DAT_HA_TRUE) << "as the open one says";
            EXPECT_EQ(dat_registry_providers_related(a, c, &related),
                      DAT_CLASS_ERROR | DAT_PROVIDER_NOT_FOUND | DAT_NAME_NOT_REGISTERED);
            EXPECT_EQ(dat_registry_providers_related(nullptr, b, &related),
                      kParameter | DAT_INVALID_ARG1);
            EXPECT_EQ(dat_registry_providers_related(a, nullptr, &related),
                      kParameter | DAT_INVALID_ARG2);
            EXPECT_EQ(dat_registry_providers_related(a, b, nullptr), kParameter | DAT_INVALID_ARG3);
          });
}

}  // namespace
}  // namespace softdat::registry::testing
