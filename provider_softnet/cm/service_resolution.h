// SPDX-License-Identifier: BSD-3-Clause
// Service resolution over RoCE, without I/O: how queue pairs for datagrams meet, by SIDR, with the
// conventions of rdma_cm. It is the part of communication management that makes no connection.
// MADs, the time and the consumer's calls go in; MADs and events come out. It is used like a
// CommunicationManager: the consumer empties both queues after each call, and calls OnTime() when
// deadline_us() has come.
//
// Messages get lost. A question is asked again until it is answered or its time is up, and an
// answer is kept for a while and given again to whoever asks the same again. So each Resolve has
// exactly one outcome, and each question comes to the consumer once. Nobody tells the answering end
// whether its answer has arrived.
#ifndef SOFTDAT_PROVIDER_SOFTNET_CM_SERVICE_RESOLUTION_H_
#define SOFTDAT_PROVIDER_SOFTNET_CM_SERVICE_RESOLUTION_H_

#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "provider_softnet/cm/cm_events.h"
#include "provider_softnet/cm/cm_options.h"
#include "provider_softnet/cm/sidr_events.h"
#include "wire/bytes.h"
#include "wire/rdmacm/cm_messages.h"
#include "wire/rdmacm/mad.h"

namespace softdat::softnet {

class ServiceResolution {
 public:
  // `random` gives 64 bits that peers cannot foresee.
  ServiceResolution(const CmOptions& options, std::function<uint64_t()> random);
  ServiceResolution(const ServiceResolution&) = delete;
  ServiceResolution& operator=(const ServiceResolution&) = delete;

  // A message for the queue pair with number 1. Those that are not of SIDR are ignored, and so is
  // the port of `source`.
  void OnMad(const sockaddr_storage& source, const rdmacm::Mad& mad, uint64_t now_us);
  void OnTime(uint64_t now_us);
  uint64_t deadline_us() const;

  std::optional<CmOutgoing> TakeOutgoing();
  std::optional<SidrEvent> TakeEvent();

  // SidrResolved or SidrFailed follows.
  SidrId Resolve(const SidrResolve& parameters, uint64_t now_us);
  // The one who asked is gone, and is told nothing any more.
  void Cancel(SidrId id);

  // The answer to SidrRequestArrived. A call for what is answered already does nothing.
  void Accept(SidrId id, const SidrAccept& parameters, uint64_t now_us);
  // `status` is not kOk. `private_data`: at most kSidrRepPrivateSize bytes.
  void Refuse(SidrId id, rdmacm::SidrStatus status, ByteSpan private_data, uint64_t now_us);

  // Nobody listens for the service here any more. What a peer asks again may come to another member
  // of this address, which knows nothing of the answer: so the answers are repeated unasked.
  void RepeatAnswers(uint64_t service_id, uint64_t now_us);

  // Questions of both ends that are not forgotten.
  size_t size() const { return asked_.size() + requests_.size(); }

 private:
  using MadBytes = std::array<uint8_t, rdmacm::kMadSize>;
  // An own question, by its request id.
  struct Question {
    SidrId id = 0;
    sockaddr_storage address{};
    rdmacm::Gid gid{};
    MadBytes mad{};
    uint64_t next_us = 0;  // when it is asked again
    uint64_t interval_us = 0;
    uint64_t pause_us = 0;  // the next one, after "nobody listens"
    uint32_t tries = 0;
    uint32_t tries_left = 0;
    uint64_t started_us = 0;
    uint64_t limit_us = kCmNever;
    uint64_t grace_until_us = 0;
    uint64_t deadline_us = kCmNever;  // as it stands in deadlines_
  };
  using Questions = std::unordered_map<uint32_t, Question>;
  // A peer's question: its host, its transaction, its request id. A process that begins anew may
  // draw an id again, but not the transaction with it.
  using RequestKey = std::tuple<rdmacm::Gid, uint64_t, uint32_t>;
  struct Request;
  using Requests = std::map<RequestKey, Request>;
  // Answers that are repeated unasked, and when next.
  using Repeats = std::multimap<uint64_t, Requests::iterator>;
  struct Request {
    SidrId id = 0;
    sockaddr_storage source{};
    uint64_t service_id = 0;
    bool answered = false;
    MadBytes answer{};
    uint64_t interval_us = 0;      // 0: not repeated unasked
    Repeats::iterator repeated{};  // its place there
  };

  uint32_t FreshRequestId();
  void Ask(uint32_t request_id, Question* q, uint64_t now_us);
  void Arm(uint32_t request_id, Question* q, uint64_t deadline_us);
  void OnQuestionDue(uint32_t request_id, uint64_t now_us);
  void Fail(Questions::iterator question, transport::RejectReason reason, std::string why);
  void Forget(Questions::iterator question);

  void OnRequest(const sockaddr_storage& source, uint64_t transaction_id,
                 const rdmacm::SidrReq& req);
  void OnReply(const sockaddr_storage& source, const rdmacm::SidrRep& rep, uint64_t now_us);
  void OnRefused(Questions::iterator question, const rdmacm::SidrRep& rep, uint64_t now_us);
  // Sends the answer, and keeps it if `keep`.
  void Answer(SidrId id, rdmacm::SidrRep rep, bool keep, uint64_t now_us);
  void ForgetOldestAnswer();
  void RepeatAnswer(Requests::iterator request, uint64_t now_us);

  const CmOptions options_;
  const std::function<uint64_t()> random_;
  std::deque<CmOutgoing> outgoing_;
  std::deque<SidrEvent> events_;
  SidrId last_id_ = 0;

  Questions asked_;
  std::unordered_map<SidrId, uint32_t> asked_by_id_;
  std::set<std::pair<uint64_t, uint32_t>> deadlines_;  // of own questions

  Requests requests_;
  std::unordered_map<SidrId, Requests::iterator> unanswered_;
  // Answers that are kept, and until when; oldest first.
  std::deque<std::pair<uint64_t, Requests::iterator>> answered_;
  Repeats repeats_;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_CM_SERVICE_RESOLUTION_H_
