// SPDX-License-Identifier: BSD-3-Clause
// Connection request that waits for the consumer's answer (semantics 9.3).
#ifndef SOFTDAT_DAT_ENGINE_CR_H_
#define SOFTDAT_DAT_ENGINE_CR_H_

#include <memory>
#include <span>

#include "dat/engine/ep.h"
#include "dat/engine/object.h"
#include "dat/transport/transport.h"

namespace softdat::engine {

class ServicePoint;

class Cr final : public Object {
 public:
  static constexpr DAT_HANDLE_TYPE kHandleType = DAT_HANDLE_TYPE_CR;

  // `ep` belongs to the request (RSP, provider-created) or is null. Moves from `request` on success
  // only.
  static Cr* Create(Ia* ia, ServicePoint* from,
                    std::unique_ptr<transport::ConnectionRequest>& request, Ep* ep);

  void Query(DAT_CR_PARAM* param);
  // Each answers the request and frees the CR on success; on failure CR and EP are unchanged. The
  // caller pins the CR once.
  DAT_RETURN Accept(Ep* ep, std::span<const uint8_t> private_data);
  DAT_RETURN Reject(std::span<const uint8_t> private_data);
  // Takes the request back from a CR that could not be announced, and frees the CR.
  void Withdraw(std::unique_ptr<transport::ConnectionRequest>* request);

 private:
  Cr(Ia* ia, ServicePoint* from, Ep* ep);
  ~Cr() override = default;
  // An unanswered request is rejected as non-peer; its EP goes back to where it came from.
  void Teardown() override;
  void ReleaseEp();

  std::unique_ptr<transport::ConnectionRequest> request_;
  Ref<ServicePoint> from_;
  Ref<Ep> ep_;
  const bool provider_created_ep_;
};

}  // namespace softdat::engine

#endif  // SOFTDAT_DAT_ENGINE_CR_H_
