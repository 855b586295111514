// SPDX-License-Identifier: BSD-3-Clause
// The first connection of a process that has no descriptor left, or a few. It works, or the call
// fails with DAT_INSUFFICIENT_RESOURCES, with every number from none to plenty. Each case runs in a
// process of its own, because libraries make some descriptors once in a process, and because the
// limit cannot be raised again.
#include <string>

#include "tests/field/few_descriptors.h"
#include "tests/field/field.h"
#include "tests/field/process.h"

namespace softdat::field {
namespace {

constexpr int kPlenty = 20;

class FirstUseTest : public testing::TestWithParam<int> {};

INSTANTIATE_TEST_SUITE_P(DescriptorsLeft, FirstUseTest, testing::Range(0, kPlenty + 1));

// Returns 0, 1 for a failure of the test, or 2 if the call was refused for want of descriptors.
int Verdict(DAT_RETURN ret) {
  if (ret == DAT_SUCCESS) return testing::Test::HasFailure() ? 1 : 0;
  EXPECT_EQ(DAT_GET_TYPE(ret), DAT_RETURN{DAT_INSUFFICIENT_RESOURCES}) << Text(ret);
  return testing::Test::HasFailure() ? 1 : 2;
}

int ListenFirst(int left) {
  FewDescriptors::ForbidMore();
  Ia ia;
  const DAT_EVD_HANDLE cr_evd = ia.NewEvd(DAT_EVD_CR_FLAG);
  DAT_CONN_QUAL qualifier = 0;
  DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
  const FewDescriptors few(left);
  return Verdict(dat_psp_create_any(ia.handle(), &qualifier, cr_evd, DAT_PSP_CONSUMER_FLAG, &psp));
}

int ConnectFirst(int left) {
  FewDescriptors::ForbidMore();
  Ia ia;
  End end(ia);
  constexpr DAT_CONN_QUAL kNobody = 7999;
  const FewDescriptors few(left);
  return Verdict(StartConnect(end.ep, ia.address(), kNobody, 1'000'000));
}

TEST_P(FirstUseTest, AServicePoint) {
  const int end = WaitForChild(StartChild([] { return ListenFirst(GetParam()); }));
  EXPECT_TRUE(end == 0 || (end == 2 && GetParam() < kPlenty)) << end;
}

TEST_P(FirstUseTest, AConnectionAttempt) {
  const int end = WaitForChild(StartChild([] { return ConnectFirst(GetParam()); }));
  EXPECT_TRUE(end == 0 || (end == 2 && GetParam() < kPlenty)) << end;
}

}  // namespace
}  // namespace softdat::field
