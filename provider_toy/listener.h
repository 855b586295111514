// SPDX-License-Identifier: BSD-3-Clause
// The passive side: listeners and the requests that they receive.
#ifndef SOFTDAT_PROVIDER_TOY_LISTENER_H_
#define SOFTDAT_PROVIDER_TOY_LISTENER_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "dat/transport/transport.h"
#include "provider_toy/queue_pair.h"

namespace softdat::toy {

class Listener : public transport::Listener {
 public:
  static Result<std::unique_ptr<transport::Listener>> Create(
      Fabric& fabric, Dispatcher& dispatcher, uint32_t device,
      const transport::ListenParameters& parameters);
  ~Listener() override;

  uint64_t conn_qual() const override { return conn_qual_; }

  // The fabric's lock must be held. Hands a request to the sink, later and without the lock.
  void Deliver(std::unique_ptr<transport::ConnectionRequest> request);

 private:
  Listener(Fabric& fabric, Dispatcher& dispatcher, uint32_t device, uint64_t conn_qual,
           transport::ListenerSink* sink)
      : fabric_(fabric),
        dispatcher_(dispatcher),
        device_(device),
        conn_qual_(conn_qual),
        sink_(sink) {}

  Fabric& fabric_;
  Dispatcher& dispatcher_;
  const uint32_t device_;
  const uint64_t conn_qual_;
  transport::ListenerSink* const sink_;
  const std::shared_ptr<UpcallGate> gate_ = std::make_shared<UpcallGate>();
  bool listed_ = false;  // found by Connect; set once, before anyone else knows the listener
};

class ConnectionRequest : public transport::ConnectionRequest {
 public:
  ConnectionRequest(Fabric& fabric, std::shared_ptr<Connection> connection);
  ~ConnectionRequest() override;

  std::span<uint8_t> private_data() override { return connection_->request_data; }
  const transport::ConnectionAddresses& addresses() const override { return addresses_; }
  uint64_t conn_qual() const override { return connection_->conn_qual; }
  bool handed_on() const override { return connection_->handed_on; }
  Status Accept(transport::QueuePair& qp, std::span<const uint8_t> private_data) override;
  Status Reject(std::span<const uint8_t> private_data) override;
  // Hands the request to any adapter of the device that received it.
  Status Handoff(uint64_t conn_qual) override;

 private:
  void FailActive(transport::RejectReason reason, std::span<const uint8_t> private_data,
                  std::string why);

  Fabric& fabric_;
  const std::shared_ptr<Connection> connection_;
  const transport::ConnectionAddresses addresses_;  // as the passive side sees them
  bool spent_ = false;                              // accepted or rejected; under the fabric's lock
};

}  // namespace softdat::toy

#endif  // SOFTDAT_PROVIDER_TOY_LISTENER_H_
