// SPDX-License-Identifier: BSD-3-Clause
// A request for datagrams that waits for the consumer's answer.
#ifndef SOFTDAT_PROVIDER_VERBS_DATAGRAM_REQUEST_H_
#define SOFTDAT_PROVIDER_VERBS_DATAGRAM_REQUEST_H_

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "dat/transport/transport.h"
#include "provider_verbs/cm_channel.h"
#include "provider_verbs/device.h"
#include "wire/rdmacm/datagram_identity.h"
#include "wire/rdmacm/private_data.h"

namespace softdat::verbs {

class DatagramRequest final : public transport::ConnectionRequest {
 public:
  // `private_data`: of the request, behind rdma_cm's header. `field`: what they mean.
  DatagramRequest(Device& device, std::shared_ptr<CmId> id, uint64_t conn_qual,
                  std::span<const uint8_t> private_data, const rdmacm::FieldView& field);
  ~DatagramRequest() override;

  std::span<uint8_t> private_data() override { return data_; }
  const transport::ConnectionAddresses& addresses() const override { return addresses_; }
  uint64_t conn_qual() const override { return addresses_.local_port; }
  transport::Service service() const override { return transport::Service::kDatagram; }
  Result<transport::DatagramPeer> AcceptDatagrams(transport::QueuePair& qp,
                                                  std::span<const uint8_t> private_data) override;
  Status Reject(std::span<const uint8_t> private_data) override;
  // Fails, because it takes a queue pair of the other service.
  Status Accept(transport::QueuePair& qp, std::span<const uint8_t> private_data) override;

  // The back end's own reject.
  static void Refuse(rdma_cm_id* id, bool padded);

 private:
  Status CheckData(std::span<const uint8_t> private_data) const;

  Device& device_;
  std::shared_ptr<CmId> id_;       // null once answered
  const bool padded_;              // the requester understands trailers
  rdmacm::DatagramIdentity peer_;  // number 0: it has not told
  std::vector<uint8_t> data_;
  transport::ConnectionAddresses addresses_;
};

}  // namespace softdat::verbs

#endif  // SOFTDAT_PROVIDER_VERBS_DATAGRAM_REQUEST_H_
