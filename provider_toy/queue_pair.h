// SPDX-License-Identifier: BSD-3-Clause
// A queue pair, the shared receive queue that it may take buffers from, and the connection between
// two queue pairs. The fabric's lock protects all state.
#ifndef SOFTDAT_PROVIDER_TOY_QUEUE_PAIR_H_
#define SOFTDAT_PROVIDER_TOY_QUEUE_PAIR_H_

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "dat/transport/transport.h"
#include "provider_toy/dispatcher.h"
#include "provider_toy/fabric.h"
#include "provider_toy/memory.h"
#include "provider_toy/quota.h"
#include "provider_toy/ring.h"

namespace softdat::toy {

inline constexpr uint64_t kMaxMessage = uint64_t{1} << 31;  // bytes
inline constexpr uint32_t kMaxPrivateData = 256;            // bytes

class QueuePair;

// One attempt to connect, and the connection that comes of it. Both ends and the request hold it.
struct Connection {
  QueuePair* active = nullptr;   // null once destroyed or reset
  QueuePair* passive = nullptr;  // null before accept, and once destroyed or reset
  bool open = true;              // nobody has given up or failed yet
  uint64_t conn_qual = 0;
  bool handed_on = false;  // the request came to another adapter first
  std::vector<uint8_t> request_data;
  transport::ConnectionAddresses addresses;  // as the active side sees them
  bool has_timer = false;
  Dispatcher::TimerId timer{};
};

struct ReceiveWork {
  uint64_t cookie = 0;
  uint8_t flags = 0;  // transport::kEchoed
  std::array<DAT_LMR_TRIPLET, kMaxIov> segments{};
  uint32_t count = 0;
  std::span<const DAT_LMR_TRIPLET> local() const { return {segments.data(), count}; }
};

struct SendWork {
  transport::SendRequest request;  // its `local` is replaced when the work is done
  std::array<DAT_LMR_TRIPLET, kMaxIov> segments{};
  uint32_t count = 0;
  std::shared_ptr<RegionState> region;  // kBind
  std::shared_ptr<WindowState> window;  // kBind
};

class SharedReceiveQueue : public transport::SharedReceiveQueue {
 public:
  SharedReceiveQueue(Fabric& fabric, Dispatcher& dispatcher, Quota::Slot slot,
                     const transport::ProtectionDomain* pd, uint32_t capacity, uint32_t max_iov,
                     transport::SharedReceiveSink* sink);
  ~SharedReceiveQueue() override;

  Code PostReceive(const transport::ReceiveRequest& request) override;
  Status Resize(uint32_t capacity) override;
  Status SetLimit(uint32_t limit) override;
  uint32_t Available() const override;

  // These need the fabric's lock.
  bool empty() const { return ring_.empty(); }
  ReceiveWork Take();
  const transport::ProtectionDomain* pd() const { return pd_; }
  void AddUser(QueuePair* qp) { users_.push_back(qp); }
  void RemoveUser(QueuePair* qp) { std::erase(users_, qp); }

 private:
  void CheckLimit();

  Fabric& fabric_;
  Dispatcher& dispatcher_;
  const Quota::Slot slot_;
  const transport::ProtectionDomain* const pd_;
  const uint32_t max_iov_;
  transport::SharedReceiveSink* const sink_;
  const std::shared_ptr<UpcallGate> gate_ = std::make_shared<UpcallGate>();
  Ring<ReceiveWork> ring_;
  uint32_t limit_ = 0;  // 0: not armed
  std::vector<QueuePair*> users_;
};

class QueuePair : public transport::QueuePair {
 public:
  QueuePair(Fabric& fabric, Dispatcher& dispatcher, uint32_t device, Quota::Slot slot,
            const transport::QueuePairAttributes& attributes);
  ~QueuePair() override;

  Code PostSend(const transport::SendRequest& request) override;
  Code PostReceive(const transport::ReceiveRequest& request) override;
  Status Configure(const transport::QueuePairAttributes& attributes) override;
  Status Connect(const transport::ConnectParameters& parameters) override;
  void Disconnect(transport::DisconnectMode mode) override;
  Status Reset() override;
  transport::ConnectionAddresses Addresses() const override;
  uint32_t OutstandingSends() const override;
  uint32_t OutstandingReceives() const override;
  Status SetReceiveWatermarks(uint32_t soft, uint32_t hard) override;

