// SPDX-License-Identifier: BSD-3-Clause
// Runs the contract suite over an RDMA device. CONTRACT_DEVICE names the device (verbs-eth0).
#include <cstdlib>

#include "dat/transport/contract/contract_test_suite.h"
#include "provider_verbs/backend.h"

softdat::transport::ContractSetup softdat::transport::ContractSetupUnderTest() {
  const char* const device = std::getenv("CONTRACT_DEVICE");
  return {device != nullptr ? device : "verbs-eth0", &softdat::verbs::MakeBackend};
}
