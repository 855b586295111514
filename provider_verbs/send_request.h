// SPDX-License-Identifier: BSD-3-Clause
// Turns a request of the engine into verbs requests. Pure functions over a slot whose local
// segments are filled in.
#ifndef SOFTDAT_PROVIDER_VERBS_SEND_REQUEST_H_
#define SOFTDAT_PROVIDER_VERBS_SEND_REQUEST_H_

#include <infiniband/verbs.h>

#include <array>

#include "dat/transport/transport.h"
#include "provider_verbs/device_traits.h"
#include "provider_verbs/work_slots.h"

namespace softdat::verbs {

constexpr bool ReadsRemote(transport::Op op) {
  return op == transport::Op::kRdmaRead || op == transport::Op::kFetchAdd ||
         op == transport::Op::kCompareSwap;
}

// Fills in the verbs request except for its signalling, and applies the rules for lengths
// (semantics 10.1). `zero_based`: the address of a segment cannot be read from.
Code FillRequest(const DeviceTraits& traits, const transport::SendRequest& request, bool zero_based,
                 SendSlot* slot, ibv_send_wr* wr);

// iWARP reads have one sink. A read into several segments becomes several reads, and the last one
// counts.
using SplitRead = std::array<ibv_send_wr, 64>;
Code Split(const ibv_send_wr& wr, SplitRead* parts);

// The completion of a request that never became a verbs request.
transport::Completion FlushOf(const transport::SendRequest& request, void* context);

}  // namespace softdat::verbs

#endif  // SOFTDAT_PROVIDER_VERBS_SEND_REQUEST_H_
