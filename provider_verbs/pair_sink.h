// SPDX-License-Identifier: BSD-3-Clause
// A queue pair as the layers below it see it: the completion queues of its work, and the device
// that gets its events.
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

  // The progress of the pair's receives from a shared queue. Their completions carry only the
  // number of the pair.
  virtual ReceiveProgress& receive_progress() = 0;
  virtual bool Shares(const SrqCore* srq) = 0;

  // Any thread, without a lock. `failure` has been noted and must end the connection.
  virtual void ReportFailure() = 0;

  // The driver's leader calls these without a lock.
  //
  // Something has completed. For pairs that watch their completion queues.
  virtual void OnArrivals() = 0;
  // `life`: PairFailure::life() at the time of the error. An error of an earlier hardware queue
  // pair, reported only now, does not concern the present connection.
  virtual void OnAsyncError(const char* what, uint32_t life) = 0;
  // Data have arrived before the connection is reported: IBV_EVENT_COMM_EST.
  virtual void OnFirstMessage(uint32_t life) = 0;

  PairFailure failure;
  // Links a list of pairs whose failure was noted. A pair is in one list at most.
  PairSink* next_failed = nullptr;
};

}  // namespace softdat::verbs

#endif  // SOFTDAT_PROVIDER_VERBS_PAIR_SINK_H_
