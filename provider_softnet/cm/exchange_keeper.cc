// SPDX-License-Identifier: BSD-3-Clause
#include "provider_softnet/cm/exchange_keeper.h"

#include <algorithm>
#include <utility>

#include "wire/rdmacm/mad.h"

namespace softdat::softnet {

ExchangeKeeper::ExchangeKeeper(const CmOptions& options, std::function<uint64_t()> random)
    : options_(options), random_(random), table_(options, std::move(random)) {}

std::optional<CmOutgoing> ExchangeKeeper::TakeOutgoing() {
  if (outgoing_.empty()) return std::nullopt;
  const CmOutgoing first = outgoing_.front();
  outgoing_.pop_front();
  return first;
}

std::optional<CmEvent> ExchangeKeeper::TakeEvent() {
  if (events_.empty()) return std::nullopt;
  CmEvent first = std::move(events_.front());
  events_.pop_front();
  return first;
}

// As Linux does it, so that a capture shows what belongs together.
uint64_t ExchangeKeeper::NewTransaction(const Exchange& e) { return random_() << 32 | e.comm_id; }

void ExchangeKeeper::SendOnce(const sockaddr_storage& to, uint64_t transaction_id,
                              const rdmacm::CmMessage& message) {
  CmOutgoing out{.to = to};
  if (rdmacm::EncodeMad({transaction_id, message}, out.mad)) outgoing_.push_back(out);
}

bool ExchangeKeeper::Prepare(Exchange* e, uint64_t transaction_id,
                             const rdmacm::CmMessage& message) {
  return rdmacm::EncodeMad({transaction_id, message}, e->mad);
}

void ExchangeKeeper::Begin(Exchange* e, uint32_t tries, uint64_t now_us) {
  e->tries = 0;
  e->tries_left = std::max<uint32_t>(tries, 1);
  e->interval_us = std::max<uint64_t>(options_.first_interval_us, 1);
  Repeat(e, now_us);
}

void ExchangeKeeper::Repeat(Exchange* e, uint64_t now_us) {
  Transmit(*e);
  ++e->tries;
  --e->tries_left;
  e->next_us = CmLater(now_us, e->interval_us);
  e->interval_us =
      std::max(e->interval_us, std::min(2 * e->interval_us, options_.longest_interval_us));
  Arm(e);
}

void ExchangeKeeper::Arm(Exchange* e) { table_.SetDeadline(e, std::min(e->next_us, e->limit_us)); }

void ExchangeKeeper::Tell(Exchange* e, CmEvent event) {
  if (!e->told) events_.push_back(std::move(event));
  e->told = true;
}

void ExchangeKeeper::Fail(Exchange* e, transport::RejectReason reason, std::string why) {
  Tell(e, CmFailed{.id = e->id, .reason = reason, .why = std::move(why)});
}

void ExchangeKeeper::TellNewOwner(const Exchange& e, CmForNewOwner::What what) {
  if (!e.told) Report(CmForNewOwner{e.id, what});
}

void ExchangeKeeper::Remember(Exchange* e, CmState state, uint64_t until_us) {
  table_.SetState(e, state);
  table_.SetDeadline(e, until_us);
  while (Exchange* const surplus = table_.Surplus()) Forget(surplus);
}

void ExchangeKeeper::Forget(Exchange* e) {
  if (e->qpn != 0) Report(CmOver{e->id, e->qpn});
  if (e->state == CmState::kHandedOff) TellNewOwner(*e, CmForNewOwner::What::kForgotten);
  table_.Remove(e);
}

}  // namespace softdat::softnet
