// SPDX-License-Identifier: BSD-3-Clause
// The queues of one queue pair, whatever its wire: its own send and receive queues, the completion
// queues that they report to, and an SRQ with its watermarks in place of the receive queue.
//
// The queue pair's lock guards it.
#ifndef SOFTDAT_PROVIDER_SOFTNET_OBJECTS_QUEUE_SET_H_
#define SOFTDAT_PROVIDER_SOFTNET_OBJECTS_QUEUE_SET_H_

#include <cstdint>
#include <memory>

#include "dat/transport/transport.h"
#include "provider_softnet/memory/memory_table.h"
#include "provider_softnet/objects/queue_cores.h"
#include "provider_softnet/queue/work_ledger.h"
#include "provider_softnet/queue/work_queue.h"

namespace softdat::softnet {

class QueueSet {
 public:
  explicit QueueSet(const transport::QueuePairAttributes& attributes);
  QueueSet(const QueueSet&) = delete;
  QueueSet& operator=(const QueueSet&) = delete;

  // Sets new depths and queues. Posted receives survive. If they do not fit, it fails and changes
  // nothing.
  Status Set(const transport::QueuePairAttributes& attributes);
  Status CheckFits(const transport::QueuePairAttributes& attributes) const;
  // Called when the queue pair is gone. Releases the completion queues and the SRQ.
  void Release();

  const transport::QueuePairAttributes& attributes() const { return attributes_; }
  uint32_t pd() const { return pd_; }  // 0 means none
  const RefPtr<CompletionCore>& send_cq() const { return send_cq_; }
  const RefPtr<CompletionCore>& recv_cq() const { return recv_cq_; }
  const RefPtr<SharedReceiveCore>& srq() const { return srq_; }
  SendQueue& sends() const { return *send_queue_; }
  ReceiveQueue& receives() const { return *receive_queue_; }
  void SetWatermarks(uint32_t soft, uint32_t hard) { watermarks_ = {soft, hard}; }

  // The configuration for the ledger of a connection. `qp` is the queue pair's id.
  WorkLedgerConfig ForLedger(MemoryTable* memory, uint32_t qp);

  // ---- without a connection ----

  // Queues the receive. Judges it if there is a protection domain.
  Code PostReceive(const MemoryTable& memory, uint32_t qp,
                   const transport::ReceiveRequest& request);
  // Completes what is posted as flushed.
  void FlushReceives(PendingUpcalls* upcalls);
  void FlushPosted(const transport::SendRequest& request, PendingUpcalls* upcalls);
  void DropReceives();

 private:
  transport::QueuePairAttributes attributes_;
  uint32_t pd_ = 0;
  RefPtr<CompletionCore> send_cq_;
  RefPtr<CompletionCore> recv_cq_;
  RefPtr<SharedReceiveCore> srq_;
  ReceiveWatermarks watermarks_;
  std::unique_ptr<SendQueue> send_queue_;
  std::unique_ptr<ReceiveQueue> receive_queue_;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_OBJECTS_QUEUE_SET_H_
