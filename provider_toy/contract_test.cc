// SPDX-License-Identifier: BSD-3-Clause
// The toy back end through the contract test suite.
#include "dat/transport/contract/contract_test_suite.h"
#include "provider_toy/backend.h"

softdat::transport::ContractSetup softdat::transport::ContractSetupUnderTest() {
  return {"toy-0", &softdat::toy::MakeBackend};
}
