// SPDX-License-Identifier: BSD-3-Clause
// How an exchange ends, on either side: this end refuses (REJ), disconnects (DREQ), or learns that
// its peer has lost it; and how long the peer's queue pair counts as taken.
#ifndef SOFTDAT_PROVIDER_SOFTNET_CM_EXCHANGE_ENDINGS_H_
#define SOFTDAT_PROVIDER_SOFTNET_CM_EXCHANGE_ENDINGS_H_

#include <array>
#include <cstdint>

#include "provider_softnet/cm/exchange_keeper.h"
#include "wire/bytes.h"
#include "wire/rdmacm/cm_messages.h"

namespace softdat::softnet {

class ExchangeEndings {
 public:
  explicit ExchangeEndings(ExchangeKeeper* keeper);

  // ---- REJ ----

  rdmacm::CmRej RejectOf(const Exchange& e, rdmacm::RejectReason reason) const;
  void SayNo(Exchange* e, rdmacm::RejectReason reason, ByteSpan private_data, uint64_t now_us);
  // Answers a REP that belongs to nothing.
  void Scold(const CmArrival& a, const rdmacm::CmRep& rep);
  // The peer was accepted, and this end does not want the connection any more.
  void GiveUpReply(Exchange* e, uint64_t now_us);

  // ---- DREQ ----

  void BeginDisconnect(Exchange* e, uint64_t now_us);
  void FinishDisconnect(Exchange* e, uint64_t now_us);
  void EnterTimeWait(Exchange* e, uint64_t now_us);

  // ---- the peer's end ----

  // The requester has given up.
  void GivenUp(Exchange* e, uint64_t now_us);
  // Whether the peer's queue pair is still taken by this exchange.
  bool HoldsPair(const Exchange& e, uint64_t now_us) const;
  // The peer has a new use for its queue pair, so that what it was used for is over.
  void EndAsStale(Exchange* e, uint64_t now_us);

 private:
  void Withdraw(Exchange* e);

  ExchangeKeeper& keeper_;
  ExchangeTable& table_;
  const CmOptions& options_;
  std::array<uint8_t, 8> guid_octets_{};
  // REPs that fit nothing are answered so often within a second at most.
  uint64_t scolding_since_us_ = 0;
  uint32_t scolded_ = 0;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_CM_EXCHANGE_ENDINGS_H_
