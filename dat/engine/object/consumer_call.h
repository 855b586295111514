// SPDX-License-Identifier: BSD-3-Clause
// The consumer's code on our stack: a CNO's proxy agent, which may call any DAT function (semantics
// 14).
#ifndef SOFTDAT_DAT_ENGINE_OBJECT_CONSUMER_CALL_H_
#define SOFTDAT_DAT_ENGINE_OBJECT_CONSUMER_CALL_H_

#include "dat/base/cancel.h"
#include "dat/base/thread_local.h"

namespace softdat::engine {

// Surrounds each call of the consumer's code. While one is open, the frames below it on this
// thread's stack may be inside any object of any IA, and cannot leave before the agent returns. So
// a free that the agent makes must not wait for anybody: two agents could wait for each other, and
// one could even wait for itself.
class ConsumerCall {
 public:
  ConsumerCall() { ++depth_; }
  ~ConsumerCall() { --depth_; }
  ConsumerCall(const ConsumerCall&) = delete;
  ConsumerCall& operator=(const ConsumerCall&) = delete;

  static bool Active() { return depth_ > 0; }

 private:
  const CancelOff no_cancellation_;
  inline static constinit thread_local int depth_ SOFTDAT_EARLY_TLS = 0;
};

}  // namespace softdat::engine

#endif  // SOFTDAT_DAT_ENGINE_OBJECT_CONSUMER_CALL_H_
