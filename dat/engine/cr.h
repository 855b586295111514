// SPDX-License-Identifier: BSD-3-Clause
// A connection request that waits for the consumer's answer (semantics 9.3).
#ifndef SOFTDAT_DAT_ENGINE_CR_H_
#define SOFTDAT_DAT_ENGINE_CR_H_

#include <atomic>
#include <memory>
#include <span>

#include "dat/engine/ep.h"
#include "dat/engine/object/object.h"
#include "dat/transport/transport.h"

namespace softdat::engine {

class Cr final : public Object {
 public:
  static constexpr DAT_HANDLE_TYPE kHandleType = DAT_HANDLE_TYPE_CR;

  // `ep` belongs to the request (of an RSP, or provider-created), or is null. Its state is already
  // PASSIVE or TENTATIVE _CONNECTION_PENDING. On success `request` is moved from. Returns null when
  // no handle is left.
  static Cr* Create(IaCore* ia, std::unique_ptr<transport::ConnectionRequest>& request, Ep* ep,
                    bool provider_created_ep);
  // Undoes Create for a CR that nobody has heard of: returns the request, and leaves the EP alone.
  void Withdraw(std::unique_ptr<transport::ConnectionRequest>* request);

  void Query(DAT_CR_PARAM* param);
  // Each of these answers the request and frees the CR on success. On failure CR and EP are
  // unchanged. The caller has pinned the CR once. If several threads answer at once, one wins, and
  // the others see an invalid handle. `ep` is null if the request has its own.
  DAT_RETURN Accept(Ep* ep, std::span<const uint8_t> private_data);
  DAT_RETURN Reject(std::span<const uint8_t> private_data);
  // Gives the request to the service point that listens on `conn_qual`: one of this IA, or else the
  // one that the back end finds.
  DAT_RETURN Handoff(DAT_CONN_QUAL conn_qual);
  // The request is refused as non-peer, and the CR freed (semantics 9.2 "CR EVD gone").
  void OnUnseen() override;

 private:
  Cr(IaCore* ia, std::unique_ptr<transport::ConnectionRequest> request, Ep* ep,
     bool provider_created_ep);
  ~Cr() override = default;
  // An unanswered request is rejected as non-peer. Its EP returns to where it came from, unless the
  // request was accepted.
  void Teardown() override;

  // The part of Handoff() for a qualifier on which this IA does not listen. The caller has claimed
  // the CR.
  DAT_RETURN HandoffElsewhere(DAT_CONN_QUAL conn_qual);
  bool Claim() { return !claimed_.exchange(true, std::memory_order_acq_rel); }
  void Unclaim() { claimed_.store(false, std::memory_order_release); }
  void Finish();

  // Only the thread that has claimed the CR touches these, and Teardown.
  std::unique_ptr<transport::ConnectionRequest> request_;
  bool keep_ep_ = false;

  std::atomic<bool> claimed_{false};  // a thread is answering, or has answered
  const Ref<Ep> ep_;
  const bool provider_created_ep_;
  // What Query reports. It is copied here so that Query need not look into a request that is being
  // answered.
  sockaddr_storage remote_;
  const DAT_PORT_QUAL remote_port_;
  const std::span<uint8_t> private_data_;
};

}  // namespace softdat::engine

#endif  // SOFTDAT_DAT_ENGINE_CR_H_
