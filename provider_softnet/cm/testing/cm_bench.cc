// SPDX-License-Identifier: BSD-3-Clause
// CmBench.
#include "provider_softnet/cm/testing/cm_bench.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstring>

#include "wire/bytes.h"

namespace softdat::softnet::testing {

using rdmacm::CmMessage;

sockaddr_storage Host(uint8_t last) {
  sockaddr_in in{};
  in.sin_family = AF_INET;
  in.sin_addr.s_addr = htonl(0x0a000000u + last);
  sockaddr_storage address{};
  std::memcpy(&address, &in, sizeof(in));
  return address;
}

std::string NameOf(CmState state) {
  switch (state) {
    case CmState::kNone:
      return "none";
    case CmState::kRequestSent:
      return "request sent";
    case CmState::kPausing:
      return "pausing";
    case CmState::kReplyReceived:
      return "reply received";
    case CmState::kRequestReceived:
      return "request received";
    case CmState::kWithdrawn:
      return "withdrawn";
    case CmState::kHandedOff:
      return "handed off";
    case CmState::kReplySent:
      return "reply sent";
    case CmState::kEstablished:
      return "established";
    case CmState::kDisconnecting:
      return "disconnecting";
    case CmState::kTimeWait:
      return "time-wait";
    case CmState::kRejected:
      return "rejected";
  }
  return "?";
}

std::string NameOf(const CmEvent& event) {
  struct Namer {
    std::string operator()(const CmRequestArrived&) { return "request"; }
    std::string operator()(const CmWithdrawn&) { return "withdrawn"; }
    std::string operator()(const CmForNewOwner& e) {
      static constexpr const char* kWhat[] = {"again", "withdrawn", "forgotten"};
      return std::string("new owner:") + kWhat[static_cast<size_t>(e.what)];
    }
    std::string operator()(const CmReplyArrived&) { return "reply"; }
    std::string operator()(const CmEstablished&) { return "established"; }
    std::string operator()(const CmFailed& e) {
      static constexpr const char* kReasons[] = {"peer", "non-peer", "unreachable", "timed out",
                                                 "aborted"};
      return std::string("failed:") + kReasons[static_cast<size_t>(e.reason)];
    }
    std::string operator()(const CmDisconnected& e) {
      static constexpr const char* kBy[] = {"peer", "stale", "self"};
      return std::string("disconnected:") + kBy[static_cast<size_t>(e.by)];
    }
    std::string operator()(const CmOver&) { return "over"; }
  };
  return std::visit(Namer{}, event);
}

CmBench::CmBench(const CmOptions& options) : cm_(options, [this] { return random_(); }) {
  StoreBe64(peer_guid_.data(), kPeerGuid);
}

void CmBench::Wait() {
  if (cm_.deadline_us() == kCmNever) return;
  now_us = std::max(now_us, cm_.deadline_us());
  cm_.OnTime(now_us);
}

void CmBench::Later(uint64_t delay_us) {
  const uint64_t until_us = now_us + delay_us;
  while (cm_.deadline_us() <= until_us) Wait();
  now_us = until_us;
}

void CmBench::Receive(const CmMessage& message, uint8_t from) {
  std::array<uint8_t, rdmacm::kMadSize> octets;
  rdmacm::EncodeMad({kPeerTransaction, message}, octets);
  cm_.OnMad(Host(from), octets, now_us);
}

std::vector<CmBench::Sent> CmBench::TakeSent() {
  std::vector<Sent> all;
  while (const auto out = cm_.TakeOutgoing()) {
    Sent& sent = all.emplace_back();
    sent.to = out->to;
    sent.octets = out->mad;
  }
  // The messages point into their octets, which do not move any more.
  for (Sent& sent : all) {
    rdmacm::Mad mad;
    rdmacm::ParseMad(sent.octets, &mad);
    sent.transaction_id = mad.transaction_id;
    sent.message = mad.message;
  }
  return all;
}

std::vector<CmEvent> CmBench::TakeEvents() {
  std::vector<CmEvent> all;
  while (auto event = cm_.TakeEvent()) all.push_back(std::move(*event));
  return all;
}

std::string CmBench::TakeAll() {
  std::string text;
  for (const Sent& sent : TakeSent()) {
    text += rdmacm::CmMessageText(sent.message);
    if (const auto* rej = std::get_if<rdmacm::CmRej>(&sent.message); rej != nullptr)
      text += ":" + std::to_string(static_cast<int>(rej->reason));
    text += " ";
  }
  text += "|";
  for (const CmEvent& event : TakeEvents()) text += " " + NameOf(event);
  return text;
}

rdmacm::CmReq CmBench::Req() const {
  rdmacm::CmReq req;
  req.local_comm_id = kPeerCommId;
  req.service_id = kService;
  req.local_ca_guid = kPeerGuid;
  req.local_qpn = kPeerQpn;
  req.responder_resources = 7;
  req.initiator_depth = 3;
  req.starting_psn = kPeerPsn;
  req.path_mtu = 3;
  req.retry_count = 6;
  req.rnr_retry_count = 5;
  req.primary.local_ack_timeout = 15;
  return req;
}

rdmacm::CmRep CmBench::Rep() const {
  rdmacm::CmRep rep;
  rep.local_comm_id = kPeerCommId;
  rep.remote_comm_id = comm_id;
  rep.local_qpn = kPeerQpn;
  rep.starting_psn = kPeerPsn;
  rep.responder_resources = 2;
  rep.initiator_depth = 9;
  rep.local_ca_guid = kPeerGuid;
  return rep;
}

rdmacm::CmRej CmBench::Rej(rdmacm::RejectReason reason) const {
  return {.local_comm_id = kPeerCommId, .remote_comm_id = comm_id, .reason = reason};
}

rdmacm::CmRej CmBench::RejOfUnknown() {
  return {.local_comm_id = kPeerCommId,
          .answered = rdmacm::Answered::kOther,
          .reason = rdmacm::RejectReason::kTimeout,
          .info = peer_guid_};
}

rdmacm::CmMra CmBench::Mra(rdmacm::Answered answered, uint8_t service_timeout) const {
  return {kPeerCommId, comm_id, answered, service_timeout, {}};
}

CmConnect CmBench::Parameters() const {
  CmConnect p;
  p.local = Host(1);
  p.remote = Host(2);
  p.service_id = kService;
  p.qpn = kOwnQpn;
  p.starting_psn = kOwnPsn;
  p.depths = {.in = 4, .out = 5};
  return p;
}

void CmBench::Connect(const CmConnect& parameters) {
  id = cm_.Connect(parameters, now_us);
  const std::vector<Sent> sent = TakeSent();
  if (sent.size() == 1) comm_id = std::get<rdmacm::CmReq>(sent[0].message).local_comm_id;
}

void CmBench::ReplyArrives() {
  Connect();
  Receive(Rep());
  TakeAll();
}

void CmBench::EstablishActively() {
  ReplyArrives();
  cm_.ReadyToUse(id);
  TakeAll();
}

void CmBench::RequestArrives() {
  Receive(Req());
  const auto event = TakeOnly<CmRequestArrived>();
  if (event.has_value()) id = event->id;
}

void CmBench::Accept() {
  RequestArrives();
  CmAccept p;
  p.qpn = kOwnQpn;
  p.starting_psn = kOwnPsn;
  p.depths = {.in = 4, .out = 5};
  cm_.Accept(id, p, now_us);
  const std::vector<Sent> sent = TakeSent();
  if (sent.size() == 1) comm_id = std::get<rdmacm::CmRep>(sent[0].message).local_comm_id;
}

void CmBench::EstablishPassively() {
  Accept();
  Receive(Rtu());
  TakeAll();
}

}  // namespace softdat::softnet::testing
