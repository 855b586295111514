// SPDX-License-Identifier: BSD-3-Clause
// What every wire does with the work of a queue pair: admission, order, suppression,
// completion, flush, receives of its own or of an SRQ with its watermarks, binds. A protocol engine
// moves the bytes and reports what is done. The ledger decides what the consumer is told, and when.
//
// The queue pair's lock guards it. It makes no allocation and no virtual call.
#ifndef SOFTDAT_PROVIDER_SOFTNET_QUEUE_WORK_LEDGER_H_
#define SOFTDAT_PROVIDER_SOFTNET_QUEUE_WORK_LEDGER_H_

#include <bit>
#include <cstdint>
#include <utility>

#include "dat/transport/transport.h"
#include "provider_softnet/memory/memory_table.h"
#include "provider_softnet/queue/completion_ring.h"
#include "provider_softnet/queue/work_queue.h"

namespace softdat::softnet {

// What the ledger needs of the queue pair. All pointers are borrowed and outlive the ledger.
struct WorkLedgerConfig {
  void* context = nullptr;  // copied into completions
  MemoryTable* memory = nullptr;
  SendQueue* send_queue = nullptr;
  ReceiveQueue* receive_queue = nullptr;  // either this one or shared_receives
  SharedReceiveQueue* shared_receives = nullptr;
  ReceiveWatermarks* watermarks = nullptr;     // of shared_receives; null means none
  CompletionRing* send_completions = nullptr;  // null means dropped
  CompletionRing* receive_completions = nullptr;
  bool solicited_receives = false;  // transport::QueuePairAttributes
  uint32_t pd = 0;
  uint32_t qp = 0;
};

// What a connection accepts, and when its requests count as completed.
struct AdmissionRules {
  uint64_t max_message = 0;  // bytes of the longest message or RDMA operation
  bool extensions = true;    // immediate data with writes, atomics
  bool short_reads = false;  // a read moves min(remote, local) instead of failing with kLength
  bool reads = true;         // whether reads and atomics may be outstanding
  bool confirms = false;     // sends and writes complete when the peer has confirmed them
  bool can_confirm = true;   // whether the peer can be asked to confirm
};

// The work that a failure belongs to.
struct Blame {
  static Blame Nobody() { return {}; }
  static Blame Send(uint64_t position, transport::WorkStatus status) {
    return {true, false, position, status};
  }
  static Blame Receive(transport::WorkStatus status) { return {false, true, 0, status}; }
  bool send = false;
  bool receive = false;  // the receive that the current message took
  uint64_t position = 0;
  transport::WorkStatus status = transport::WorkStatus::kSuccess;
};

// Upcalls that the ledger owes its queues and its connection.
struct Notices {
  bool send = false;          // send_completions->Notify(), without locks
  bool receive = false;       // receive_completions->Notify()
  bool shared_limit = false;  // the SRQ fell below its limit: SharedReceiveSink::OnLimit
  bool watermark = false;     // the soft watermark: ConnectionSink::OnReceiveWatermark
  // As one word, because it is checked after each operation.
  bool any() const { return std::bit_cast<uint32_t>(*this) != 0; }
};
static_assert(sizeof(Notices) == sizeof(uint32_t));

class WorkLedger {
 public:
  explicit WorkLedger(const WorkLedgerConfig& config) : config_(config) {}
  WorkLedger(const WorkLedger&) = delete;
  WorkLedger& operator=(const WorkLedger&) = delete;

  const WorkLedgerConfig& config() const { return config_; }
  SendQueue& sends() const { return *config_.send_queue; }
  const Notices& notices() const { return notices_; }
  Notices TakeNotices() { return std::exchange(notices_, {}); }

  // ---- requests ----

  // Fills the next place of the send queue, which nobody sees before sends().Commit(). Judges
  // everything but the local memory. Returns kQueueFull; kInvalidArgument (too many segments);
  // kLength (semantics 10.1); kNoResources for a read or a confirmation that this connection cannot
  // have; kNotSupported for extensions that are switched off; and kProtection, kPrivileges or
  // kOutOfBounds for binds.
  Code Prepare(const transport::SendRequest& request, const AdmissionRules& rules, SendWork** work);
  // Fills the next place of the send queue with a send or write of at most one segment, in which
  // there is nothing to refuse.
  SendWork& FillAccepted(const transport::SendRequest& request, const Segment& segment,
                         bool confirm);
  // The same as Prepare() for datagrams, and for nothing else. `longest`: bytes of one. Judges the
  // memory, too.
  Code PrepareDatagram(const transport::SendRequest& request, uint64_t longest);
  // Judges the local memory of a prepared request. Returns kOk, kProtection, kPrivileges or
  // kOutOfBounds.
  Code JudgeLocal(const transport::SendRequest& request, const SendWork& work) const;
  // Pushes the flushed completion of a request that is posted after the end.
  void FlushPosted(const transport::SendRequest& request);

