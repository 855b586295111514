// SPDX-License-Identifier: BSD-3-Clause
// ServiceResolution.
#include "provider_softnet/cm/service_resolution.h"

#include <algorithm>
#include <variant>

#include "dat/base/socket_address.h"
#include "provider_softnet/cm/gid_of_address.h"
#include "wire/rdmacm/private_data.h"
#include "wire/rdmacm/reject_reason.h"

namespace softdat::softnet {

using rdmacm::SidrRep;
using rdmacm::SidrReq;
using rdmacm::SidrStatus;
using transport::RejectReason;

namespace {

// Between questions to a host where nobody listens yet.
constexpr uint64_t kFirstPauseUs = 1'000;
constexpr uint64_t kLongestPauseUs = 20'000;

// A refusal by a consumer has its private data, or is by one of ours, who say so otherwise: a peer
// that knows only rdma_cm uses the same status when nobody takes the request.
bool IsByConsumer(const SidrRep& rep, const rdmacm::FieldView& field) {
  if (rep.status != SidrStatus::kRejected || field.refusal) return false;
  return field.trailer ||
         std::any_of(field.data.begin(), field.data.end(), [](uint8_t b) { return b != 0; });
}

SidrFailed MeaningOf(const SidrRep& rep, const sockaddr_storage& peer) {
  const rdmacm::FieldView field =
      rdmacm::ReadField(rdmacm::CmField::kSidrReject, rep.private_data, /*iwarp=*/false);
  const std::string host = HostText(peer);
  SidrFailed failed;
  if (IsByConsumer(rep, field)) {
    failed.reason = RejectReason::kPeer;
    failed.why = "the consumer at " + host + " refused to receive datagrams";
    failed.private_data.assign(field.data.begin(), field.data.end());
  } else if (rep.status == SidrStatus::kUnsupportedServiceId) {
    failed.why = "nobody listens there at " + host;
  } else {
    failed.why = host + " refused to receive datagrams: " + rdmacm::SidrStatusText(rep.status) +
                 " (" + std::to_string(static_cast<int>(rep.status)) + ")";
  }
  return failed;
}

}  // namespace

ServiceResolution::ServiceResolution(const CmOptions& options, std::function<uint64_t()> random)
    : options_(options), random_(std::move(random)) {}

void ServiceResolution::OnMad(const sockaddr_storage& source, const rdmacm::Mad& mad,
                              uint64_t now_us) {
  if (const auto* const req = std::get_if<SidrReq>(&mad.message); req != nullptr) {
    OnRequest(source, mad.transaction_id, *req);
  } else if (const auto* const rep = std::get_if<SidrRep>(&mad.message); rep != nullptr) {
    OnReply(source, *rep, now_us);
  }
}

void ServiceResolution::OnTime(uint64_t now_us) {
  while (!deadlines_.empty() && deadlines_.begin()->first <= now_us) {
    OnQuestionDue(deadlines_.begin()->second, now_us);
  }
  while (!answered_.empty() && answered_.front().first <= now_us) ForgetOldestAnswer();
  while (!repeats_.empty() && repeats_.begin()->first <= now_us) {
    const Requests::iterator request = repeats_.begin()->second;
    repeats_.erase(repeats_.begin());
    RepeatAnswer(request, now_us);
  }
}

uint64_t ServiceResolution::deadline_us() const {
  uint64_t first = deadlines_.empty() ? kCmNever : deadlines_.begin()->first;
  if (!answered_.empty()) first = std::min(first, answered_.front().first);
  if (!repeats_.empty()) first = std::min(first, repeats_.begin()->first);
  return first;
}

std::optional<CmOutgoing> ServiceResolution::TakeOutgoing() {
  if (outgoing_.empty()) return std::nullopt;
  const CmOutgoing first = outgoing_.front();
  outgoing_.pop_front();
  return first;
}

std::optional<SidrEvent> ServiceResolution::TakeEvent() {
  if (events_.empty()) return std::nullopt;
  SidrEvent first = std::move(events_.front());
  events_.pop_front();
  return first;
}

// -------------------------------------------------------------------------------------------------
// Own questions

// Its upper bits say whose it is, as those of communication ids do. Linux tells questions apart by
// the id alone, whichever host they come from: so it is random.
uint32_t ServiceResolution::FreshRequestId() {
  constexpr uint32_t kInBlock = (1u << 20) - 1;
  uint32_t id = 0;
  while (id == 0 || asked_.contains(id)) {
    id = static_cast<uint32_t>(random_());
    if (options_.comm_id_block) id = *options_.comm_id_block << 20 | (id & kInBlock);
  }
  return id;
}

SidrId ServiceResolution::Resolve(const SidrResolve& p, uint64_t now_us) {
  const SidrId id = ++last_id_;
  const auto gid = GidOfAddress(p.remote);
  const uint32_t request_id = FreshRequestId();
  SidrReq req;
  req.request_id = request_id;
  req.service_id = p.service_id;
  req.private_data = p.private_data;
  Question q;
  q.id = id;
  q.address = p.remote;
  if (!gid.has_value()) {
    events_.emplace_back(SidrFailed{
        id, RejectReason::kUnreachable, HostText(p.remote) + " is no address of a host", {}});
    return id;
  }
  if (!rdmacm::EncodeMad({random_() << 32 | request_id, req}, q.mad)) {
    events_.emplace_back(SidrFailed{
        id, RejectReason::kNonPeer, "a value of the request is too large for its field", {}});
    return id;
  }
  q.gid = *gid;
  q.interval_us = std::max<uint64_t>(options_.first_interval_us, 1);
  q.pause_us = kFirstPauseUs;
  q.tries_left = std::max<uint32_t>(options_.request_tries, 1);
  q.started_us = now_us;
  q.limit_us = CmLater(now_us, p.timeout_us);
  q.grace_until_us = CmLater(now_us, p.grace_us);
  asked_by_id_[id] = request_id;
  Ask(request_id, &(asked_[request_id] = q), now_us);
  return id;
}

void ServiceResolution::Cancel(SidrId id) {
  const auto found = asked_by_id_.find(id);
  if (found != asked_by_id_.end()) Forget(asked_.find(found->second));
}

void ServiceResolution::Ask(uint32_t request_id, Question* q, uint64_t now_us) {
  outgoing_.push_back({q->address, q->mad});
  ++q->tries;
  --q->tries_left;
  q->next_us = CmLater(now_us, q->interval_us);
  q->interval_us =
      std::max(q->interval_us, std::min(2 * q->interval_us, options_.longest_interval_us));
  Arm(request_id, q, std::min(q->next_us, q->limit_us));
}

void ServiceResolution::Arm(uint32_t request_id, Question* q, uint64_t deadline_us) {
  deadlines_.erase({q->deadline_us, request_id});
  q->deadline_us = deadline_us;
  deadlines_.emplace(deadline_us, request_id);
}

void ServiceResolution::OnQuestionDue(uint32_t request_id, uint64_t now_us) {
  const auto question = asked_.find(request_id);
  Question& q = question->second;
  if (now_us < q.limit_us && q.tries_left > 0) return Ask(request_id, &q, now_us);
  const std::string asked = std::to_string(q.tries) + (q.tries == 1 ? " request" : " requests");
  if (now_us < q.limit_us) {
    return Fail(question, RejectReason::kUnreachable,
                HostText(q.address) + " did not answer " + asked);
  }
  Fail(question, RejectReason::kTimedOut,
       HostText(q.address) + " did not answer within " +
           std::to_string((q.limit_us - q.started_us) / 1000) + " ms (" + asked + ")");
}

void ServiceResolution::Fail(Questions::iterator question, RejectReason reason, std::string why) {
  events_.emplace_back(SidrFailed{question->second.id, reason, std::move(why), {}});
  Forget(question);
}

void ServiceResolution::Forget(Questions::iterator question) {
  deadlines_.erase({question->second.deadline_us, question->first});
  asked_by_id_.erase(question->second.id);
  asked_.erase(question);
}

void ServiceResolution::OnReply(const sockaddr_storage& source, const SidrRep& rep,
                                uint64_t now_us) {
  const auto question = asked_.find(rep.request_id);
  if (question == asked_.end()) return;  // answered, or given up
  const Question& q = question->second;
  if (GidOfAddress(source) != q.gid) return;
  if (rep.status != SidrStatus::kOk) return OnRefused(question, rep, now_us);
  if (rep.qpn <= rdmacm::kGsiQpn) {
    return Fail(question, RejectReason::kUnreachable,
                HostText(q.address) + " accepted, and named no queue pair");
  }
  SidrResolved event{.id = q.id, .qpn = rep.qpn, .qkey = rep.qkey};
  std::copy(rep.private_data.begin(), rep.private_data.end(), event.private_data.begin());
  events_.emplace_back(event);
  Forget(question);
}

void ServiceResolution::OnRefused(Questions::iterator question, const SidrRep& rep,
                                  uint64_t now_us) {
  Question& q = question->second;
  if (rep.status == SidrStatus::kUnsupportedServiceId && now_us < q.grace_until_us) {
    q.tries_left = std::max<uint32_t>(q.tries_left, 1);
    q.interval_us = std::max<uint64_t>(options_.first_interval_us, 1);
    q.next_us = CmLater(now_us, q.pause_us);
    q.pause_us = std::min(2 * q.pause_us, kLongestPauseUs);
    return Arm(question->first, &q, std::min(q.next_us, q.limit_us));
  }
  SidrFailed failed = MeaningOf(rep, q.address);
  failed.id = q.id;
  events_.emplace_back(std::move(failed));
  Forget(question);
}

// -------------------------------------------------------------------------------------------------
// The peers' questions

void ServiceResolution::OnRequest(const sockaddr_storage& source, uint64_t transaction_id,
                                  const SidrReq& req) {
  const auto gid = GidOfAddress(source);
  if (!gid.has_value()) return;
  const RequestKey key(*gid, transaction_id, req.request_id);
  if (const auto known = requests_.find(key); known != requests_.end()) {
    const Request& r = known->second;
    if (r.answered) outgoing_.push_back({r.source, r.answer});
    return;
  }
  // No answer says "later". What is not answered is asked again.
  if (unanswered_.size() >= options_.most_unanswered) return;
  const auto request = requests_.emplace(key, Request{}).first;
  request->second = {.id = ++last_id_, .source = source, .service_id = req.service_id};
  unanswered_.emplace(last_id_, request);
  SidrRequestArrived event{.id = last_id_, .source = source, .service_id = req.service_id};
  std::copy(req.private_data.begin(), req.private_data.end(), event.private_data.begin());
  events_.emplace_back(event);
}

void ServiceResolution::Accept(SidrId id, const SidrAccept& p, uint64_t now_us) {
  SidrRep rep;
  rep.qpn = p.qpn;
  rep.qkey = p.qkey;
  rep.private_data = p.private_data;
  Answer(id, rep, /*keep=*/true, now_us);
}

// That nobody listens is not kept: somebody may the next time.
void ServiceResolution::Refuse(SidrId id, SidrStatus status, ByteSpan private_data,
                               uint64_t now_us) {
  SidrRep rep;
  rep.status = status;
  rep.private_data = private_data;
  Answer(id, rep, /*keep=*/status != SidrStatus::kUnsupportedServiceId, now_us);
}

void ServiceResolution::Answer(SidrId id, SidrRep rep, bool keep, uint64_t now_us) {
  const auto found = unanswered_.find(id);
  if (found == unanswered_.end()) return;
  const Requests::iterator request = found->second;
  unanswered_.erase(found);
  Request& r = request->second;
  rep.request_id = std::get<2>(request->first);
  rep.service_id = r.service_id;
  rep.private_data =
      rep.private_data.first(std::min(rep.private_data.size(), rdmacm::kSidrRepPrivateSize));
  rdmacm::EncodeMad({std::get<1>(request->first), rep}, r.answer);
  outgoing_.push_back({r.source, r.answer});
  r.answered = true;
  if (!keep) {
    requests_.erase(request);
    return;
  }
  answered_.emplace_back(CmLater(now_us, options_.remember_us), request);
  if (answered_.size() > options_.most_remembered) ForgetOldestAnswer();
}

void ServiceResolution::ForgetOldestAnswer() {
  const Requests::iterator oldest = answered_.front().second;
  if (oldest->second.interval_us != 0) repeats_.erase(oldest->second.repeated);
  requests_.erase(oldest);
  answered_.pop_front();
}

// Each interval is half of a peer's, so that the first that it does not lose comes before it asks
// again.
void ServiceResolution::RepeatAnswers(uint64_t service_id, uint64_t now_us) {
  for (const auto& [until_us, request] : answered_) {
    Request& r = request->second;
    if (r.service_id != service_id || r.interval_us != 0) continue;
    r.interval_us = std::max<uint64_t>(options_.first_interval_us / 2, 1);
    RepeatAnswer(request, now_us);
  }
}

void ServiceResolution::RepeatAnswer(Requests::iterator request, uint64_t now_us) {
  Request& r = request->second;
  outgoing_.push_back({r.source, r.answer});
  r.repeated = repeats_.emplace(CmLater(now_us, r.interval_us), request);
  r.interval_us =
      std::max(r.interval_us, std::min(2 * r.interval_us, options_.longest_interval_us));
}

}  // namespace softdat::softnet
