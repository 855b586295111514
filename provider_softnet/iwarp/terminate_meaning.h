// SPDX-License-Identifier: BSD-3-Clause
// A Terminate of the peer: which own work it speaks about. Untagged messages have numbers; a write
// is known by where it went. Without confirmation, sends and writes are usually over by then.
#ifndef SOFTDAT_PROVIDER_SOFTNET_IWARP_TERMINATE_MEANING_H_
#define SOFTDAT_PROVIDER_SOFTNET_IWARP_TERMINATE_MEANING_H_

#include "dat/transport/transport.h"
#include "provider_softnet/iwarp/own_requests.h"
#include "provider_softnet/iwarp/sender.h"
#include "wire/iwarp/terminate.h"

namespace softdat::softnet {

// The status of a request that a Terminate with this code refuses.
transport::WorkStatus StatusFor(iwarp::TerminateCode code);

struct Meant {
  uint64_t position = kNoWork;  // none, or no work of the consumer's
  bool named = false;           // beyond doubt; else a guess
};

// `confirmed`: all in front of that position is over.
Meant MeantBy(const iwarp::Terminate& terminate, SendQueue& queue, const OwnRequests& own,
              const Sender& sender, uint64_t confirmed);

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_IWARP_TERMINATE_MEANING_H_
