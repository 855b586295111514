// SPDX-License-Identifier: BSD-3-Clause
// A request that came to one manager and is answered by another, both of one address. The requester
// does not notice: the new owner speaks to it for itself, with a communication ID of its own. Only
// what the requester addresses to the service still comes to the first manager, because it has not
// heard the answer, and is told to the new owner.
#ifndef SOFTDAT_PROVIDER_SOFTNET_CM_CM_HANDOFF_H_
#define SOFTDAT_PROVIDER_SOFTNET_CM_CM_HANDOFF_H_

#include <sys/socket.h>

#include <cstdint>
#include <optional>

#include "provider_softnet/cm/cm_passive.h"
#include "provider_softnet/cm/exchange_endings.h"
#include "provider_softnet/cm/exchange_keeper.h"
#include "wire/bytes.h"

namespace softdat::softnet {

class CmHandoff {
 public:
  CmHandoff(ExchangeKeeper* keeper, ExchangeEndings* endings, CmPassive* passive);

  // ---- handing off ----

  // The request as it came, while it waits for its consumer's answer or was withdrawn.
  std::optional<MadOctets> RequestOf(CmId id) const;
  void HandOff(CmId id);
  // The new owner has answered, so that nothing more is told to it. `refusal`: what Refusal() says
  // there. It is repeated from here.
  void AnsweredElsewhere(CmId id, ByteSpan refusal, uint64_t now_us);
  // The new owner is gone and has not answered: the requester is refused.
  void LostElsewhere(CmId id, uint64_t now_us);

  // ---- taking over ----

  // The exchange here that has this request; 0 when there is none.
  CmId KnownAs(const sockaddr_storage& source, ByteSpan mad) const;
  // False when the request is none, is known here, or finds no room.
  bool CanTakeOver(const sockaddr_storage& source, ByteSpan mad) const;
  // The same that CanTakeOver() allows. The request is returned, and told by no event.
  CmTakenOver TakeOver(const sockaddr_storage& source, ByteSpan mad, uint64_t now_us);
  // What CmForNewOwner says at the other end.
  void RequestedAgain(CmId id);
  void GivenUp(CmId id, uint64_t now_us);
  // The REJ that this end repeats. Empty when it has not refused.
  std::optional<MadOctets> Refusal(CmId id) const;

 private:
  ExchangeKeeper& keeper_;
  ExchangeEndings& endings_;
  CmPassive& passive_;
  ExchangeTable& table_;
  const CmOptions& options_;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_CM_CM_HANDOFF_H_
