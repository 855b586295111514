// SPDX-License-Identifier: BSD-3-Clause
// The parts that the tests of the client share: an IA of the toy provider, with a zone.
#ifndef SOFTDAT_DAT_CLIENT_CLIENT_TEST_H_
#define SOFTDAT_DAT_CLIENT_CLIENT_TEST_H_

#include <gtest/gtest.h>

#include "dat/client/ia.h"
#include "dat/client/result.h"

namespace softdat::client {

inline constexpr char kToy[] = "toy-0";
// Only a test that has lost something reaches this limit.
inline constexpr DAT_TIMEOUT kPatienceUs = 30'000'000;

#define EXPECT_OK(call)                                          \
  do {                                                           \
    const Result made = (call);                                  \
    EXPECT_EQ(made, DAT_RETURN{DAT_SUCCESS}) << made.Describe(); \
  } while (0)
#define ASSERT_OK(call)                                          \
  do {                                                           \
    const Result made = (call);                                  \
    ASSERT_EQ(made, DAT_RETURN{DAT_SUCCESS}) << made.Describe(); \
  } while (0)

class ClientTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK(ia_.Open(kToy));
    ASSERT_OK(pz_.Create(ia_));
  }

  Ia ia_;
  Pz pz_;
};

}  // namespace softdat::client

#endif  // SOFTDAT_DAT_CLIENT_CLIENT_TEST_H_
