// SPDX-License-Identifier: BSD-3-Clause
// Connection request that waits for the consumer's answer (semantics 9.3).
#ifndef SOFTDAT_DAT_ENGINE_CR_H_
#define SOFTDAT_DAT_ENGINE_CR_H_

#include <atomic>
#include <memory>
#include <span>

#include "dat/engine/ep.h"
#include "dat/engine/object.h"
#include "dat/transport/transport.h"

namespace softdat::engine {

class Cr final : public Object {
 public:
  static constexpr DAT_HANDLE_TYPE kHandleType = DAT_HANDLE_TYPE_CR;

  // `ep` belongs to the request (RSP, provider-created) or is null; its state is already PASSIVE or
  // TENTATIVE _CONNECTION_PENDING. Moves from `request` on success; null when there is no handle
  // left.
  static Cr* Create(Ia* ia, std::unique_ptr<transport::ConnectionRequest>& request, Ep* ep,
                    bool provider_created_ep);
  // Undoes Create for a CR that nobody has heard of: gives the request back, leaves the EP alone.
  void Withdraw(std::unique_ptr<transport::ConnectionRequest>* request);

  void Query(DAT_CR_PARAM* param);
  // Each answers the request and frees the CR on success; on failure CR and EP are unchanged. The
  // caller pins the CR once. Of several threads that answer at once one wins; the others see an
  // invalid handle. `ep` null: the request has its own.
  DAT_RETURN Accept(Ep* ep, std::span<const uint8_t> private_data);
  DAT_RETURN Reject(std::span<const uint8_t> private_data);
  // Gives the request to the service point that listens on `conn_qual`: of this IA, else wherever
  // the back end finds it.
  DAT_RETURN Handoff(DAT_CONN_QUAL conn_qual);
  // Frees a CR of which the consumer can never hear: the request is refused as non-peer. The caller
  // pins the CR once.
  void Drop();

 private:
  Cr(Ia* ia, std::unique_ptr<transport::ConnectionRequest> request, Ep* ep,
     bool provider_created_ep);
  ~Cr() override = default;
  // An unanswered request is rejected as non-peer; unless it was accepted, its EP goes back to
  // where it came from.
  void Teardown() override;

  // The part of Handoff() for a qualifier on which this IA does not listen; with the CR claimed.
  DAT_RETURN HandoffElsewhere(DAT_CONN_QUAL conn_qual);
  bool Claim() { return !claimed_.exchange(true, std::memory_order_acq_rel); }
  void Unclaim() { claimed_.store(false, std::memory_order_release); }
  void Finish();

  // Touched by the one thread that has claimed the CR, and by Teardown.
  std::unique_ptr<transport::ConnectionRequest> request_;
  bool keep_ep_ = false;

  std::atomic<bool> claimed_{false};  // a thread is answering, or has answered
  const Ref<Ep> ep_;
  const bool provider_created_ep_;
  // What Query reports, so that it need not look into a request that is being answered.
  sockaddr_storage remote_;
  const DAT_PORT_QUAL remote_port_;
  const std::span<uint8_t> private_data_;
};

}  // namespace softdat::engine

#endif  // SOFTDAT_DAT_ENGINE_CR_H_
