// SPDX-License-Identifier: BSD-3-Clause
// The working half of a queue pair: its queues, the stream of its connection, the link. It is
// reference-counted, because a polling thread may still look at it while the engine destroys its
// handle (IwarpQueuePair).
//
// Locks. `mutex_` is the queue pair's lock. It protects queues and stream, and reading and writing
// on the link. Watches, timers, the connector and every connection upcall belong to the holder of
// the driver token. The token is taken before mutex_. No upcall is made with mutex_ held. A post
// never makes a connection upcall.
//
// A thread without the token may find something out (an error, the end, a full link). It leaves
// that in `pending_`, and the token holder attends to it (Attend).
#ifndef SOFTDAT_PROVIDER_SOFTNET_CONNECTION_ENDPOINT_H_
#define SOFTDAT_PROVIDER_SOFTNET_CONNECTION_ENDPOINT_H_

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "dat/base/fast_mutex.h"
#include "dat/transport/transport.h"
#include "provider_softnet/connection/byte_link.h"
#include "provider_softnet/connection/connection_context.h"
#include "provider_softnet/connection/drain_judge.h"
#include "provider_softnet/connection/endpoint_pending.h"
#include "provider_softnet/connection/link_watch.h"
#include "provider_softnet/connection/poll_rest.h"
#include "provider_softnet/driver/channel.h"
#include "provider_softnet/driver/counters.h"
#include "provider_softnet/driver/gathering.h"
#include "provider_softnet/driver/ride_hope.h"
#include "provider_softnet/iwarp/acceptance.h"
#include "provider_softnet/iwarp/mpa_handshake.h"
#include "provider_softnet/iwarp/stream.h"
#include "provider_softnet/objects/queue_cores.h"
#include "provider_softnet/objects/queue_set.h"
#include "provider_softnet/queue/work_queue.h"