  // Carries out the bind of `work`. No pin may be held.
  AccessError CarryOutBind(const SendWork& work);

  // Completes in post order (semantics 10.3) the work that is over: it is done, stands in front of
  // `sent_to`, which is back() at most, and, if it must be confirmed, in front of `confirmed_to`.
  void CompleteSends(uint64_t sent_to, uint64_t confirmed_to) {
    while (IsOldestOver(sent_to, confirmed_to)) {
      CompleteOldestSend(sends().at(sends().front()).status);
    }
  }
  // Whether CompleteSends() would complete anything.
  bool IsOldestOver(uint64_t sent_to, uint64_t confirmed_to) const {
    SendQueue& queue = sends();
    if (queue.front() >= sent_to) return false;
    const SendWork& work = queue.at(queue.front());
    return work.done && (!work.confirm || queue.front() < confirmed_to);
  }
  // Ends all sends in post order. Work that is over succeeds until the first that is not. Nothing
  // behind that one succeeds.
  void FlushSends(const Blame& blame, uint64_t confirmed_to);

  // ---- receives ----

  // Posts to receive_queue, and judges the receive first if `judge`. Returns kInvalidState with an
  // SRQ.
  Code PostReceive(const transport::ReceiveRequest& request, bool judge);
  bool HasReceive() const {
    return config_.shared_receives != nullptr ? config_.shared_receives->Available() > 0
                                              : !config_.receive_queue->empty();
  }
  // The receive of the message that arrives, until it is completed. Null between messages.
  ReceiveWork* held() const { return held_; }
  // Makes the next posted receive held(). Returns false when there is none.
  bool TakeReceive();
  // The receive of the next message. Null when there is none, when it is taken already, and with an
  // SRQ.
  const ReceiveWork* NextOfOwn() const {
    return config_.receive_queue == nullptr || held_ != nullptr ? nullptr
                                                                : config_.receive_queue->Front();
  }
  // Completes NextOfOwn() with a message of `length` bytes that was not solicited.
  void CompleteNextOfOwn(uint64_t length);
  // Reports the soft watermark, once. Returns false beyond the hard one (semantics 11).
  bool WithinWatermarks();
  // The number of receives that messages have taken and not completed, which the pair holds of its
  // SRQ.
  uint32_t held_receives() const { return held_ != nullptr ? 1 : 0; }
  // The domain against which the memory of receives is judged.
  uint32_t receive_domain() const {
    return config_.shared_receives == nullptr ? config_.pd : config_.shared_receives->pd();
  }
  void CompleteReceive(transport::Op op, uint64_t length, uint32_t key, bool solicited);
  // The message of held() fails, and nothing else does.
  void FailReceive(transport::Op op, transport::WorkStatus status);
  // The receive of receive_queue that is held() stays where it was, for another message.
  void KeepReceive() { held_ = nullptr; }
  // Ends all receives. held() fails with the blame's status if the blame is on a receive. All
  // others are flushed.
  void FlushReceivesOf(const Blame& blame);

 private:
  Code FillBind(const transport::SendRequest& request, SendWork* work) const;
  MemoryTable::BindRequest BindOf(const SendWork& work) const;
  Code FillTransfer(const transport::SendRequest& request, const AdmissionRules& rules,
                    SendWork* work);
  void CompleteOldestSend(transport::WorkStatus status);
  void ReleaseHeld();
  void PushReceive(const transport::Completion& completion) {
    if (config_.receive_completions == nullptr) return;
    if (config_.receive_completions->Push(completion)) notices_.receive = true;
  }

  const WorkLedgerConfig config_;
  Notices notices_;
  ReceiveWork* held_ = nullptr;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_QUEUE_WORK_LEDGER_H_
