// SPDX-License-Identifier: BSD-3-Clause
// Kinds of work that every wire treats alike.
#ifndef SOFTDAT_PROVIDER_SOFTNET_QUEUE_WORK_KINDS_H_
#define SOFTDAT_PROVIDER_SOFTNET_QUEUE_WORK_KINDS_H_

#include "dat/transport/transport.h"
#include "provider_softnet/queue/work_queue.h"

namespace softdat::softnet {

inline bool IsWrite(transport::Op op) {
  return op == transport::Op::kRdmaWrite || op == transport::Op::kRdmaWriteImmediate;
}

inline bool IsSendOp(transport::Op op) {
  return op == transport::Op::kSend || op == transport::Op::kSendInvalidate;
}

// Whether it is a send or a write. A wire without acknowledgements gets no answer for these.
inline bool IsUnanswered(transport::Op op) { return IsWrite(op) || IsSendOp(op); }

// Whether it counts as one of the reads that may be outstanding.
inline bool TakesReadCredit(const SendWork& work) {
  return work.op == transport::Op::kRdmaRead || work.op == transport::Op::kFetchAdd ||
         work.op == transport::Op::kCompareSwap;
}

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_QUEUE_WORK_KINDS_H_
