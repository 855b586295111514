// SPDX-License-Identifier: BSD-3-Clause
// A provider checks its settings itself, because the registry may be a foreign one.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <string>

#include "dat/base/reason.h"
#include "dat/engine/object/dat_error.h"
#include "dat/engine/slots.h"

namespace softdat::engine {
namespace {

TEST(IaSettingsTest, WhatIsNotUnderstoodOpensNothing) {
  setenv("SOFTDAT_PROFILE", "rxee", 1);
  setenv("SOFTDAT_LOG", "/nowhere/x", 1);
  char name[] = "fake-0";
  DAT_EVD_HANDLE async_evd = DAT_HANDLE_NULL;
  DAT_IA_HANDLE ia = DAT_HANDLE_NULL;
  EXPECT_EQ(slots::IaOpen(name, 16, &async_evd, &ia), Error(DAT_INVALID_PARAMETER));
  EXPECT_EQ(ia, DAT_HANDLE_NULL);
  const std::string reasons = LastReasons();
  EXPECT_NE(reasons.find("SOFTDAT_PROFILE=rxee is not valid"), std::string::npos) << reasons;
  EXPECT_NE(reasons.find("SOFTDAT_LOG=/nowhere/x: the file cannot be opened: No such file"),
            std::string::npos)
      << reasons;
}

}  // namespace
}  // namespace softdat::engine
