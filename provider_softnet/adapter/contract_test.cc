// SPDX-License-Identifier: BSD-3-Clause
// The back-end contract, sentence by sentence, against softnet over loopback sockets.
#include "dat/transport/contract/contract_test_suite.h"
#include "provider_softnet/adapter/backend.h"

softdat::transport::ContractSetup softdat::transport::ContractSetupUnderTest() {
  return {"softnet-lo", [] { return softdat::softnet::MakeBackend(); }};
}
