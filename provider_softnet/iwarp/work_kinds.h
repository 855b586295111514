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

// A write completes when TCP has its last byte. One that is to be confirmed is followed by a read
// of nothing, which the peer answers when all that went before is in its memory (RFC 5040 §5.5).
inline bool IsConfirmed(const SendWork& work) {
  return (work.flags & transport::kConfirm) != 0 && IsWrite(work.op);
}

// One of the reads that may be outstanding.
inline bool TakesReadCredit(const SendWork& work) {
  return work.op == transport::Op::kRdmaRead || work.op == transport::Op::kFetchAdd ||
         work.op == transport::Op::kCompareSwap || IsConfirmed(work);
}

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_IWARP_WORK_KINDS_H_
