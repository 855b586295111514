// SPDX-License-Identifier: BSD-3-Clause
// The process that hands a request on to another process.
#ifndef SOFTDAT_PROVIDER_SOFTNET_TCP_HANDOFF_SENDER_H_
#define SOFTDAT_PROVIDER_SOFTNET_TCP_HANDOFF_SENDER_H_

#include <chrono>
#include <string>

#include "dat/base/status.h"
#include "provider_softnet/tcp/handoff_message.h"

namespace softdat::softnet {

// Offers the connection `fd` to another process: to its service point on offer.conn_qual that
// requests to the address `host` reach. `fd` stays the caller's. Any thread. Blocks for `limit` at
// most.
//
// On success the connection belongs to the other process, and the caller closes its descriptor
// without another word to the peer. On failure the other process has no part in the connection.
// kNotFound: no process of this user listens there. kNoFreeQualifier: one listens, but it refused
// or did not answer in time. kNoResources.
Status OfferToProcess(const HandoffOffer& offer, const std::string& host, int fd,
                      std::chrono::milliseconds limit);

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_TCP_HANDOFF_SENDER_H_
