// SPDX-License-Identifier: BSD-3-Clause
// Providers of uDAPL 1.2 itself beside bridged ones, in one program.
#include <dat/dat_extensions.h>
#include <dat/dat_registry.h>
#include <dat/udat.h>
#include <dat/udat_redirection.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

// Exported, but declared in no header.
extern "C" DAT_RETURN dats_get_ia_handle(DAT_IA_HANDLE, DAT_IA_HANDLE*);

namespace softdat::bridge_test {
namespace {

constexpr DAT_RETURN kSuccess = DAT_SUCCESS;

DAT_RETURN Failure(uint32_t type, uint32_t subtype) { return DAT_CLASS_ERROR | type | subtype; }

// The registry reads the file at the first call of this process.
class Conf : public testing::Environment {
 public:
  void SetUp() override {
    const std::string path = testing::TempDir() + "/dat.conf";
    std::ofstream conf(path);
    conf
        << "gone-0 u1.2 nonthreadsafe default libnosuch.so.1 native.1.2 \"no-such-device 0\" \"\"\n"
        << "native-0 u1.2 nonthreadsafe default tests/bridge/libnative.so.1 native.1.2 \"\" \"\"\n"
        << "old-0 u1.1 nonthreadsafe default tests/bridge/libnative.so.1 native.1.1 \"\" \"\"\n"
        << "extended-0 u1.2 nonthreadsafe default tests/bridge/libextended.so.1 native.1.2 \"\" "
           "\"\"\n"
        << "absent-0 u1.2 nonthreadsafe default libnosuch.so.1 native.1.2 \"\" \"\"\n"
        << "toy-0 u2.0 nonthreadsafe default provider_toy/libdapltoy.so.2 toy.1.0 \"\" \"\"\n";
    ASSERT_EQ(setenv("DAT_OVERRIDE", path.c_str(), 1), 0);
  }
};
[[maybe_unused]] testing::Environment* const g_conf =
    testing::AddGlobalTestEnvironment(new Conf);  // gtest owns it

struct Opened {
  DAT_RETURN result;
  DAT_IA_HANDLE ia = DAT_HANDLE_NULL;
  DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
};

Opened Open(std::string name) {
  Opened opened{};
  opened.result = dat_ia_open(name.data(), 8, &opened.evd, &opened.ia);
  return opened;
}

uintptr_t Value(DAT_HANDLE handle) { return reinterpret_cast<uintptr_t>(handle); }

TEST(NativeTest, CallsReachTheirProvider) {
  const Opened native = Open("native-0");
  ASSERT_EQ(native.result, kSuccess);
  const Opened bridged = Open("toy-0");
  ASSERT_EQ(bridged.result, kSuccess);
  EXPECT_NE(native.ia, bridged.ia);

  DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
  EXPECT_EQ(
      dat_ep_create(native.ia, DAT_HANDLE_NULL, native.evd, native.evd, native.evd, nullptr, &ep),
      kSuccess);
  DAT_LMR_TRIPLET segments[2] = {{1, 0, 0x1000, DAT_VLEN{1} << 33}, {1, 0, 0x1000, 5}};
  DAT_DTO_COOKIE cookie;
  cookie.as_64 = 0x1122334455667788;
  EXPECT_EQ(dat_ep_post_send(ep, 2, segments, cookie, DAT_COMPLETION_DEFAULT_FLAG), kSuccess);
  DAT_EVENT event;
  EXPECT_EQ(dat_evd_dequeue(native.evd, &event), kSuccess);
  const DAT_DTO_COMPLETION_EVENT_DATA& data = event.event_data.dto_completion_event_data;
  EXPECT_EQ(data.ep_handle, ep);
  EXPECT_EQ(data.user_cookie.as_64, 0x1122334455667788u);
  EXPECT_EQ(data.transfered_length, (DAT_VLEN{1} << 33) + 5) << "nothing is translated";

  DAT_CONTEXT context;
  for (const DAT_HANDLE handle : {native.ia, ep, bridged.ia}) {
    context.as_64 = Value(handle);
    EXPECT_EQ(dat_set_consumer_context(handle, context), kSuccess);
  }
  for (const DAT_HANDLE handle : {native.ia, ep, bridged.ia}) {
    EXPECT_EQ(dat_get_consumer_context(handle, &context), kSuccess);
    EXPECT_EQ(context.as_64, Value(handle));
  }
  DAT_HANDLE_TYPE type;
  EXPECT_EQ(dat_get_handle_type(native.ia, &type), kSuccess);
  EXPECT_EQ(type, DAT_HANDLE_TYPE_IA);

  EXPECT_EQ(dat_evd_resize(native.evd, 20), DAT_RETURN{DAT_NOT_IMPLEMENTED}) << "an empty slot";
  EXPECT_EQ(dat_ep_free(ep), kSuccess);
  EXPECT_EQ(dat_ep_free(ep), Failure(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP));
  EXPECT_EQ(dat_ia_close(native.ia, DAT_CLOSE_ABRUPT_FLAG), kSuccess);
  EXPECT_EQ(dat_ia_close(native.ia, DAT_CLOSE_ABRUPT_FLAG),
            Failure(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA));
  EXPECT_EQ(dat_ia_close(bridged.ia, DAT_CLOSE_ABRUPT_FLAG), kSuccess);
}

TEST(NativeTest, MacrosCallThroughTheTableOfEither) {
  const Opened native = Open("native-0");
  const Opened bridged = Open("toy-0");
  DAT_EVENT event;
  EXPECT_EQ(DAT_EVD_DEQUEUE(native.evd, &event), kSuccess);
  EXPECT_EQ(DAT_EVD_DEQUEUE(bridged.evd, &event), Failure(DAT_QUEUE_EMPTY, 0));
  DAT_PZ_HANDLE pz = DAT_HANDLE_NULL;
  EXPECT_EQ(DAT_PZ_CREATE(bridged.ia, &pz), kSuccess);
  EXPECT_EQ(DAT_PZ_FREE(pz), kSuccess);
  EXPECT_STREQ(DAT_HANDLE_TO_PROVIDER(native.evd)->device_name, "native-0");
  EXPECT_STREQ(DAT_HANDLE_TO_PROVIDER(bridged.evd)->device_name, "bridge");
  EXPECT_EQ(dat_ia_close(native.ia, DAT_CLOSE_ABRUPT_FLAG), kSuccess);
  EXPECT_EQ(dat_ia_close(bridged.ia, DAT_CLOSE_ABRUPT_FLAG), kSuccess);
}

TEST(NativeTest, NumbersAndPointersOfIas) {
  for (const char* name : {"native-0", "toy-0"}) {
    const Opened opened = Open(name);
    ASSERT_EQ(opened.result, kSuccess);
    EXPECT_LT(Value(opened.ia), 0x10000u) << "a small integer";
    DAT_IA_HANDLE object = DAT_HANDLE_NULL;
    EXPECT_EQ(dats_get_ia_handle(opened.ia, &object), kSuccess);
    EXPECT_GT(Value(object), 0x10000u) << "the provider's own";
    DAT_IA_HANDLE number = DAT_HANDLE_NULL;
    EXPECT_EQ(dats_get_ia_handle(object, &number), kSuccess);
    EXPECT_EQ(number, opened.ia);
    EXPECT_EQ(dats_get_ia_handle(object, nullptr),
              Failure(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
    EXPECT_EQ(dat_ia_close(opened.ia, DAT_CLOSE_ABRUPT_FLAG), kSuccess);
    EXPECT_EQ(dats_get_ia_handle(opened.ia, &object),
              Failure(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA));
  }
}

// A name that has a line of 1.2 belongs to that line, even if the line leads nowhere.
// covers: semantics 2.2
TEST(NativeTest, NamesOf12AreNotBridged) {
  EXPECT_EQ(Open("absent-0").result, Failure(DAT_PROVIDER_NOT_FOUND, DAT_NAME_NOT_REGISTERED));
  EXPECT_EQ(Open("old-0").result, Failure(DAT_PROVIDER_NOT_FOUND, DAT_MINOR_NOT_FOUND));
  std::string name = "old-0";
  Opened old{};
  EXPECT_EQ(dat_ia_openv(name.data(), 8, &old.evd, &old.ia, 1, 1, DAT_FALSE), kSuccess);
  EXPECT_EQ(dat_ia_close(old.ia, DAT_CLOSE_ABRUPT_FLAG), kSuccess);
}

std::vector<std::string> Names() {
  DAT_PROVIDER_INFO infos[16];
  std::vector<DAT_PROVIDER_INFO*> list;
  list.reserve(16);
  for (DAT_PROVIDER_INFO& info : infos) list.push_back(&info);
  DAT_COUNT count = 0;
  EXPECT_EQ(dat_registry_list_providers(16, &count, list.data()), kSuccess);
  std::vector<std::string> names;
  for (DAT_COUNT i = 0; i < count; ++i) {
    const DAT_PROVIDER_INFO& info = infos[i];
    names.push_back(std::string(info.ia_name) + " " + std::to_string(info.dapl_version_major) +
                    "." + std::to_string(info.dapl_version_minor));
  }
  return names;
}

TEST(NativeTest, TheListHasBoth) {
  EXPECT_EQ(Names(), (std::vector<std::string>{"native-0 1.2", "old-0 1.1", "extended-0 1.2",
                                               "absent-0 1.2", "toy-0 1.2", "gone-0 1.2"}));
  DAT_PROVIDER_INFO infos[2];
  DAT_PROVIDER_INFO* list[] = {&infos[0], &infos[1]};
  DAT_COUNT all = 0;
  EXPECT_EQ(dat_registry_list_providers(0, &all, list),
            Failure(DAT_INVALID_PARAMETER, DAT_INVALID_ARG1));
  EXPECT_EQ(all, 6);
  EXPECT_EQ(dat_registry_list_providers(2, &all, list), DAT_SUCCESS);
  EXPECT_EQ(all, 2);
  EXPECT_EQ(dat_registry_list_providers(2, nullptr, list),
            Failure(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
  list[0] = nullptr;
  EXPECT_EQ(dat_registry_list_providers(16, &all, list),
            Failure(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
}

// The entry behind the table is called only if the table has one.
TEST(NativeTest, ExtensionsOfAProviderOf12) {
  for (const char* name : {"native-0", "extended-0"}) {
    const Opened opened = Open(name);
    ASSERT_EQ(opened.result, kSuccess);
    DAT_DTO_COOKIE cookie{};
    const bool extended = std::string(name) == "extended-0";
    EXPECT_EQ(dat_ep_post_fetch_and_add(opened.evd, 77, nullptr, cookie, nullptr,
                                        DAT_COMPLETION_DEFAULT_FLAG),
              extended ? kSuccess : DAT_RETURN{DAT_NOT_IMPLEMENTED});
    DAT_EVENT event;
    EXPECT_EQ(dat_evd_dequeue(opened.evd, &event), kSuccess);
    if (extended) {
      EXPECT_EQ(event.event_data.dto_completion_event_data.transfered_length, 77u);
    }
    EXPECT_EQ(dat_extension(opened.ia, DAT_EXT_RECV_IMMED), DAT_RETURN{DAT_NOT_IMPLEMENTED});
    EXPECT_EQ(dat_ia_close(opened.ia, DAT_CLOSE_ABRUPT_FLAG), kSuccess);
  }
}

// Debian's providers of 2.0 refer to the registry's functions without a version. In a program of
// 1.2 they find those of libdat.so.1, and must reach libdat2 all the same.
TEST(NativeTest, AProviderOf2ThatMeetsTheWrongRegistry) {
  DAT_PROVIDER_INFO info{};
  std::strcpy(info.ia_name, "announced-0");
  info.dapl_version_major = 2;
  alignas(64) static char table_of_2[1024];  // libdat2 looks into no table by itself
  const auto* table = reinterpret_cast<const DAT_PROVIDER*>(table_of_2);
  EXPECT_EQ(dat_registry_add_provider(table, &info), kSuccess);
  const std::vector<std::string> names = Names();
  const auto found = std::find(names.begin(), names.end(), "announced-0 1.2");
  ASSERT_NE(found, names.end()) << "behind the bridge";
  EXPECT_EQ(*(found - 1), "toy-0 1.2");
  EXPECT_EQ(dat_registry_remove_provider(table, &info), kSuccess);
  const std::vector<std::string> later = Names();
  EXPECT_EQ(std::count(later.begin(), later.end(), "announced-0 1.2"), 0);

  const Opened bridged = Open("toy-0");
  const auto number_of_2 = reinterpret_cast<DAT_IA_HANDLE>(Value(bridged.ia) - 4096);
  DAT_IA_HANDLE object = DAT_HANDLE_NULL;
  EXPECT_EQ(dats_get_ia_handle(number_of_2, &object), kSuccess);
  DAT_IA_HANDLE number = DAT_HANDLE_NULL;
  EXPECT_EQ(dats_get_ia_handle(object, &number), kSuccess);
  EXPECT_EQ(number, number_of_2);
  EXPECT_EQ(dat_ia_close(bridged.ia, DAT_CLOSE_ABRUPT_FLAG), kSuccess);
}

// Handles that belong to nobody: an address that shows no table, and one that cannot be read.
TEST(NativeTest, JunkIsRefusedWhileANativeProviderIsOpen) {
  const Opened native = Open("native-0");
  uint64_t words[4] = {1, 2, 3, 4};
  const DAT_RETURN refused = Failure(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP);
  EXPECT_EQ(dat_ep_free(words), refused);
  EXPECT_EQ(dat_ep_free(reinterpret_cast<DAT_EP_HANDLE>(uintptr_t{0x7000000000})), refused);
  EXPECT_EQ(dat_ep_free(native.ia), refused);
  EXPECT_EQ(dat_ep_free(DAT_HANDLE_NULL), refused);
  EXPECT_EQ(dat_ia_close(native.ia, DAT_CLOSE_ABRUPT_FLAG), kSuccess);
}

}  // namespace
}  // namespace softdat::bridge_test
