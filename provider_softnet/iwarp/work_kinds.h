// SPDX-License-Identifier: BSD-3-Clause
// What kinds of work a stream treats alike.
#ifndef SOFTDAT_PROVIDER_SOFTNET_IWARP_WORK_KINDS_H_
#define SOFTDAT_PROVIDER_SOFTNET_IWARP_WORK_KINDS_H_

#include "dat/transport/transport.h"
#include "provider_softnet/queue/work_queue.h"

namespace softdat::softnet {

inline bool IsWrite(transport::Op op) {
  return op == transport::Op::kRdmaWrite || op == transport::Op::kRdmaWriteImmediate;
}

inline bool IsSendOp(transport::Op op) {
  return op == transport::Op::kSend || op == transport::Op::kSendInvalidate;
}

// What the wire itself does not answer: it is over when TCP has it, or when the peer confirms it.
inline bool IsUnanswered(transport::Op op) { return IsWrite(op) || IsSendOp(op); }

// One of the reads that may be outstanding.
inline bool TakesReadCredit(const SendWork& work) {
  return work.op == transport::Op::kRdmaRead || work.op == transport::Op::kFetchAdd ||
         work.op == transport::Op::kCompareSwap;
}

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_IWARP_WORK_KINDS_H_
