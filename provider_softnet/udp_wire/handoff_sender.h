// SPDX-License-Identifier: BSD-3-Clause
// The member that hands a request off to another member of its address, which may be of another
// process. The request changes hands at the moment of the answer: who gives up waiting first sees
// to it that none can be sent any more. So it never happens that both have the request, or that
// neither has it.
#ifndef SOFTDAT_PROVIDER_SOFTNET_UDP_WIRE_HANDOFF_SENDER_H_
#define SOFTDAT_PROVIDER_SOFTNET_UDP_WIRE_HANDOFF_SENDER_H_

#include <chrono>
#include <cstdint>
#include <string>

#include "dat/base/status.h"
#include "provider_softnet/udp/forward_message.h"

namespace softdat::softnet {

// The answer to an offer, one byte.
enum class OfferVerdict : uint8_t {
  kTaken = 1,       // the request is the other member's now
  kNoListener = 2,  // nobody listens on this qualifier
  kRefused = 3,     // it cannot take the request
};
// Sends it. False when the other member does not wait any more. Any thread.
bool AnswerOffer(int fd, OfferVerdict verdict);

// Offers a request to the member that listens on `service_id` at the address `host`. `lease` is
// passed on, and stays the caller's. Any thread, without the token of any driver: the other member
// may be one of this process. Blocks for `limit` at most.
//
// On failure the other member has no part in the request. kNotFound: no member of this user listens
// there. kNoFreeQualifier: one does, but it refused or did not answer in time. kNoResources.
Status OfferToMember(const std::string& host, uint64_t service_id, const MemberOffer& offer,
                     int lease, std::chrono::milliseconds limit);

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_UDP_WIRE_HANDOFF_SENDER_H_
