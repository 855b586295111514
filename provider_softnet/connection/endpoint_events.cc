// SPDX-License-Identifier: BSD-3-Clause
// The life of an Endpoint's connection, with the driver token: establishing, watching, timers, the
// end.
#include <errno.h>
#include <fmt/format.h>
#include <string.h>
#include <sys/socket.h>

#include <algorithm>
#include <mutex>
#include <new>

#include "dat/base/log.h"
#include "dat/base/socket_address.h"
#include "provider_softnet/connection/connector.h"
#include "provider_softnet/connection/endpoint.h"
#include "provider_softnet/driver/loop_time.h"
#include "provider_softnet/driver/patient_lock.h"
#include "wire/iwarp/fpdu.h"

namespace softdat::softnet {

using transport::EndReason;
using transport::RejectReason;

// -------------------------------------------------------------------------------------------------
// Establishing

bool Endpoint::StartStream(AgreedConnection* connection, bool initiator) {
  StreamConfig config;
  config.work = queues_.ForLedger(&context_->memory, id_);
  config.blocks = &context_->blocks;
  config.initiator = initiator;
  config.agreement = connection->agreement;
  config.mulpdu = iwarp::Mulpdu(connection->link->SegmentSize());
  config.direct_payload = connection->link->LeastDirect();
  config.confirm = context_->options.confirm;
  config.extensions = context_->options.extensions;
  config.short_reads = context_->options.short_reads;
  config.rnr_timeout_us = context_->options.rnr_timeout_us;
  config.fin_grace_us = std::chrono::microseconds(context_->options.fin_grace).count();
  addresses_ = connection->addresses;
  if (config.confirm &&
      (!config.agreement.empty_reads || config.agreement.request_slots_out == 0)) {
    SOFTDAT_LOG(
        Warning, "connection with {}: the peer {}, so requests complete when TCP has taken them",
        AddressText(addresses_.remote),
        config.agreement.empty_reads ? "allows no RDMA reads"
                                     : "does not say that it answers RDMA reads of nothing");
  }
  try {
    stream_ = std::make_unique<Stream>(config);
  } catch (const std::bad_alloc&) {
    return false;  // on the helper's thread nobody else would catch it
  }
  stream_->KeepBlocks(hot_ > 0);
  link_ = std::move(connection->link);
  owing_ = false;
  ride_hope_ = {};
  watch_reads_ = true;
  ++connection_;
  return true;
}

void Endpoint::OnConnected(AgreedConnection connection, LinkWatch* watch,
                           std::span<const uint8_t> private_data) {
  bool started = false;
  {
    const std::lock_guard<FastMutex> lock(mutex_);
    started = StartStream(&connection, true);
    if (started) Transmit();  // the ready-to-receive message, if one was agreed
  }
  if (!started) {
    watch->Stop();
    context_->CloseNow(std::move(connection.link), true);
    return OnConnectFailed(RejectReason::kNonPeer, {}, "no memory for the connection");
  }
  WatchLink(watch);
  // The connector is kept until the upcall is done, because it holds the private data.
  driver_->DeleteLater(std::shared_ptr<Connector>(std::move(connector_)));
  // If the peer has sent something already, the watch tells.
  if (Established(private_data)) LookAtLink(kWritable);
}

void Endpoint::OnConnectFailed(RejectReason reason, std::span<const uint8_t> private_data,
                               const std::string& why) {
  driver_->DeleteLater(std::shared_ptr<Connector>(std::move(connector_)));
  PendingUpcalls upcalls;
  {
    const std::lock_guard<FastMutex> lock(mutex_);
    state_ = State::kEnded;
    queues_.FlushReceives(&upcalls);
  }
  upcalls.Make();
  SOFTDAT_LOG(Info, "{}", why);
  if (sink_ != nullptr) sink_->OnFailed(reason, private_data, why);
}

void Endpoint::BeginAccepted(AgreedConnection connection) {
  acceptance_.emplace(connection.agreement, std::move(connection.requester_gone),
                      context_->options.handshake_timeout, LoopTime());
  {
    const std::lock_guard<FastMutex> lock(mutex_);
    if (!StartStream(&connection, false)) acceptance_->Fail("no memory for the connection");
    state_ = State::kConnecting;
    // The caller is in the middle of its accept, so no upcall may be made from here.
    pending_.accepted = acceptance_->state() != Acceptance::State::kWaiting;
  }
  if (connection.link != nullptr) context_->CloseNow(std::move(connection.link), true);
  if (acceptance_->state() != Acceptance::State::kWaiting) return driver_->RequestAttention(this);
  WatchLink();
  StartLimit(context_->options.handshake_timeout);
}

void Endpoint::StartLimit(std::chrono::milliseconds limit) {
  if (!limit_timer_) {
    limit_timer_.emplace(&driver_->loop(), [this] {
      const RefPtr<Endpoint> keep(this);
      if (acceptance_) {
        // The timer may fire early by the fraction that was lost in rounding.
        acceptance_->OnTime(std::max(LoopTime(), acceptance_->deadline()));
        return SettleAcceptance();
      }
      if (draining_) return LookAtDraining();
      CloseConnection(true);  // the connection has ended and nobody reads its last words
    });
  }
  limit_timer_->Start(limit);
}

// A graceful disconnect waits until the peer has carried out the posted work. A peer that takes
// nothing for the whole limit gets an abrupt end.
void Endpoint::WatchDraining() {
  if (context_->options.disconnect.count() == 0 || draining_ || !established_) return;
  draining_ = true;
  drain_judge_.Begin();
  LookAtDraining();
}

void Endpoint::LookAtDraining() {
  PendingUpcalls upcalls;
  std::unique_lock<FastMutex> lock(mutex_);
  if (stream_ == nullptr || stream_->ended() || link_ == nullptr) {
    draining_ = false;
    return;
  }
  const DrainJudge::Untaken now{stream_->counters().bytes_sent, link_->UnsentBytes(),
                                queues_.sends().count()};
  if (!drain_judge_.IsStuck(now)) {
    lock.unlock();
    return StartLimit(DrainJudge::Pause(context_->options.disconnect));
  }
  draining_ = false;
  SOFTDAT_LOG(
      Warning,
      "graceful disconnect from {}: the peer has confirmed nothing for {} ms, so it becomes an "
      "abrupt one",
      AddressText(addresses_.remote), context_->options.disconnect.count());
  stream_->Disconnect(transport::DisconnectMode::kAbrupt);
  Finish(&lock, &upcalls);
}

void Endpoint::OnAcceptedLinkReady() {
  const ssize_t n = link_->Peek();
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (n > 0) {
    acceptance_->OnReadable();
  } else {
    acceptance_->OnLost(n == 0 ? 0 : errno);
  }
  SettleAcceptance();
}

void Endpoint::SettleAcceptance() {
  if (!acceptance_) return;
  if (acceptance_->state() == Acceptance::State::kFailed) {
    return FailAccept(std::string(acceptance_->why()));
  }
  if (acceptance_->state() == Acceptance::State::kWaiting) return;
  acceptance_.reset();
  if (limit_timer_) limit_timer_->Stop();
  if (!watch_ || !watch_->active()) WatchLink();
  if (Established({})) LookAtLink(kReadable);
}

bool Endpoint::Established(std::span<const uint8_t> private_data) {
  uint32_t connection;
  {
    const std::lock_guard<FastMutex> lock(mutex_);
    state_ = State::kConnected;
    connection = connection_;
  }
  established_ = true;
  if (sink_ != nullptr) sink_->OnEstablished(private_data);
  {
    const std::lock_guard<FastMutex> lock(mutex_);
    // The upcall may have ended this connection, or even begun another one.
    if (connection != connection_ || link_ == nullptr || dead_) return false;
    data_open_ = true;
  }
  return true;
}

void Endpoint::FailAccept(const std::string& why) {
  const std::string text = fmt::format("accept from {}: {}", AddressText(addresses_.remote), why);
  DropConnection(true);
  PendingUpcalls upcalls;
  {
    const std::lock_guard<FastMutex> lock(mutex_);
    state_ = State::kEnded;
    queues_.FlushReceives(&upcalls);
  }
  upcalls.Make();
  SOFTDAT_LOG(Info, "{}", text);
  if (sink_ != nullptr) sink_->OnFailed(RejectReason::kAborted, {}, text);
}

// -------------------------------------------------------------------------------------------------
// Readiness

void Endpoint::WatchLink(LinkWatch* before) {
  if (!watch_) watch_.emplace(&driver_->loop(), [this](int events) { OnLinkReady(events); });
  if (before != nullptr) {
    watch_->TakeOver(before, link_.get(), kReadable);
  } else if (const Status s = watch_->Start(link_.get(), kReadable); !s.ok()) {
    SOFTDAT_LOG(Error, "{}", s.reason());
  }
  context_->paths.Add(this);
  context_->leavers.Add(this);
}

int Endpoint::WantedEvents() {
  watch_reads_ = stream_ != nullptr && stream_->reads();
  if (link_ == nullptr) return 0;
  int events = send_blocked_ ? kWritable : 0;
  if (acceptance_) return events | kReadable;
  if (stream_ == nullptr || stream_->ended()) return events;
  // A stalled stream leaves its data in the socket. Only the peer's end is of interest.
  if (watch_reads_) return events | kReadable;
  if (!stream_->stalled()) return events;  // the stream ends, and sends what is due
  // After that end only the reset of a peer that has gone altogether can come. Every watch reports
  // errors.
  return events | (hangup_seen_ ? kUrgent : kHangup);
}

void Endpoint::OnLinkReady(int events) {
  const RefPtr<Endpoint> keep(this);
  if (acceptance_) return OnAcceptedLinkReady();
  PendingUpcalls upcalls;
  bool moved = false;
  bool control = false;
  int wanted = 0;
  {
    std::unique_lock<FastMutex> lock(mutex_, std::defer_lock);
    // The watch is level-triggered.
    const bool may_leave = events == kReadable && driver_->LooksInPassing();
    if (!LockPatiently(&lock, may_leave ? Patience::kLeave : Patience::kWait)) return;
    if (dead_ || stream_ == nullptr || link_ == nullptr) return;
    if (data_open_ && events != kWritable) moved = Receive();
    if (send_blocked_ || gathering_.any()) moved |= Transmit();
    if ((events & kHangup) != 0 && stream_->stalled()) {
      hangup_seen_ = true;
      LoseConnection(link_->TakeError());
    }
    TakeActions(&upcalls);
    control = pending_.any();
    wanted = WantedEvents();
  }
  upcalls.Make();
  if (moved && watch_->active()) {  // an upcall may have closed it
    driver_->FoundByTurn(this, HotSetOf(queues_.send_cq()), HotSetOf(queues_.recv_cq()));
  }
  if (control) return Attend();
  if (watch_->active()) watch_->Update(wanted);
}

// Handles a reset, or an end of the peer that the stream has not read up to: a FIN, a reset, or
// both. Linux reports a reset after a FIN as EPIPE (tcp_reset), and one without a FIN as
// ECONNRESET. The latter means that the peer had not read everything, or that our window kept the
// FIN out. In each case the peer's own TCP ended the connection.
void Endpoint::LoseConnection(int error) {
  if (error == EPIPE || error == ECONNRESET || (error == 0 && link_->PeerHasGone())) {
    stream_->OnPeerGone();
  } else if (error == 0) {
    stream_->OnPeerHangup();
  } else {
    stream_->OnPeerReset(strerror(error));
  }
}

bool Endpoint::LookAtPath(LoopClock::time_point now) {
  const std::lock_guard<FastMutex> lock(mutex_);
  if (dead_ || stream_ == nullptr || stream_->ended() || link_ == nullptr) return false;
  const PathSample sample = link_->SamplePath();
  if (path_judge_.IsDead(sample, now, context_->options.dead_path)) {
    pending_.dead_path = true;
    driver_->RequestAttention(this);
  }
  return sample.outstanding;
}

std::string Endpoint::DeadPathText() const {
  return fmt::format("the peer's TCP has not answered for {} ms",
                     context_->options.dead_path.count());
}

void Endpoint::BreakDeadPath() {
  PendingUpcalls upcalls;
  std::unique_lock<FastMutex> lock(mutex_);
  if (stream_ == nullptr || stream_->ended()) return;
  stream_->OnPeerReset(DeadPathText());
  Finish(&lock, &upcalls);
}

void Endpoint::LookAtLink(int events) {
  if (watch_ && watch_->active()) OnLinkReady(events);
}

void Endpoint::UpdateTimer() {
  StreamTimer timer;
  {
    const std::lock_guard<FastMutex> lock(mutex_);
    if (stream_ != nullptr) timer = stream_->timer();
  }
  if (timer.id == 0) {
    if (stream_timer_) stream_timer_->Stop();
    return;
  }
  if (!stream_timer_) {
    stream_timer_.emplace(&driver_->loop(), [this] {
      const RefPtr<Endpoint> keep(this);
      {
        PendingUpcalls upcalls;
        std::unique_lock<FastMutex> lock(mutex_);
        if (dead_ || stream_ == nullptr) return;
        stream_->OnTimer(timer_id_);
        Finish(&lock, &upcalls);
      }
      Attend();
    });
  }
  timer_id_ = timer.id;
  stream_timer_->Start(std::chrono::microseconds(timer.delay_us));
}

// -------------------------------------------------------------------------------------------------
// Attending

// The order matters: a duty that makes the others meaningless comes first.
void Endpoint::Attend() {
  struct Duty {
    bool (*due)(const EndpointPending&);
    Attended (Endpoint::*attend)(const EndpointPending&);
  };
  using P = EndpointPending;
  static constexpr Duty kDuties[] = {
      {[](const P& p) { return p.aborted; }, &Endpoint::AttendToAbort},
      {[](const P& p) { return p.dead_path; }, &Endpoint::AttendToDeadPath},
      {[](const P& p) { return p.accepted; }, &Endpoint::AttendToAcceptance},
      {[](const P& p) { return p.draining; }, &Endpoint::AttendToDraining},
      {[](const P& p) { return p.watermark; }, &Endpoint::AttendToWatermark},
      {[](const P& p) { return p.timer; }, &Endpoint::AttendToTimer},
      {[](const P& p) { return p.over(); }, &Endpoint::AttendToEnd},
  };
  const RefPtr<Endpoint> keep(this);
  EndpointPending pending;
  {
    const std::lock_guard<FastMutex> lock(mutex_);
    if (dead_) return;
    pending = std::exchange(pending_, {});
  }
  for (const Duty& duty : kDuties) {
    if (duty.due(pending) && (this->*duty.attend)(pending) == Attended::kDone) return;
  }
  LookAgain(pending);
}

Endpoint::Attended Endpoint::AttendToAbort(const EndpointPending&) {
  if (sink_ != nullptr) {
    sink_->OnEnded(EndReason::kDisconnected,
                   "disconnected by the own consumer before it was established");
  }
  return Attended::kDone;
}

Endpoint::Attended Endpoint::AttendToDeadPath(const EndpointPending&) {
  if (acceptance_) {
    acceptance_->Fail(DeadPathText());
    SettleAcceptance();
    return Attended::kDone;
  }
  BreakDeadPath();  // asks for attention again
  return Attended::kGoOn;
}

Endpoint::Attended Endpoint::AttendToAcceptance(const EndpointPending&) {
  SettleAcceptance();
  return Attended::kDone;
}

Endpoint::Attended Endpoint::AttendToDraining(const EndpointPending&) {
  WatchDraining();
  return Attended::kGoOn;
}

Endpoint::Attended Endpoint::AttendToWatermark(const EndpointPending&) {
  return TellWatermark() ? Attended::kGoOn : Attended::kDone;
}

Endpoint::Attended Endpoint::AttendToTimer(const EndpointPending&) {
  UpdateTimer();
  return Attended::kGoOn;
}

// Handles a stall, its end, a full socket and a shared receive. Each only needs another look.
void Endpoint::LookAgain(const EndpointPending& pending) {
  bool resumed = false;
  bool control = false;
  bool shared = false;
  int wanted = 0;
  {
    PendingUpcalls upcalls;
    std::unique_lock<FastMutex> lock(mutex_);
    if (stream_ == nullptr || link_ == nullptr) return;
    shared = static_cast<bool>(queues_.srq());
    if (stream_->stalled() && shared) {
      queues_.srq()->starving.Push(this);
      stream_->OnReceivePosted();  // one may have been posted before the push
      // A message was taken, and the next one may already stall.
      TakeActions(&upcalls);
      control = pending_.any();
    }
    resumed = data_open_ && !stream_->stalled();
    if (!stream_->stalled()) hangup_seen_ = false;
    wanted = WantedEvents();
  }
  if (control) return Attend();
  if (watch_ && watch_->active()) watch_->Update(wanted);
  if (resumed && (pending.stall || shared)) LookAtLink(kReadable);
}

// Returns false when the upcall ended the connection that the rest belongs to.
bool Endpoint::TellWatermark() {
  if (sink_ == nullptr) return true;
  const auto now = [this] {
    const std::lock_guard<FastMutex> lock(mutex_);
    return dead_ || stream_ == nullptr ? 0 : connection_;
  };
  const uint32_t before = now();
  sink_->OnReceiveWatermark();
  return before != 0 && now() == before;
}

Endpoint::Attended Endpoint::AttendToEnd(const EndpointPending& pending) {
  EndReason reason = EndReason::kDisconnected;
  std::string why;
  bool abrupt = false;
  {
    const std::lock_guard<FastMutex> lock(mutex_);
    if (stream_ != nullptr) {
      reason = stream_->end().reason;
      why = stream_->end().why;
      abrupt = stream_->end().abrupt;
    }
  }
  if (pending.abort) {
    CloseConnection(true);
  } else if (pending.close_write || abrupt) {
    CloseConnection(false, abrupt);
  } else {
    // Last words (a Terminate, the rest of a message) wait for room in the socket, but not for
    // ever.
    int wanted;
    {
      const std::lock_guard<FastMutex> lock(mutex_);
      wanted = WantedEvents();
    }
    if (watch_ && watch_->active()) watch_->Update(wanted);
    draining_ = false;
    StartLimit(context_->options.close_timeout);
  }
  if (pending.ended && std::exchange(established_, false)) {
    SOFTDAT_LOG(Info, "connection with {}: {}", AddressText(addresses_.remote), why);
    if (sink_ != nullptr) sink_->OnEnded(reason, why);
  }
  return Attended::kDone;
}

}  // namespace softdat::softnet
