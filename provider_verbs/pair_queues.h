// SPDX-License-Identifier: BSD-3-Clause
// The queues that a queue pair completes in, and the shared one that it receives from. If the
// consumer gave none, the pair has its own.
#ifndef SOFTDAT_PROVIDER_VERBS_PAIR_QUEUES_H_
#define SOFTDAT_PROVIDER_VERBS_PAIR_QUEUES_H_

#include <cstdint>
#include <memory>

#include "dat/transport/transport.h"
#include "provider_verbs/completion_queue.h"
#include "provider_verbs/device.h"
#include "provider_verbs/shared_receive_queue.h"

namespace softdat::verbs {

// May be used only with the queue pair's control lock held.
class PairQueues {
 public:
  explicit PairQueues(Device& device) : device_(device) {}
  PairQueues(const PairQueues&) = delete;
  PairQueues& operator=(const PairQueues&) = delete;

  // If it fails, Detach() undoes what was done.
  Status Attach(const transport::QueuePairAttributes& a);
  void Detach();
  bool attached() const { return send_ != nullptr; }

  // Null while there is no queue.
  const std::shared_ptr<CqCore>& send() const { return send_; }
  const std::shared_ptr<CqCore>& receive() const { return receive_; }
  const std::shared_ptr<SrqCore>& shared() const { return shared_; }

  // Makes `pair` a watcher of both completion queues.
  void Watch(PairSink* pair);
  void Unwatch(PairSink* pair);

 private:
  // Attaches one direction. `*attached`: for how much work room was made.
  Status AttachOne(transport::CompletionQueue* given, uint32_t depth, std::shared_ptr<CqCore>* cq,
                   std::shared_ptr<CqCore>* own, uint32_t* attached);

  Device& device_;
  std::shared_ptr<CqCore> send_, receive_;
  std::shared_ptr<CqCore> own_send_, own_receive_;  // used if the consumer gave none
  std::shared_ptr<SrqCore> shared_;
  uint32_t send_attached_ = 0, receive_attached_ = 0;
  bool watching_ = false;
};

}  // namespace softdat::verbs

#endif  // SOFTDAT_PROVIDER_VERBS_PAIR_QUEUES_H_
