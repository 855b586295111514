// SPDX-License-Identifier: BSD-3-Clause
// The private data of the peer process's accept, in which it describes itself.
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
