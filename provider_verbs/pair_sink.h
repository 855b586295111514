// SPDX-License-Identifier: BSD-3-Clause
// What a queue pair is for the floors below it: for the completion queues that its work completes
// in, and for the device whose events concern it.
#ifndef SOFTDAT_PROVIDER_VERBS_PAIR_SINK_H_
#define SOFTDAT_PROVIDER_VERBS_PAIR_SINK_H_

#include <cstdint>
#include <memory>

#include "provider_verbs/pair_failure.h"

namespace softdat::verbs {

class SrqCore;
struct ReceiveProgress;

class PairSink : public std::enable_shared_from_this<PairSink> {
 public:
  virtual ~PairSink() = default;

  // What receives from a shared queue complete for: the number of the pair is all that these tell.
  virtual ReceiveProgress& receive_progress() = 0;
  virtual bool Shares(const SrqCore* srq) = 0;

  // Any thread, without a lock: `failure` has been noted and must end the connection.
  virtual void ReportFailure() = 0;

  // The driver's leader, without a lock.
  //
  // Something has completed, for pairs that watch their completion queues.
  virtual void OnArrivals() = 0;
  // `life`: PairFailure::life() when it happened. What befell an earlier hardware queue pair, and
  // is only now told, does not concern the connection that there is by now.
  virtual void OnAsyncError(const char* what, uint32_t life) = 0;
  // Data before the connection is reported: IBV_EVENT_COMM_EST.
  virtual void OnFirstMessage(uint32_t life) = 0;

  PairFailure failure;
  // Of a list whose owner noted a failure of each pair in it: a pair is in one list at most.
  PairSink* next_failed = nullptr;
};

}  // namespace softdat::verbs

#endif  // SOFTDAT_PROVIDER_VERBS_PAIR_SINK_H_