  // Everything below needs the fabric's lock.

  // For the request that this queue pair accepts.
  Status CheckAcceptable() const;
  void Accepted(std::shared_ptr<Connection> connection, std::span<const uint8_t> private_data);
  void AcceptedTooLate(std::shared_ptr<Connection> connection);
  // The attempt of the active side has failed.
  void Fail(transport::RejectReason reason, std::span<const uint8_t> private_data, std::string why);
  // Carries out queued requests until one stalls because the peer has no receive.
  void Pump();
  QueuePair* Peer() const;

 private:
  enum class State { kIdle, kConnecting, kConnected, kDraining, kEnded };
  struct Outcome {
    bool stalled = false;  // no receive at the peer: try again later
    transport::WorkStatus status = transport::WorkStatus::kSuccess;
    uint64_t length = 0;
    std::string why;
  };

  void Apply(const transport::QueuePairAttributes& attributes);
  Code CheckSend(const transport::SendRequest& request, SendWork* work) const;
  RemoteAccessor accessor() const { return {attributes_.pd, number_}; }

  // transfer.cc: carries out one request against the peer.
  Outcome Execute(SendWork& work, QueuePair& peer);
  Outcome ExecuteSend(const transport::SendRequest& request, QueuePair& peer);
  Outcome ExecuteWrite(const transport::SendRequest& request, QueuePair& peer);
  Outcome ExecuteRead(const transport::SendRequest& request, QueuePair& peer);
  Outcome ExecuteAtomic(const transport::SendRequest& request, QueuePair& peer);
  Outcome ExecuteBind(SendWork& work);
  static Outcome SourceIsGone();
  static Outcome SinkIsGone();
  static Outcome TargetIsGone();
  Code ResolveReadSink(const transport::SendRequest& request, Pieces* out);
  bool CanReceive() const;
  // Takes a receive for the message that is being carried out. Returns false when that is one more
  // than the hard watermark allows. *outcome then has the reason why the connection ends.
  bool TakeReceive(ReceiveWork* receive, Outcome* outcome);

  void CompleteSend(const transport::SendRequest& request, transport::WorkStatus status,
                    uint64_t length);
  void CompleteReceive(const ReceiveWork& work, transport::WorkStatus status, const Pieces* data,
                       const transport::SendRequest* sent);
  void FlushReceive(const ReceiveWork& work);

  // Flushes and ends this side, and reports the end.
  void EndSide(transport::EndReason reason, const std::string& why);
  // Ends both sides. The connection is over.
  void EndBoth(transport::EndReason reason, const std::string& why);
  void Flush();
  void CloseConnection();
  void PostEstablished(std::span<const uint8_t> private_data);
  void ReportEstablished(const std::shared_ptr<Connection>& connection,
                         const std::vector<uint8_t>& private_data);
  transport::ConnectionSink* BeginFinalReport();

  Fabric& fabric_;
  Dispatcher& dispatcher_;
  const uint32_t device_;
  const Quota::Slot slot_;
  const uint64_t number_;
  const std::shared_ptr<UpcallGate> gate_ = std::make_shared<UpcallGate>();

  transport::QueuePairAttributes attributes_;
  std::shared_ptr<CompletionQueueState> send_cq_;
  std::shared_ptr<CompletionQueueState> recv_cq_;
  SharedReceiveQueue* srq_ = nullptr;
  // Watermarks for buffers taken from srq_. transport::kNoWatermark: there is none, or it was
  // reported already.
  uint32_t soft_watermark_ = transport::kNoWatermark;
  uint32_t hard_watermark_ = transport::kNoWatermark;
  Ring<SendWork> sends_;
  Ring<ReceiveWork> receives_;
  State state_ = State::kIdle;
  std::shared_ptr<Connection> connection_;
  bool is_active_ = false;
  // Messages wait until the engine knows that this side is connected.
  bool established_reported_ = false;
  // This side disconnected first, so OnEstablished is no longer wanted.
  bool skip_established_ = false;
  // In kEnded: OnEnded or OnFailed is still in the dispatcher's queue.
  bool final_report_due_ = false;
};

}  // namespace softdat::toy

#endif  // SOFTDAT_PROVIDER_TOY_QUEUE_PAIR_H_
