// SPDX-License-Identifier: BSD-3-Clause
// The handing-off side of a handoff to another process.
#ifndef SOFTDAT_PROVIDER_SOFTNET_TCP_HANDOFF_SENDER_H_
#define SOFTDAT_PROVIDER_SOFTNET_TCP_HANDOFF_SENDER_H_

#include <chrono>
#include <string>

#include "dat/base/status.h"
#include "provider_softnet/tcp/handoff_message.h"

namespace softdat::softnet {

// Offers the connection `fd`, which stays the caller's, to the service point of another process on
// offer.conn_qual that requests to the address `host` reach. Any thread; blocks for `limit` at
// most. Success: it is the other process's now, and the caller closes its descriptor without
// another word to the peer. Otherwise the other process has no part in it: kNotFound, nobody of
// this user listens there; kNoFreeQualifier, somebody does but refused, or did not answer in time;
// kNoResources.
Status OfferToProcess(const HandoffOffer& offer, const std::string& host, int fd,
                      std::chrono::milliseconds limit);

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_TCP_HANDOFF_SENDER_H_
