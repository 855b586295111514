// SPDX-License-Identifier: BSD-3-Clause
// A request for datagrams, at the listener that received it.
#ifndef SOFTDAT_PROVIDER_TOY_DATAGRAM_REQUEST_H_
#define SOFTDAT_PROVIDER_TOY_DATAGRAM_REQUEST_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "dat/transport/transport.h"
#include "provider_toy/datagram_pair.h"

namespace softdat::toy {

class DatagramRequest : public transport::ConnectionRequest {
 public:
  DatagramRequest(Fabric& fabric, std::shared_ptr<Exchange> exchange);
  ~DatagramRequest() override;

  std::span<uint8_t> private_data() override { return exchange_->request_data; }
  const transport::ConnectionAddresses& addresses() const override { return addresses_; }
  uint64_t conn_qual() const override { return exchange_->conn_qual; }
  transport::Service service() const override { return transport::Service::kDatagram; }
  Result<transport::DatagramPeer> AcceptDatagrams(transport::QueuePair& qp,
                                                  std::span<const uint8_t> private_data) override;
  Status Reject(std::span<const uint8_t> private_data) override;
  // Fails, because it takes a queue pair of the other service.
  Status Accept(transport::QueuePair& qp, std::span<const uint8_t> private_data) override;

 private:
  // The fabric's lock must be held.
  Status CheckAnswer(std::span<const uint8_t> private_data) const;
  void Refuse(transport::RejectReason reason, std::span<const uint8_t> private_data,
              std::string why);
  static transport::DatagramPeer Peer(uint32_t device, const sockaddr_storage& address,
                                      uint32_t number);

  Fabric& fabric_;
  const std::shared_ptr<Exchange> exchange_;
  const transport::ConnectionAddresses addresses_;  // as the listener sees them
  bool spent_ = false;                              // answered; under the fabric's lock
};

}  // namespace softdat::toy

#endif  // SOFTDAT_PROVIDER_TOY_DATAGRAM_REQUEST_H_
