// SPDX-License-Identifier: BSD-3-Clause
// A connection request that waits for the consumer's answer.
#ifndef SOFTDAT_PROVIDER_SOFTNET_CONNECTION_CONNECTION_REQUEST_H_
#define SOFTDAT_PROVIDER_SOFTNET_CONNECTION_CONNECTION_REQUEST_H_

#include <memory>
#include <string>
#include <vector>

#include "dat/transport/transport.h"
#include "provider_softnet/connection/incoming.h"

namespace softdat::softnet {

// Gives a request to the sink of `point`. Runs on the thread that holds the token of its adapter.
// Refuses the request when nobody takes it.
void DeliverRequest(const std::shared_ptr<ServicePoint>& point, ArrivedRequest request);

// Does the same from any thread, later. Returns false and leaves *arrived unchanged when that
// adapter has closed.
bool PostRequest(const std::shared_ptr<ServicePoint>& point, ArrivedRequest* arrived);

// The same for a request that another service point of this process has got first.
bool HandOnTo(const std::shared_ptr<ServicePoint>& point, ArrivedRequest* request);

class IwarpConnectionRequest final : public transport::ConnectionRequest {
 public:
  IwarpConnectionRequest(std::shared_ptr<ConnectionContext> context, ArrivedRequest request);
  ~IwarpConnectionRequest() override { Refuse(RefuseReason::kUnspecified); }

  std::span<uint8_t> private_data() override { return private_data_; }
  const transport::ConnectionAddresses& addresses() const override { return request_.addresses; }
  uint64_t conn_qual() const override { return request_.conn_qual; }
  bool handed_on() const override { return request_.handed_on; }
  Status Accept(transport::QueuePair& qp, std::span<const uint8_t> private_data) override;
  Status Reject(std::span<const uint8_t> private_data) override;
  Status Handoff(uint64_t conn_qual) override;

  // The back end's own refusal. Does nothing when the request was answered already.
  void Refuse(RefuseReason reason);

 private:
  std::string RequesterGone() const;
  bool SendReply();

  const std::shared_ptr<ConnectionContext> context_;
  ArrivedRequest request_;
  std::vector<uint8_t> private_data_;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_CONNECTION_CONNECTION_REQUEST_H_
