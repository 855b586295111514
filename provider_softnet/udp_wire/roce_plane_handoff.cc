// SPDX-License-Identifier: BSD-3-Clause
// RocePlane: requests that consumers hand off to another member of this address, and those that
// other members hand here.
#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <optional>
#include <utility>

#include "dat/backend_kit/qualifier_port.h"
#include "dat/base/socket_address.h"
#include "provider_softnet/driver/loop_time.h"
#include "provider_softnet/udp/handoff_sockets.h"
#include "provider_softnet/udp_wire/handoff_sender.h"
#include "provider_softnet/udp_wire/request_data.h"
#include "provider_softnet/udp_wire/roce_plane.h"
#include "provider_softnet/udp_wire/roce_request.h"
#include "wire/rdmacm/mad.h"
#include "wire/rdmacm/service_id.h"

namespace softdat::softnet {

namespace {

// Offers that wait for the holder of the token.
constexpr size_t kMostOffers = 64;

uint64_t ServiceOf(uint64_t conn_qual) {
  return rdmacm::ServiceIdOf(rdmacm::PortSpace::kTcp, PortOfQualifier(conn_qual));
}

}  // namespace

// -------------------------------------------------------------------------------------------------
// Away from here

Status RocePlane::HandOff(const CmRequestArrived& request, uint64_t conn_qual) {
  MemberOffer offer{request.source, conn_qual, {}};
  std::optional<MadOctets> mad;
  LocalPair lease;
  {
    const TokenHold token(&driver().token());
    mad = cm_->handoff().RequestOf(request.id);
    if (stopped_ || !mad) return Status(Code::kInvalidState, "the request is over");
    offer.mad = *mad;
    if (services_.contains(ServiceOf(conn_qual))) {
      return Status(Code::kNotFound,
                    fmt::format("another qualifier than {} has its port", conn_qual));
    }
    // One that came by another member goes on with its lease.
    if (const auto came = taken_over_.find(request.id); came != taken_over_.end()) {
      lease.other = Duplicate(came->second->descriptor());
      if (!lease.other.valid()) return Status(Code::kNoResources, "no descriptor is left");
    } else {
      Result<LocalPair> opened = OpenLocalPair();
      if (!opened.ok()) return opened.TakeStatus();
      lease = opened.Take();
    }
    handing_off_[request.id].conn_qual = conn_qual;
  }
  Status status;
  try {
    status = OfferToMember(HostText(address_), ServiceOf(conn_qual), offer, lease.other.get(),
                           adapter_->options.handoff_timeout);
  } catch (const std::bad_alloc&) {
    status = Status(Code::kNoMemory, "no memory to hand the request off");
  }
  lease.other.Close();  // the end is to be seen when the new owner dies
  const TokenHold token(&driver().token());
  if (!stopped_) EndHandOff(request, status, std::move(lease.own));
  return status;
}

// With the token. `lease`: none for a request that came by another member.
void RocePlane::EndHandOff(const CmRequestArrived& request, const Status& status, UniqueFd lease) {
  if (status.ok()) {
    cm_->handoff().HandOff(request.id);
    if (lease.valid()) {
      HoldLease(&handed_off_, request.id, std::move(lease));
      handed_off_services_[request.id] = request.service_id;
    } else {
      // From here on it is a matter of the others.
      DropLease(&taken_over_, request.id);
      cm_->handoff().AnsweredElsewhere(request.id, {}, LoopTimeUs());
    }
    CloseRequest(request.id);
    Flush();
  }
  auto done = handing_off_.extract(request.id);
  if (done.empty() || done.mapped().back.empty()) return;
  {
    const std::lock_guard<std::mutex> lock(mads_mutex_);
    for (ArrivedOffer& offer : done.mapped().back) offers_.push_back(std::move(offer));
  }
  driver().Post([plane = shared_from_this()] { plane->TakeOffers(); });
}

// With the token. The new owner may hand a request back before the thread that handed it off has
// seen that it was taken. Only then is it known here as handed off.
bool RocePlane::Postpone(ArrivedOffer* offer) {
  const auto found = handing_off_.find(cm_->handoff().KnownAs(offer->source, offer->mad));
  if (found == handing_off_.end()) return false;
  HandingOff& own = found->second;
  // The own offer comes here if a service point has been made meanwhile that it names.
  if (offer->conn_qual == own.conn_qual || own.back.size() >= kMostOffers) return false;
  own.back.push_back(std::move(*offer));
  return true;
}

// With the token.
void RocePlane::OnNewOwnersWord(CmId id, LeaseWord word, ByteSpan rest) {
  if (word == LeaseWord::kAnswered) {
    cm_->handoff().AnsweredElsewhere(id, rest, LoopTimeUs());
  } else if (word == LeaseWord::kGone) {
    cm_->handoff().LostElsewhere(id, LoopTimeUs());
  } else {
    return;
  }
  DropLease(&handed_off_, id);
  Pump();
}

void RocePlane::TellNewOwner(const CmForNewOwner& news) {
  const auto found = handed_off_.find(news.id);
  if (found == handed_off_.end()) return;
  switch (news.what) {
    case CmForNewOwner::What::kAgain:
      return found->second->Say(LeaseWord::kAgain);
    case CmForNewOwner::What::kWithdrawn:
      return found->second->Say(LeaseWord::kWithdrawn);
    case CmForNewOwner::What::kForgotten:
      return DropLease(&handed_off_, news.id);
  }
}

// -------------------------------------------------------------------------------------------------
// To here

void RocePlane::OnOffer(const MemberOffer& offer, std::vector<UniqueFd> descriptors) {
  if (!started_.load(std::memory_order_acquire) || leaving_.load(std::memory_order_relaxed)) return;
  if (descriptors.size() != 2 || offer.mad.size() != rdmacm::kMadSize) return;
  ArrivedOffer arrived{
      offer.source, offer.conn_qual, {}, std::move(descriptors[0]), std::move(descriptors[1])};
  std::copy(offer.mad.begin(), offer.mad.end(), arrived.mad.begin());
  try {
    {
      const std::lock_guard<std::mutex> lock(mads_mutex_);
      if (offers_.size() >= kMostOffers) {
        AnswerOffer(arrived.answer.get(), OfferVerdict::kRefused);
        return;
      }
      offers_.push_back(std::move(arrived));
    }
    driver().Post([plane = shared_from_this()] { plane->TakeOffers(); });
  } catch (const std::bad_alloc&) {
    // The offer dies with its descriptors, and the request stays where it is.
  }
}

// With the token.
void RocePlane::TakeOffers() {
  std::deque<ArrivedOffer> offers;
  {
    const std::lock_guard<std::mutex> lock(mads_mutex_);
    offers.swap(offers_);
  }
  for (ArrivedOffer& offer : offers) {
    if (!stopped_ && !Postpone(&offer)) TakeOffer(&offer);
  }
}

// Nothing of an offer is trusted further than a packet of the network.
void RocePlane::TakeOffer(ArrivedOffer* offer) {
  const auto answer = [&](OfferVerdict verdict) {
    return AnswerOffer(offer->answer.get(), verdict);
  };
  const auto point = FindService(ServiceOf(offer->conn_qual), offer->conn_qual);
  if (point == nullptr || point->sink == nullptr) {
    answer(OfferVerdict::kNoListener);
    return;
  }
  rdmacm::Mad mad;
  const bool parsed = rdmacm::ParseMad(offer->mad, &mad) == rdmacm::MadParse::kOk;
  const auto* const req = parsed ? std::get_if<rdmacm::CmReq>(&mad.message) : nullptr;
  const auto meaning = req != nullptr ? ReadRequestData(req->private_data) : std::nullopt;
  const auto port =
      req != nullptr ? rdmacm::PortOf(rdmacm::PortSpace::kTcp, req->service_id) : std::nullopt;
  if (!meaning || !port || PathMtuOf(req->path_mtu) > mtu() ||
      !cm_->handoff().CanTakeOver(offer->source, offer->mad)) {
    answer(OfferVerdict::kRefused);
    return;
  }
  if (!answer(OfferVerdict::kTaken)) return;  // the other member has stopped waiting
  const CmTakenOver taken = cm_->handoff().TakeOver(offer->source, offer->mad, LoopTimeUs());
  // If it came here first, its repeats come here by themselves. If not, the member to which they
  // come still has to be told, although the request has been here before.
  const bool first_owner = handed_off_.contains(taken.replaced);
  if (first_owner) DropLease(&handed_off_, taken.replaced);
  if (taken.request) {
    const CmRequestArrived& request = *taken.request;
    if (!first_owner) HoldLease(&taken_over_, request.id, std::move(offer->lease));
    auto arrived = std::make_unique<RoceConnectionRequest>(
        shared_from_this(), request, point->conn_qual, meaning->source_port, meaning->field.trailer,
        meaning->field.data);
    arrived->ComeByHandoff(meaning->field.qualifier.value_or(*port));
    Deliver(point, std::move(arrived));
  }
  if (!stopped_) Pump();
}

// With the token.
void RocePlane::OnFirstOwnersWord(CmId id, LeaseWord word) {
  switch (word) {
    case LeaseWord::kAgain:
      cm_->handoff().RequestedAgain(id);
      break;
    case LeaseWord::kWithdrawn:
      cm_->handoff().GivenUp(id, LoopTimeUs());
      break;
    case LeaseWord::kGone:
      DropLease(&taken_over_, id);
      [[fallthrough]];
    case LeaseWord::kUnheard:
      // What is repeated would come to a member that does not know the request, and be refused.
      cm_->Delay(id);
      break;
    case LeaseWord::kAnswered:
      break;
  }
  Pump();
}

void RocePlane::TellFirstOwner(CmId id) {
  const auto found = taken_over_.find(id);
  if (found == taken_over_.end()) return;
  const std::optional<MadOctets> refusal = cm_->handoff().Refusal(id);
  found->second->Say(LeaseWord::kAnswered, refusal ? ByteSpan(*refusal) : ByteSpan());
  DropLease(&taken_over_, id);
}

// -------------------------------------------------------------------------------------------------
// Leases

void RocePlane::HoldLease(Leases* leases, CmId id, UniqueFd fd) {
  const bool is_own = leases == &handed_off_;
  auto lease = std::make_unique<HandoffLease>(
      &driver().loop(), std::move(fd), [this, id, is_own](LeaseWord word, ByteSpan rest) {
        const std::shared_ptr<RocePlane> keep = shared_from_this();
        if (stopped_) return;
        is_own ? OnNewOwnersWord(id, word, rest) : OnFirstOwnersWord(id, word);
      });
  const Status watched = lease->Watch();
  HandoffLease* const raw = lease.get();
  (*leases)[id] = std::move(lease);
  // Without a watch nothing is heard: as if the other member were gone.
  if (!watched.ok())
    driver().Post([plane = shared_from_this(), leases, id, raw] {
      const auto found = leases->find(id);
      if (plane->stopped_ || found == leases->end() || found->second.get() != raw) return;
      leases == &plane->handed_off_ ? plane->OnNewOwnersWord(id, LeaseWord::kGone, {})
                                    : plane->OnFirstOwnersWord(id, LeaseWord::kGone);
    });
}

// Its own handler may be what drops it.
void RocePlane::DropLease(Leases* leases, CmId id) {
  auto dropped = leases->extract(id);
  if (dropped.empty()) return;
  if (leases == &handed_off_) handed_off_services_.erase(id);
  dropped.mapped()->Close();
  driver().DeleteLater(std::shared_ptr<HandoffLease>(std::move(dropped.mapped())));
}

void RocePlane::DropLeases() {
  handing_off_.clear();
  while (!handed_off_.empty()) DropLease(&handed_off_, handed_off_.begin()->first);
  while (!taken_over_.empty()) DropLease(&taken_over_, taken_over_.begin()->first);
}

// Repeats of what was handed off would be refused from now on, and those of what was refused would
// hear that nobody listens.
void RocePlane::OnServiceDropped(uint64_t service_id) {
  if (stopped_) return;
  cm_->RepeatRefusals(service_id, LoopTimeUs());
  resolution_->RepeatAnswers(service_id, LoopTimeUs());
  Flush();
  for (const auto& [id, lease] : handed_off_) {
    if (handed_off_services_[id] == service_id) lease->Say(LeaseWord::kUnheard);
  }
}

}  // namespace softdat::softnet
