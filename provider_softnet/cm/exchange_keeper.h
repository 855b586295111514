// SPDX-License-Identifier: BSD-3-Clause
// What is the same for all exchanges of a communication manager: a message is sent, and sent again
// until something answers it; the consumer is told once how it ended; what is over is remembered
// for a while.
#ifndef SOFTDAT_PROVIDER_SOFTNET_CM_EXCHANGE_KEEPER_H_
#define SOFTDAT_PROVIDER_SOFTNET_CM_EXCHANGE_KEEPER_H_

#include <sys/socket.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "provider_softnet/cm/cm_events.h"
#include "provider_softnet/cm/cm_options.h"
#include "provider_softnet/cm/exchange_table.h"
#include "wire/rdmacm/cm_messages.h"

namespace softdat::softnet {

// What all messages that arrive have.
struct CmArrival {
  const sockaddr_storage& source;
  rdmacm::Gid gid;  // of that address
  uint64_t transaction_id;
  uint64_t now_us;
};

class ExchangeKeeper {
 public:
  // `random` gives 64 bits that peers cannot foresee.
  ExchangeKeeper(const CmOptions& options, std::function<uint64_t()> random);

  const CmOptions& options() const { return options_; }
  ExchangeTable& table() { return table_; }

  // What waits for the network, and for the consumer.
  std::optional<CmOutgoing> TakeOutgoing();
  std::optional<CmEvent> TakeEvent();

  // ---- to the peer ----

  uint64_t NewTransaction(const Exchange& e);
  void SendOnce(const sockaddr_storage& to, uint64_t transaction_id,
                const rdmacm::CmMessage& message);
  // Makes it the message that the exchange repeats. False when it cannot be stated.
  bool Prepare(Exchange* e, uint64_t transaction_id, const rdmacm::CmMessage& message);
  void Transmit(const Exchange& e) { outgoing_.push_back({e.address, e.mad}); }
  // Sends what is prepared, up to so many times.
  void Begin(Exchange* e, uint32_t tries, uint64_t now_us);
  void Repeat(Exchange* e, uint64_t now_us);
  // Its deadline is the next repeat, or its limit.
  void Arm(Exchange* e);

  // ---- to the consumer ----

  void Report(CmEvent event) { events_.push_back(std::move(event)); }
  // The last word about a connection or an attempt, unless it was said.
  void Tell(Exchange* e, CmEvent event);
  void Fail(Exchange* e, transport::RejectReason reason, std::string why);
  // To who answers a request that was handed off, unless it has.
  void TellNewOwner(const Exchange& e, CmForNewOwner::What what);

  // ---- what is over ----

  void Remember(Exchange* e, CmState state, uint64_t until_us);
  void Forget(Exchange* e);

 private:
  const CmOptions options_;
  const std::function<uint64_t()> random_;
  ExchangeTable table_;
  std::deque<CmOutgoing> outgoing_;
  std::deque<CmEvent> events_;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_CM_EXCHANGE_KEEPER_H_
