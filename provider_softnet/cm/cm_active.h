// SPDX-License-Identifier: BSD-3-Clause
// The active side of a communication manager: REQ, what answers it, RTU.
#ifndef SOFTDAT_PROVIDER_SOFTNET_CM_CM_ACTIVE_H_
#define SOFTDAT_PROVIDER_SOFTNET_CM_CM_ACTIVE_H_

#include <cstdint>

#include "provider_softnet/cm/exchange_endings.h"
#include "provider_softnet/cm/exchange_keeper.h"
#include "wire/rdmacm/cm_messages.h"

namespace softdat::softnet {

class CmActive {
 public:
  CmActive(ExchangeKeeper* keeper, ExchangeEndings* endings);

  CmId Connect(const CmConnect& parameters, uint64_t now_us);
  void ReadyToUse(CmId id);

  void OnRep(const CmArrival& a, const rdmacm::CmRep& rep);
  // A REJ of the request that `e` has sent.
  void OnRefused(Exchange* e, const rdmacm::CmRej& rej, uint64_t now_us);
  // The deadline of one in kRequestSent or kPausing.
  void OnDue(Exchange* e, uint64_t now_us);

 private:
  rdmacm::CmReq RequestOf(const Exchange& e, const CmConnect& p) const;
  void TryAgain(Exchange* e, uint64_t pause_us, uint64_t now_us);
  void RequestAnew(Exchange* e, uint64_t now_us);
  void GiveUpRequest(Exchange* e, uint64_t now_us);
  void OnReply(Exchange* e, const rdmacm::CmRep& rep, uint64_t now_us);
  void OnReplyAgain(Exchange* e, const CmArrival& a, const rdmacm::CmRep& rep);
  void SendReadyToUse(const Exchange& e);

  ExchangeKeeper& keeper_;
  ExchangeEndings& endings_;
  ExchangeTable& table_;
  const CmOptions& options_;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_CM_CM_ACTIVE_H_
