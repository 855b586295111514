// SPDX-License-Identifier: BSD-3-Clause
// What the peer process says about itself in the private data of its accept.
#ifndef SOFTDAT_TESTS_CONFORMANCE_PEER_PROTOCOL_H_
#define SOFTDAT_TESTS_CONFORMANCE_PEER_PROTOCOL_H_

#include <cstdint>

namespace softdat::conformance {

struct TargetDescription {
  uint64_t address;
  uint64_t bytes;
  uint32_t rmr_context;
};

}  // namespace softdat::conformance

#endif  // SOFTDAT_TESTS_CONFORMANCE_PEER_PROTOCOL_H_
