// SPDX-License-Identifier: BSD-3-Clause
// dat_extension_op (semantics 15.1).
#include <dat2/softdat.h>
#include <dat2/udat.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dat/registry/testing/child.h"

namespace softdat::registry::testing {
namespace {

constexpr int kPlainOp = 7;
constexpr int kOpenOp = DAT_OPEN_EXTENSION_BASE + 7;
constexpr int kCloseOp = DAT_CLOSE_EXTENSION_BASE + 8;

Scenario WithLibrary(const std::string& library) {
  Scenario scenario;
  scenario.conf = ConfLine("ia0", library);
  return scenario;
}

// covers: semantics 15.1
TEST(Extension, ReachesTheProviderWithItsOwnHandle) {
  InChild(WithLibrary("libdaplfake.so.2"), [](FakeControl* control) {
    DAT_IA_HANDLE ia = nullptr;
    DAT_PZ_HANDLE pz = nullptr;
    ASSERT_EQ(Open("ia0", &ia), DAT_SUCCESS);
    ASSERT_EQ(dat_pz_create(ia, &pz), DAT_SUCCESS);
    EXPECT_EQ(dat_extension_op(pz, kPlainOp, 42L), DAT_SUCCESS);
    EXPECT_EQ(control->extension_handle, pz);
    EXPECT_EQ(control->extension_op, kPlainOp);
    EXPECT_EQ(control->extension_argument, 42);
    EXPECT_EQ(dat_extension_op(ia, kPlainOp, 43L), DAT_SUCCESS);
    DAT_IA_HANDLE object = nullptr;
    ASSERT_EQ(dats_get_ia_handle(ia, &object), DAT_SUCCESS);
    EXPECT_EQ(control->extension_handle, object) << "an IA handle is translated";
    EXPECT_EQ(control->extension_argument, 43);
  });
}

// covers: semantics 15.1
TEST(Extension, ProviderWithoutExtensionsIsNotCalled) {
  InChild(WithLibrary("libdaplforeign.so.2"), [](FakeControl*) {
    DAT_IA_HANDLE ia = nullptr;
    ASSERT_EQ(Open("ia0", &ia), DAT_SUCCESS);
    EXPECT_EQ(dat_extension_op(ia, kPlainOp, 1L), 0xBFFF0000u);
    char name[] = "ia0";
    DAT_HANDLE opened = nullptr;
    EXPECT_EQ(dat_extension_op(nullptr, kOpenOp, name, &opened), 0xBFFF0000u);
  });
}

// covers: semantics 15.1
TEST(Extension, OpenTypeLoadsTheProviderUntilTheCloseType) {
  InChild(WithLibrary("libdaplfake.so.2"), [](FakeControl* control) {
    char name[] = "ia0";
    DAT_HANDLE opened = nullptr;
    ASSERT_EQ(dat_extension_op(nullptr, kOpenOp, name, &opened), DAT_SUCCESS);
    EXPECT_EQ(control->extension_handle, name) << "the name stands for the handle";
    ASSERT_NE(opened, nullptr);
    EXPECT_EQ(control->inits, 1);
    EXPECT_EQ(control->finis, 0);
    EXPECT_EQ(dat_extension_op(opened, kCloseOp), DAT_SUCCESS);
    EXPECT_EQ(control->finis, 1);
    EXPECT_EQ(control->unloads, 1);
    EXPECT_EQ(dat_extension_op(opened, kCloseOp),
              DAT_CLASS_ERROR | DAT_INVALID_HANDLE | DAT_INVALID_HANDLE1);
  });
}

// covers: semantics 15.1
TEST(Extension, CloseTypeWithoutItsOpenReleasesNothing) {
  InChild(WithLibrary("libdaplfake.so.2"), [](FakeControl* control) {
    DAT_IA_HANDLE ia = nullptr;
    DAT_PZ_HANDLE pz = nullptr;
    ASSERT_EQ(Open("ia0", &ia), DAT_SUCCESS);
    ASSERT_EQ(dat_pz_create(ia, &pz), DAT_SUCCESS);
    EXPECT_EQ(dat_extension_op(pz, kCloseOp), DAT_SUCCESS) << "as this provider says";
    EXPECT_EQ(control->finis, 0) << "the IA is open";
    EXPECT_EQ(dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS);
    EXPECT_EQ(control->finis, 1);
  });
}

// covers: semantics 15.1
TEST(Extension, FailedOpenTypeUnloads) {
  InChild(WithLibrary("libdaplfake.so.2"), [](FakeControl* control) {
    control->open_result = DAT_CLASS_ERROR | DAT_INSUFFICIENT_RESOURCES;
    char name[] = "ia0";
    DAT_HANDLE opened = nullptr;
    EXPECT_EQ(dat_extension_op(nullptr, kOpenOp, name, &opened), control->open_result);
    EXPECT_EQ(control->unloads, 1);
  });
}

// covers: semantics 15.1
TEST(Extension, OpenTypeChecksTheName) {
  InChild(WithLibrary("libdaplfake.so.2"), [](FakeControl*) {
    DAT_HANDLE opened = nullptr;
    char unknown[] = "ia1";
    std::string too_long(256, 'n');
    DAT_NAME_PTR none = nullptr;
    EXPECT_EQ(dat_extension_op(nullptr, kOpenOp, none, &opened),
              DAT_CLASS_ERROR | DAT_INVALID_PARAMETER | DAT_INVALID_ARG3);
    EXPECT_EQ(dat_extension_op(nullptr, kOpenOp, too_long.data(), &opened),
              DAT_CLASS_ERROR | DAT_INVALID_PARAMETER | DAT_INVALID_ARG3);
    EXPECT_EQ(dat_extension_op(nullptr, kOpenOp, unknown, &opened),
              DAT_CLASS_ERROR | DAT_PROVIDER_NOT_FOUND | DAT_NAME_NOT_REGISTERED);
    EXPECT_THAT(LastReason(), ::testing::HasSubstr("no IA is called ia1"));
  });
}

}  // namespace
}  // namespace softdat::registry::testing
