// SPDX-License-Identifier: BSD-3-Clause
// A queue pair's working half: its queues, and the reliable connection over the datagram port.
// Counted, since a thread that received a packet may still look at it while the engine destroys its
// handle (RoceQueuePair).
//
// Locks. `mutex_` is the queue pair's lock: queues and connection. Timers, connection management
// and every connection upcall belong to the holder of the driver token. The order is token, then
// mutex_. No upcall is made with mutex_ held, and no connection upcall from a post or a packet.
//
// What a thread without the token finds out is left in `pending_`, and the token holder attends to
// it (Attend).
#ifndef SOFTDAT_PROVIDER_SOFTNET_UDP_WIRE_ROCE_ENDPOINT_H_
#define SOFTDAT_PROVIDER_SOFTNET_UDP_WIRE_ROCE_ENDPOINT_H_

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "dat/base/fast_mutex.h"
#include "dat/transport/transport.h"
#include "provider_softnet/cm/cm_events.h"
#include "provider_softnet/driver/event_loop.h"
#include "provider_softnet/driver/gathering.h"
#include "provider_softnet/driver/ride_hope.h"
#include "provider_softnet/objects/queue_cores.h"
#include "provider_softnet/objects/queue_set.h"
#include "provider_softnet/roce/reliable_connection.h"
#include "provider_softnet/udp_wire/roce_pair.h"
#include "provider_softnet/udp_wire/roce_plane.h"

namespace softdat::softnet {

// What the ends of a connection have agreed on.
struct AgreedPair {
  CmPeer peer;
  uint32_t own_psn = 0;  // of the peer's first request
  CmDepths depths{};
  uint32_t mtu = 0;
  uint8_t retry_count = 7;
  uint8_t rnr_retry_count = 7;
  uint8_t ack_timeout = 18;
  transport::ConnectionAddresses addresses;
};

class RoceEndpoint final : public RocePair {
 public:
  RoceEndpoint(std::shared_ptr<RoceAdapter> adapter,
               const transport::QueuePairAttributes& attributes);

  // ---- transport::QueuePair ----
  Code PostSend(const transport::SendRequest& request);
  Code PostReceive(const transport::ReceiveRequest& request);
  Status Configure(const transport::QueuePairAttributes& attributes);
  Status Connect(const transport::ConnectParameters& parameters);
  void Disconnect(transport::DisconnectMode mode);
  Status Reset();
  transport::ConnectionAddresses Addresses() const;
  uint32_t OutstandingSends() const;
  uint32_t OutstandingReceives() const;
  Status SetReceiveWatermarks(uint32_t soft, uint32_t hard);
  // The handle dies: no upcall after it returns. A peer that was refused something has its time to
  // hear so all the same (lingers_).
  void Shutdown();
  // The process exits: acknowledges what was carried out, before the peer hears of the end. Waits
  // for no lock for long. Token.
  void PayLast();
  // The plane stops: nothing of this endpoint is left in it. Token.
  void OnPlaneStops();

  // ---- passive side (token) ----
  Status CheckAcceptable() const;
  const transport::QueuePairAttributes& attributes() const { return queues_.attributes(); }
  const RoceAdapter* adapter() const { return adapter_.get(); }
  // The connection exists from now on, so that the peer's first request is served; the reply is
  // sent behind this.
  void BeginAccepted(std::shared_ptr<RocePlane> plane, CmId id, uint32_t qpn,
                     const AgreedPair& agreed);

  // ---- connection management's events (token) ----
  void OnReply(const CmReplyArrived& reply);
  void OnEstablished();
  void OnFailed(const CmFailed& failed);
  void OnDisconnected(CmDisconnected::By by);
  CmId exchange() const { return exchange_; }

  // ---- RocePair ----
  void OnPacket(const Arrival& arrival) override;
  void OnPacketsEnd() override;
  void FinishPacketsSoon() override;
  void OnRoom() override;

  // ---- Channel ----
  bool TryReceive() override { return false; }  // its port receives
  bool FlushSends(Flusher by) override;
  bool PayOwed(Patience patience) override;
  void Attend() override;

 private:
  enum class State : uint8_t { kIdle, kConnecting, kConnected, kEnded };
  // What a thread without the token has found out.
  struct Pending {
    bool aborted = false;      // Disconnect before the establishment: report OnEnded
    bool packets = false;      // that came are to be answered
    bool unreachable = false;  // there is no way to the peer: report OnFailed
    bool established = false;  // a request came in place of the peer's RTU
    bool draining = false;     // a graceful disconnect waits for the peer: not for ever
    bool timer = false;        // the connection's deadline is earlier than the timer
    bool watermark = false;
    bool ended = false;
    bool any() const {
      return aborted || packets || unreachable || established || draining || timer || watermark ||
             ended;
    }
  };

  ~RoceEndpoint() override;

  // Token:
  Status BeginUnreachable(const transport::ConnectParameters& parameters, int error);

