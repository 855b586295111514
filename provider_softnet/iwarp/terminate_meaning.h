// SPDX-License-Identifier: BSD-3-Clause
// Which of our own work a Terminate of the peer concerns. Untagged messages have numbers. A write
// is known by its destination. Without confirmation, sends and writes are usually over by then.
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
  uint64_t position = kNoWork;  // kNoWork: none, or no work of the consumer's
  bool named = false;           // known for certain; otherwise a guess
};

// `confirmed`: everything in front of this position is over.
Meant MeantBy(const iwarp::Terminate& terminate, SendQueue& queue, const OwnRequests& own,
              const Sender& sender, uint64_t confirmed);

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_IWARP_TERMINATE_MEANING_H_
