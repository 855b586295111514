// SPDX-License-Identifier: BSD-3-Clause
// What kinds of work every wire treats alike.
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

// Sends and writes: a wire without acknowledgements has no answer for them.
inline bool IsUnanswered(transport::Op op) { return IsWrite(op) || IsSendOp(op); }

// One of the reads that may be outstanding.
inline bool TakesReadCredit(const SendWork& work) {
  return work.op == transport::Op::kRdmaRead || work.op == transport::Op::kFetchAdd ||
         work.op == transport::Op::kCompareSwap;
}

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_QUEUE_WORK_KINDS_H_
