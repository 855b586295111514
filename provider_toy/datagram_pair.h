// SPDX-License-Identifier: BSD-3-Clause
// A queue pair for datagrams, and how it meets others. The fabric's lock protects all state.
#ifndef SOFTDAT_PROVIDER_TOY_DATAGRAM_PAIR_H_
#define SOFTDAT_PROVIDER_TOY_DATAGRAM_PAIR_H_

#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "dat/transport/transport.h"
#include "provider_toy/dispatcher.h"
#include "provider_toy/fabric.h"
#include "provider_toy/memory.h"
#include "provider_toy/queue_pair.h"
#include "provider_toy/quota.h"
#include "provider_toy/ring.h"

namespace softdat::toy {

inline constexpr uint32_t kMaxDatagram = 4096;  // bytes of payload
inline constexpr uint32_t kQkey = 0x01234567;   // of every pair, as in rdma_cm

class AddressHandle : public transport::AddressHandle {
 public:
  AddressHandle(uint32_t device, const sockaddr_storage& address)
      : device_(device), address_(address) {}
  uint32_t device() const { return device_; }
  const sockaddr_storage& address() const { return address_; }

 private:
  const uint32_t device_;
  const sockaddr_storage address_;
};

class DatagramPair;

// One question to a peer. Its requester and the request at the listener hold it.
struct Exchange {
  DatagramPair* requester = nullptr;  // null when it is answered or the requester is gone
  uint64_t token = 0;
  uint32_t number = 0;  // of the requester
  uint32_t from_device = 0;
  uint32_t to_device = 0;
  uint64_t conn_qual = 0;
  std::vector<uint8_t> request_data;
  transport::ConnectionAddresses addresses;  // as the requester sees them
  bool has_timer = false;
  Dispatcher::TimerId timer{};
};

class DatagramPair : public transport::QueuePair {
 public:
  DatagramPair(Fabric& fabric, Dispatcher& dispatcher, uint32_t device, Quota::Slot slot,
               const transport::QueuePairAttributes& attributes);
  ~DatagramPair() override;

  Code PostSend(const transport::SendRequest& request) override;
  Code PostReceive(const transport::ReceiveRequest& request) override;
  Status Configure(const transport::QueuePairAttributes& attributes) override;
  Status Resolve(const transport::ConnectParameters& parameters, uint64_t token) override;
  uint32_t OutstandingSends() const override { return 0; }  // a send is complete when it is posted
  uint32_t OutstandingReceives() const override;

  // For connections, which datagrams do not have.
  Status Connect(const transport::ConnectParameters&) override;
  void Disconnect(transport::DisconnectMode) override {}
  Status Reset() override { return Status::Ok(); }
  transport::ConnectionAddresses Addresses() const override { return {}; }

  // Everything below needs the fabric's lock.

  uint32_t number() const { return number_; }
  // Checks whether the pair can meet a peer now. If so, the pair cannot be configured afterwards.
  Status Meet();
  // The outcome of an exchange, reported once.
  void Resolved(const std::shared_ptr<Exchange>& exchange, transport::DatagramPeer peer,
                std::span<const uint8_t> private_data);
  void Unresolved(const std::shared_ptr<Exchange>& exchange, transport::RejectReason reason,
                  std::span<const uint8_t> private_data, std::string why);

 private:
  void Apply(const transport::QueuePairAttributes& attributes);
  void SetTimer(const std::shared_ptr<Exchange>& exchange, std::chrono::microseconds timeout);
  // The exchange is answered, or nobody waits for the answer any more.
  void End(Exchange& exchange);
  // The two halves of the way of a datagram: from this pair to another one, and into this pair.
  void Deliver(const transport::SendRequest::Datagram& datagram, const Pieces& payload,
               bool solicited) const;
  void Receive(std::span<uint8_t> header, const Pieces& payload, uint32_t from, bool solicited);
  // Takes a receive with room for `length` bytes, and its memory. Returns false when there is none.
  // The datagram is then lost.
  bool TakeReceive(uint64_t length, ReceiveWork* work, Pieces* memory);
  // Completes the receive. `done` holds everything that does not depend on the receive.
  void CompleteReceive(const ReceiveWork& work, transport::Completion done);

  Fabric& fabric_;
  Dispatcher& dispatcher_;
  const uint32_t device_;
  const Quota::Slot slot_;
  const uint32_t number_;
  const std::shared_ptr<UpcallGate> gate_ = std::make_shared<UpcallGate>();

  transport::QueuePairAttributes attributes_;
  std::shared_ptr<CompletionQueueState> send_cq_;
  std::shared_ptr<CompletionQueueState> recv_cq_;
  SharedReceiveQueue* srq_ = nullptr;
  Ring<ReceiveWork> receives_;
  bool has_met_ = false;
  std::set<std::shared_ptr<Exchange>> exchanges_;  // the unanswered ones
};

}  // namespace softdat::toy

#endif  // SOFTDAT_PROVIDER_TOY_DATAGRAM_PAIR_H_