  // mutex_ held:
  void StartConnection(uint32_t qpn, const AgreedPair& agreed);
  bool MayTransmit() const { return connection_ != nullptr && !full_; }
  // It has nothing to say any more.
  bool silent() const { return dead_ && !lingers_; }
  void WriteOrGather(const transport::SendRequest& request);
  bool Transmit();
  void TakeActions(PendingUpcalls* upcalls);
  void Take(const roce::Packet& packet);
  void KeepEarly(const Arrival& arrival);
  void ReplayEarly();
  // mutex_ held by `lock`; lets go of it, makes upcalls, sees to it that control work is attended
  // to.
  void Finish(std::unique_lock<FastMutex>* lock, PendingUpcalls* upcalls);

  // Token:
  void Established(std::span<const uint8_t> private_data);
  void TellWatermark();
  void UpdateTimer();
  void OnTimer();
  void StartLimit(std::chrono::milliseconds limit);
  void OnLimit();
  void WatchDraining();
  void AwaitLateAnswers();
  void LookForLateAnswers();
  void OnPeerLeft();
  void AttendToEnd();
  void EndExchange();
  // With connection and exchange (Reset, Configure, Shutdown).
  void DropConnection();
  // The last of it, after the handle.
  void Vanish();

  const std::shared_ptr<RoceAdapter> adapter_;
  Driver* const driver_;
  const uint32_t id_;

  mutable FastMutex mutex_;
  // Guarded by mutex_:
  QueueSet queues_;  // depths and sink also read with the token; changed with both
  State state_ = State::kIdle;
  std::unique_ptr<ReliableConnection> connection_;
  uint32_t qpn_ = 0;  // of the connection, or of the attempt
  // Of the connection, or of the attempt; changed with the token too.
  std::shared_ptr<RocePlane> plane_;
  Destination peer_;
  transport::ConnectionAddresses addresses_;
  bool data_open_ = false;  // the engine knows that the connection is established
  bool dead_ = false;       // the handle is gone
  // It is, but the peer was refused something, and must hear why before it hears that it is over:
  // the NAK may be lost, or come by another socket and later than a DREQ. Changed with the token.
  bool lingers_ = false;
  bool full_ = false;      // the socket took less than it was offered
  bool owing_ = false;     // the driver was told that the connection owes something
  uint64_t armed_us_ = 0;  // when timer_ goes off; 0: it does not run
  uint32_t life_ = 0;      // counts connections: what an upcall did may be told by it
  std::vector<std::vector<uint8_t>> early_;  // packets that came before data_open_
  Pending pending_;
  std::string unreachable_;  // why
  Gathering gathering_;
  RideHope ride_hope_;

  // Token:
  transport::ConnectionSink* sink_ = nullptr;
  uint32_t peer_qpn_ = 0;
  CmId exchange_ = 0;       // 0: there is none
  uint32_t asked_psn_ = 0;  // in our REQ
  std::optional<LoopTimer> timer_;
  std::optional<LoopTimer> limit_;     // of a graceful disconnect, or a refused peer's time
  std::optional<LoopTimer> farewell_;  // of answers that a DREQ may have overtaken
  struct LateAnswers {
    uint64_t packets = 0;  // received before the last look
    int looks = 0;
    int quiet_looks = 0;  // the last ones, which saw nothing new
  } late_;
  bool established_ = false;            // OnEstablished was called, OnEnded was not
  bool accepted_ = false;               // the passive side of its exchange
  uint64_t drained_mark_ = UINT64_MAX;  // requests left at the last look
};

// The engine's handle.
class RoceQueuePair final : public transport::QueuePair {
 public:
  RoceQueuePair(std::shared_ptr<RoceAdapter> adapter, const transport::QueuePairAttributes& a)
      : endpoint_(RefPtr<RoceEndpoint>::Adopt(new RoceEndpoint(std::move(adapter), a))) {}
  ~RoceQueuePair() override { endpoint_->Shutdown(); }

  [[gnu::hot]] Code PostSend(const transport::SendRequest& r) override {
    return endpoint_->PostSend(r);
  }
  [[gnu::hot]] Code PostReceive(const transport::ReceiveRequest& r) override {
    return endpoint_->PostReceive(r);
  }
  Status Configure(const transport::QueuePairAttributes& a) override {
    return endpoint_->Configure(a);
  }
  Status Connect(const transport::ConnectParameters& p) override { return endpoint_->Connect(p); }
  void Disconnect(transport::DisconnectMode mode) override { endpoint_->Disconnect(mode); }
  Status Reset() override { return endpoint_->Reset(); }
  transport::ConnectionAddresses Addresses() const override { return endpoint_->Addresses(); }
  uint32_t OutstandingSends() const override { return endpoint_->OutstandingSends(); }
  uint32_t OutstandingReceives() const override { return endpoint_->OutstandingReceives(); }
  Status SetReceiveWatermarks(uint32_t soft, uint32_t hard) override {
    return endpoint_->SetReceiveWatermarks(soft, hard);
  }

  RoceEndpoint& endpoint() { return *endpoint_; }

 private:
  const RefPtr<RoceEndpoint> endpoint_;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_UDP_WIRE_ROCE_ENDPOINT_H_