namespace softdat::softnet {

class Connector;

// A link over which the start-up frames are exchanged.
struct AgreedConnection {
  std::unique_ptr<ByteLink> link;
  MpaAgreement agreement;
  transport::ConnectionAddresses addresses;
  // Passive side: why the requester is gone. Empty as far as is known.
  std::string requester_gone;
};

class Endpoint final : public Channel, private WatchedPath, private Leaver {
 public:
  Endpoint(std::shared_ptr<ConnectionContext> context,
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
  bool ConfirmsCompletions() const;
  Status SetReceiveWatermarks(uint32_t soft, uint32_t hard);
  // The handle is destroyed. No upcall is made after this returns.
  void Shutdown();

  // ---- passive side (token) ----
  // Whether the queue pair may accept now.
  Status CheckAcceptable() const;
  const transport::QueuePairAttributes& attributes() const { return queues_.attributes(); }
  const ConnectionContext* context() const { return context_.get(); }
  // Takes over a connection whose Reply has been sent.
  void BeginAccepted(AgreedConnection connection);

  // ---- active side: the connector's report (token) ----
  // `watch` watches the connection's link, and is taken over.
  void OnConnected(AgreedConnection connection, LinkWatch* watch,
                   std::span<const uint8_t> private_data);
  void OnConnectFailed(transport::RejectReason reason, std::span<const uint8_t> private_data,
                       const std::string& why);

  // ---- Channel ----
  bool TryReceive() override;
  bool FlushSends(Flusher by) override;
  bool PayOwed(Patience patience) override;
  void SetHot(bool hot) override;
  uint32_t OwnPolls() const override;
  void Attend() override;

  const ChannelCounters& counters() const { return counters_; }

 private:
  enum class State : uint8_t { kIdle, kConnecting, kConnected, kEnded };
  // Whether Attend() goes on with the other pending work.
  enum class Attended : uint8_t { kGoOn, kDone };

  ~Endpoint() override;

  bool Leave() override;  // the process exits

  // mutex_ held:
  // Takes the connection over. Returns false and leaves it untouched when there is no memory for
  // its stream.
  [[nodiscard]] bool StartStream(AgreedConnection* connection, bool initiator);
  void WriteOrGather(const transport::SendRequest& request, size_t bytes);
  bool Transmit();  // writes until nothing is left or the link is full
  bool Receive();   // reads until nothing is left, within a budget
  bool ReceiveInPlace(size_t* budget);
  // A gathered send stays. Everything else (responses, last words) may leave now.
  bool MayTransmit() const { return !send_blocked_ && !gathering_.any() && link_ != nullptr; }
  // Whether TakeActions() has anything to do.
  bool HasActions() const {
    return stream_->has_actions(/*transmit=*/MayTransmit(), /*owed=*/!owing_);
  }
  void TakeActions(PendingUpcalls* upcalls);  // transmits, notes control work in pending_
  // The events that the watch should wait for. The caller updates the watch.
  int WantedEvents();
  void LoseConnection(int error);
  std::vector<uint8_t> TakeRest();
  // `lock` holds mutex_. Releases it, makes the upcalls, and arranges that pending control work is
  // attended to.
  void Finish(std::unique_lock<FastMutex>* lock, PendingUpcalls* upcalls);

  // Token:
  void OnLinkReady(int events);
  void OnAcceptedLinkReady();
  // Acts on the result of an accepted connection.
  void SettleAcceptance();
  bool LookAtPath(LoopClock::time_point now) override;
  std::string DeadPathText() const;
  void BreakDeadPath();
  void WatchLink(LinkWatch* before = nullptr);
  // Returns false when the upcall has ended the connection.
  [[nodiscard]] bool Established(std::span<const uint8_t> private_data);
  void FailAccept(const std::string& why);
  void CloseConnection(bool reset, bool abrupt = false);
  // Same as CloseConnection(), and drops stream and connector (Reset, Configure, Shutdown).
  void DropConnection(bool reset, bool abrupt = false);
  // What Attend() calls for each kind of pending work.
  Attended AttendToAbort(const EndpointPending& pending);
  Attended AttendToDeadPath(const EndpointPending& pending);
  Attended AttendToAcceptance(const EndpointPending& pending);
  Attended AttendToDraining(const EndpointPending& pending);
  Attended AttendToWatermark(const EndpointPending& pending);
  Attended AttendToTimer(const EndpointPending& pending);
  Attended AttendToEnd(const EndpointPending& pending);
  void LookAgain(const EndpointPending& pending);
  void LookAtLink(int events);  // as if they had come
  bool TellWatermark();
  void UpdateTimer();
  void StartLimit(std::chrono::milliseconds limit);
  void WatchDraining();
  void LookAtDraining();

  const std::shared_ptr<ConnectionContext> context_;
  Driver* const driver_;
  const uint32_t id_;

  mutable FastMutex mutex_;
  // Guarded by mutex_:
  QueueSet queues_;  // depths and sink: also read with the token, changed with both
  State state_ = State::kIdle;
  std::unique_ptr<ByteLink> link_;  // null: no link, or no longer
  std::unique_ptr<Stream> stream_;
  transport::ConnectionAddresses addresses_;
  bool data_open_ = false;     // the engine knows that the connection is established
  bool dead_ = false;          // the handle is gone
  bool leaving_ = false;       // the process exits, and the last word is said
  bool send_blocked_ = false;  // the link took less than it was offered
  bool hangup_seen_ = false;   // the peer's end was noticed while the stream is stalled
  int hot_ = 0;                // sets of streams to try first that contain this one
  bool owing_ = false;         // the driver knows that the stream owes something
  bool watch_reads_ = true;    // the stream wanted bytes at the last WantedEvents()
  uint32_t connection_ = 0;    // counts connections; shows whether an upcall has changed it
  EndpointPending pending_;
  Gathering gathering_;
  RideHope ride_hope_;
  PollRest rest_;
  ChannelCounters counters_;

  // Token:
  transport::ConnectionSink* sink_ = nullptr;
  std::optional<LinkWatch> watch_;
  std::optional<LoopTimer> stream_timer_;
  uint32_t timer_id_ = 0;  // what stream_timer_ runs for
  // Limits the wait for the peer's first bytes, for a graceful disconnect, or for our last bytes.
  std::optional<LoopTimer> limit_timer_;
  std::unique_ptr<Connector> connector_;
  PathJudge path_judge_;
  bool established_ = false;              // OnEstablished was called, OnEnded was not
  std::optional<Acceptance> acceptance_;  // of an accepted connection, until established
  bool draining_ = false;                 // a graceful disconnect waits for the peer
  DrainJudge drain_judge_;
  uint64_t closing_ = 0;  // ConnectionContext::CloseGently of the last connection
};

// The engine's handle of an Endpoint.
class IwarpQueuePair final : public transport::QueuePair {
 public:
  IwarpQueuePair(std::shared_ptr<ConnectionContext> context,
                 const transport::QueuePairAttributes& a)
      : endpoint_(RefPtr<Endpoint>::Adopt(new Endpoint(std::move(context), a))) {}
  ~IwarpQueuePair() override { endpoint_->Shutdown(); }

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
  bool ConfirmsCompletions() const override { return endpoint_->ConfirmsCompletions(); }
  Status SetReceiveWatermarks(uint32_t soft, uint32_t hard) override {
    return endpoint_->SetReceiveWatermarks(soft, hard);
  }

  Endpoint& endpoint() { return *endpoint_; }

 private:
  const RefPtr<Endpoint> endpoint_;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_CONNECTION_ENDPOINT_H_
