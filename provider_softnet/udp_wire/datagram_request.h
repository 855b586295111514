// SPDX-License-Identifier: BSD-3-Clause
// A request for datagrams that waits for the consumer's answer.
#ifndef SOFTDAT_PROVIDER_SOFTNET_UDP_WIRE_DATAGRAM_REQUEST_H_
#define SOFTDAT_PROVIDER_SOFTNET_UDP_WIRE_DATAGRAM_REQUEST_H_

#include <memory>
#include <vector>

#include "dat/transport/transport.h"
#include "provider_softnet/udp_wire/request_data.h"
#include "provider_softnet/udp_wire/roce_plane.h"
#include "wire/rdmacm/datagram_identity.h"

namespace softdat::softnet {

class DatagramRequest final : public transport::ConnectionRequest {
 public:
  // With the token. `meaning`: of the private data of `request`.
  DatagramRequest(std::shared_ptr<RocePlane> plane, const SidrRequestArrived& request,
                  uint64_t conn_qual, const RequestMeaning& meaning);
  ~DatagramRequest() override;

  std::span<uint8_t> private_data() override { return private_data_; }
  const transport::ConnectionAddresses& addresses() const override { return addresses_; }
  uint64_t conn_qual() const override { return addresses_.local_port; }
  transport::Service service() const override { return transport::Service::kDatagram; }
  Result<transport::DatagramPeer> AcceptDatagrams(transport::QueuePair& qp,
                                                  std::span<const uint8_t> private_data) override;
  Status Reject(std::span<const uint8_t> private_data) override;
  // Fails, because it takes a queue pair of the other service.
  Status Accept(transport::QueuePair& qp, std::span<const uint8_t> private_data) override;

 private:
  Status CheckAnswer(std::span<const uint8_t> private_data) const;

  const std::shared_ptr<RocePlane> plane_;
  const SidrId id_;
  const bool padded_;              // the requester understands trailers in private data
  rdmacm::DatagramIdentity peer_;  // number 0: it has not told
  bool answered_ = false;          // with the token
  std::vector<uint8_t> private_data_;
  transport::ConnectionAddresses addresses_;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_UDP_WIRE_DATAGRAM_REQUEST_H_
