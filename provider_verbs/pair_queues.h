// SPDX-License-Identifier: BSD-3-Clause
// The queues that a queue pair completes in, and the shared one that it receives from: the
// consumer's, or of its own where the consumer gave none.
#ifndef SOFTDAT_PROVIDER_VERBS_PAIR_QUEUES_H_
#define SOFTDAT_PROVIDER_VERBS_PAIR_QUEUES_H_

#include <cstdint>
#include <memory>

#include "dat/transport/transport.h"
#include "provider_verbs/completion_queue.h"
#include "provider_verbs/device.h"
#include "provider_verbs/shared_receive_queue.h"

namespace softdat::verbs {

// Belongs to whoever holds the queue pair's lock for control.
class PairQueues {
 public:
  explicit PairQueues(Device& device) : device_(device) {}
  PairQueues(const PairQueues&) = delete;
  PairQueues& operator=(const PairQueues&) = delete;

  // When it fails, Detach() takes back what was done.
  Status Attach(const transport::QueuePairAttributes& a);
  void Detach();
  bool attached() const { return send_ != nullptr; }

  // Null while there is none.
  const std::shared_ptr<CqCore>& send() const { return send_; }
  const std::shared_ptr<CqCore>& receive() const { return receive_; }
  const std::shared_ptr<SrqCore>& shared() const { return shared_; }

  // Whether `pair` hears of arrivals in both.
  void Watch(PairSink* pair);
  void Unwatch(PairSink* pair);

 private:
  // One direction's. `*attached`: for how much work room was made.
  Status AttachOne(transport::CompletionQueue* given, uint32_t depth, std::shared_ptr<CqCore>* cq,
                   std::shared_ptr<CqCore>* own, uint32_t* attached);

  Device& device_;
  std::shared_ptr<CqCore> send_, receive_;
  std::shared_ptr<CqCore> own_send_, own_receive_;  // where the consumer gave none
  std::shared_ptr<SrqCore> shared_;
  uint32_t send_attached_ = 0, receive_attached_ = 0;
  bool watching_ = false;
};

}  // namespace softdat::verbs

#endif  // SOFTDAT_PROVIDER_VERBS_PAIR_QUEUES_H_
