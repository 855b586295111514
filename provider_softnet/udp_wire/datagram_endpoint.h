// SPDX-License-Identifier: BSD-3-Clause
// The working half of a queue pair for datagrams: its queues, its numbers, and how it meets others.
// Counted, since a thread that received a packet may still look at it while the engine destroys its
// handle (DatagramQueuePair).
//
// It has a number of its own on each plane where it has met somebody, or sent to somebody. Nobody
// can know it elsewhere.
//
// Locks. `mutex_` is the queue pair's lock: queues and numbers. Meeting, and every upcall of the
// DatagramSink, belong to the holder of the driver token. The order is token, then mutex_. No
// upcall is made with mutex_ held.
#ifndef SOFTDAT_PROVIDER_SOFTNET_UDP_WIRE_DATAGRAM_ENDPOINT_H_
#define SOFTDAT_PROVIDER_SOFTNET_UDP_WIRE_DATAGRAM_ENDPOINT_H_

#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "dat/base/fast_mutex.h"
#include "dat/transport/transport.h"
#include "provider_softnet/cm/sidr_events.h"
#include "provider_softnet/objects/queue_cores.h"
#include "provider_softnet/objects/queue_set.h"
#include "provider_softnet/roce/unreliable_datagrams.h"
#include "provider_softnet/udp_wire/datagram_path.h"
#include "provider_softnet/udp_wire/roce_pair.h"
#include "provider_softnet/udp_wire/roce_plane.h"

namespace softdat::softnet {

class DatagramEndpoint final : public RocePair {
 public:
  DatagramEndpoint(std::shared_ptr<RoceAdapter> adapter,
                   const transport::QueuePairAttributes& attributes);

  // ---- transport::QueuePair ----
  Code PostSend(const transport::SendRequest& request);
  Code PostReceive(const transport::ReceiveRequest& request);
  Status Configure(const transport::QueuePairAttributes& attributes);
  Status Resolve(const transport::ConnectParameters& parameters, uint64_t token);
  uint32_t OutstandingSends() const;
  uint32_t OutstandingReceives() const;
  // The handle dies: no upcall after it returns.
  void Shutdown();

  // ---- token ----
  // The number that a peer on this plane may be told. From then on the pair is not configured.
  Result<uint32_t> Meet(const RocePlane& plane);
  const RoceAdapter* adapter() const { return adapter_.get(); }
  void OnResolved(const RocePlane& plane, const SidrResolved& event);
  void OnUnresolved(const RocePlane& plane, const SidrFailed& event);

  // ---- RocePair ----
  void OnPacket(const Arrival& arrival) override;
  void OnPacketsEnd() override;
  void FinishPacketsSoon() override;
  void OnRoom() override;

  // ---- Channel ----
  bool TryReceive() override { return false; }  // its port receives
  bool FlushSends(Flusher) override { return false; }
  bool PayOwed(Patience) override { return false; }
  void Attend() override;

 private:
  // What it is on one plane.
  struct Asked {
    uint64_t token;
    sockaddr_storage peer;
  };
  struct Side {
    std::shared_ptr<RocePlane> plane;
    uint32_t qpn = 0;  // 0: none yet
    // What is not answered. Guarded by the token.
    std::map<SidrId, Asked> asked{};
  };
  // There was no way to ask.
  struct Unreachable {
    uint64_t token;
    std::string why;
  };

  ~DatagramEndpoint() override;

  Side& SideOf(const RocePlane& plane);
  // Of the plane that reaches hosts of this family; null if there is none.
  Side* SideOf(sa_family_t family);
  // The side has a number afterwards. mutex_ held.
  Status GiveNumber(Side* side);
  void Ask(Side* side, const transport::ConnectParameters& parameters, const sockaddr_storage& peer,
           uint64_t token);

  // mutex_ held:
  void MakeDatagrams();
  // Sends the oldest datagram. False when the socket is full.
  bool Transmit(const DatagramPath& path);
  void KeepPath(uint64_t position, const std::shared_ptr<const DatagramPath>& path);
  // mutex_ held by `lock`; lets go of it, and makes the upcalls that are due.
  void Finish(std::unique_lock<FastMutex>* lock, PendingUpcalls* upcalls);

  const std::shared_ptr<RoceAdapter> adapter_;
  Driver* const driver_;
  const uint32_t id_;

  mutable FastMutex mutex_;
  // Guarded by mutex_:
  QueueSet queues_;
  std::optional<UnreliableDatagrams> datagrams_;
  std::array<Side, 2> sides_;
  size_t side_count_ = 0;  // constant
  bool dead_ = false;      // the handle is gone
  bool full_ = false;      // the socket took less than it was offered
  // Where the datagrams of the queue go, by position, while they wait for the socket.
  std::vector<std::shared_ptr<const DatagramPath>> paths_;
  std::vector<Unreachable> unreachable_;

  // Token:
  transport::DatagramSink* sink_ = nullptr;
  bool has_met_ = false;
};

// The engine's handle.
class DatagramQueuePair final : public transport::QueuePair {
 public:
  DatagramQueuePair(std::shared_ptr<RoceAdapter> adapter, const transport::QueuePairAttributes& a)
      : endpoint_(RefPtr<DatagramEndpoint>::Adopt(new DatagramEndpoint(std::move(adapter), a))) {}
  ~DatagramQueuePair() override { endpoint_->Shutdown(); }

  Code PostSend(const transport::SendRequest& r) override { return endpoint_->PostSend(r); }
  Code PostReceive(const transport::ReceiveRequest& r) override {
    return endpoint_->PostReceive(r);
  }
  Status Configure(const transport::QueuePairAttributes& a) override {
    return endpoint_->Configure(a);
  }
  Status Resolve(const transport::ConnectParameters& p, uint64_t token) override {
    return endpoint_->Resolve(p, token);
  }
  uint32_t OutstandingSends() const override { return endpoint_->OutstandingSends(); }
  uint32_t OutstandingReceives() const override { return endpoint_->OutstandingReceives(); }

  // For connections, which datagrams do not have.
  Status Connect(const transport::ConnectParameters&) override {
    return Status(Code::kInvalidState, "a queue pair for datagrams has no connection");
  }
  void Disconnect(transport::DisconnectMode) override {}
  Status Reset() override { return Status::Ok(); }
  transport::ConnectionAddresses Addresses() const override { return {}; }

  DatagramEndpoint& endpoint() { return *endpoint_; }

 private:
  const RefPtr<DatagramEndpoint> endpoint_;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_UDP_WIRE_DATAGRAM_ENDPOINT_H_
