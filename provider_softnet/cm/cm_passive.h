// SPDX-License-Identifier: BSD-3-Clause
// The passive side of a communication manager: a REQ that arrives, its consumer's answer, RTU.
#ifndef SOFTDAT_PROVIDER_SOFTNET_CM_CM_PASSIVE_H_
#define SOFTDAT_PROVIDER_SOFTNET_CM_CM_PASSIVE_H_

#include <cstdint>
#include <optional>

#include "provider_softnet/cm/exchange_endings.h"
#include "provider_softnet/cm/exchange_keeper.h"
#include "wire/bytes.h"
#include "wire/rdmacm/cm_messages.h"

namespace softdat::softnet {

class CmPassive {
 public:
  CmPassive(ExchangeKeeper* keeper, ExchangeEndings* endings);

  // ---- the consumer's answers (communication_manager.h) ----

  void Accept(CmId id, const CmAccept& parameters, uint64_t now_us);
  void Reject(CmId id, rdmacm::RejectReason reason, ByteSpan private_data, uint64_t now_us);
  void RepeatRefusals(uint64_t service_id, uint64_t now_us);
  void Delay(CmId id);
  void EstablishedByData(CmId id);

  // ---- what arrives ----

  void OnReq(const CmArrival& a, const rdmacm::CmReq& req);
  void OnRtu(const CmArrival& a, const rdmacm::CmRtu& rtu);
  // Of a peer that shows otherwise that it is connected.
  void Establish(Exchange* e);
  // The deadline of one in kReplySent.
  void OnReplyDue(Exchange* e, uint64_t now_us);

  // ---- for requests that change hands ----

  // Why a request cannot be answered, whoever listens.
  static std::optional<rdmacm::RejectReason> WhyNot(const rdmacm::CmReq& req);
  // Whether the request is the one that the exchange is about.
  static bool IsSame(const Exchange& e, const CmArrival& a, const rdmacm::CmReq& req);
  // Refuses a request whose queue pair still belongs to a connection, and ends that one. False:
  // it does not.
  bool RefusedAsStale(const CmArrival& a, const rdmacm::CmReq& req);
  // What the consumer is told of a request that is new here.
  CmRequestArrived OnNewRequest(const CmArrival& a, const rdmacm::CmReq& req);
  void OnRequestAgain(Exchange* e);

 private:
  Exchange& AddPassive(const CmArrival& a, const rdmacm::CmReq& req);
  void OnKnownRequest(Exchange* e, const CmArrival& a, const rdmacm::CmReq& req);
  void Refuse(const CmArrival& a, const rdmacm::CmReq& req, rdmacm::RejectReason reason);
  void RefuseAsStale(const CmArrival& a, const rdmacm::CmReq& req);

  ExchangeKeeper& keeper_;
  ExchangeEndings& endings_;
  ExchangeTable& table_;
  const CmOptions& options_;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_CM_CM_PASSIVE_H_
