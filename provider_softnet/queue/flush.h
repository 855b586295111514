// SPDX-License-Identifier: BSD-3-Clause
// Flushed completions of a queue pair without a connection (semantics 10.5).
#ifndef SOFTDAT_PROVIDER_SOFTNET_QUEUE_FLUSH_H_
#define SOFTDAT_PROVIDER_SOFTNET_QUEUE_FLUSH_H_

#include "dat/transport/transport.h"
#include "provider_softnet/queue/completion_ring.h"
#include "provider_softnet/queue/work_queue.h"

namespace softdat::softnet {

// Completes every posted receive as flushed. `ring` may be null. `context` is the queue pair's.
// Returns true when ring->Notify() is due.
[[nodiscard]] bool FlushReceives(ReceiveQueue* queue, CompletionRing* ring, void* context);

// Pushes the flushed completion of a request that is posted after the end. Returns the same as
// above.
[[nodiscard]] bool FlushPostedSend(const transport::SendRequest& request, CompletionRing* ring,
                                   void* context);

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_QUEUE_FLUSH_H_
