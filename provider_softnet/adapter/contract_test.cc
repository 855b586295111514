// SPDX-License-Identifier: BSD-3-Clause
// The back-end contract, sentence by sentence, against softnet over each of its wires.
#include <cstdlib>

#include "dat/transport/contract/contract_test_suite.h"
#include "provider_softnet/adapter/backend.h"
#include "provider_softnet/adapter/test_wires.h"

softdat::transport::ContractSetup softdat::transport::ContractSetupUnderTest() {
  return {std::getenv("CONTRACT_IA"),
          [] { return softdat::softnet::MakeBackend(softdat::softnet::TestWires()); }};
}
