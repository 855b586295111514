// SPDX-License-Identifier: BSD-3-Clause
// A connection request that waits for the consumer's answer.
#ifndef SOFTDAT_PROVIDER_SOFTNET_UDP_WIRE_ROCE_REQUEST_H_
#define SOFTDAT_PROVIDER_SOFTNET_UDP_WIRE_ROCE_REQUEST_H_

#include <memory>
#include <vector>

#include "dat/transport/transport.h"
#include "provider_softnet/udp_wire/roce_plane.h"
#include "wire/rdmacm/reject_reason.h"

namespace softdat::softnet {

class RoceConnectionRequest final : public transport::ConnectionRequest {
 public:
  // With the token. `padded`: the requester understands trailers in private data.
  RoceConnectionRequest(std::shared_ptr<RocePlane> plane, const CmRequestArrived& request,
                        uint64_t conn_qual, uint16_t source_port, bool padded, ByteSpan data);
  ~RoceConnectionRequest() override;

  std::span<uint8_t> private_data() override { return private_data_; }
  const transport::ConnectionAddresses& addresses() const override { return addresses_; }
  uint64_t conn_qual() const override { return conn_qual_; }
  bool handed_on() const override { return handed_on_; }
  Status Accept(transport::QueuePair& qp, std::span<const uint8_t> private_data) override;
  Status Reject(std::span<const uint8_t> private_data) override;
  Status Handoff(uint64_t conn_qual) override;

  // Another member had it first. With the token, before it is delivered. `aimed_at`: the qualifier
  // that the requester has named.
  void ComeByHandoff(uint64_t aimed_at);
  // The back end's own refusal. Does nothing when the request was answered already.
  void Refuse(rdmacm::RejectReason reason);

 private:
  bool HandoffWithin(uint64_t conn_qual);
  Status CheckAnswer(std::span<const uint8_t> private_data) const;

  const std::shared_ptr<RocePlane> plane_;
  const CmRequestArrived request_;
  uint64_t conn_qual_;
  const bool padded_;
  bool handed_on_ = false;
  bool answered_ = false;  // with the token
  std::vector<uint8_t> private_data_;
  transport::ConnectionAddresses addresses_;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_UDP_WIRE_ROCE_REQUEST_H_
