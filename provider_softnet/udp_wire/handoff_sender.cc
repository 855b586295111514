// SPDX-License-Identifier: BSD-3-Clause
// OfferToMember.
#include "provider_softnet/udp_wire/handoff_sender.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "dat/base/cancel.h"
#include "provider_softnet/driver/event_loop.h"
#include "provider_softnet/udp/handoff_sockets.h"
#include "provider_softnet/udp/member_names.h"
#include "provider_softnet/udp/member_sockets.h"

namespace softdat::softnet {
namespace {

Status Gone() { return Status(Code::kNotFound, "the program that listened there went away"); }
Status Late() {
  return Status(Code::kNoFreeQualifier, "the program that listens there did not answer in time");
}

int MillisecondsUntil(LoopClock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - LoopClock::now());
  return static_cast<int>(std::max<int64_t>(left.count(), 0));
}

// A member that has not read what was sent before is asked again and again.
Status SendUntil(LoopClock::time_point deadline, const MemberName& name, const MemberOffer& offer,
                 int answer, int lease) {
  constexpr int kPauseMs = 5;
  Result<UniqueFd> from = OpenHandOn();
  if (!from.ok()) return from.TakeStatus();
  while (true) {
    switch (SendOffer(from.value().get(), name, offer, answer, lease)) {
      case HandOnResult::kDone:
        return Status::Ok();
      case HandOnResult::kNobody:
        return Status(Code::kNotFound, "no program of this user on this host listens there");
      case HandOnResult::kFull:
        break;
    }
    const int left = MillisecondsUntil(deadline);
    if (left == 0) return Late();
    poll(nullptr, 0, std::min(left, kPauseMs));
  }
}

// What has been answered, without waiting. Nothing when no answer has come.
std::optional<Status> TakeVerdict(int fd) {
  uint8_t bytes[2];
  const Heard heard = HearOn(fd, bytes);
  if (heard.what == Heard::What::kNothing) return std::nullopt;
  if (heard.what == Heard::What::kGone) return Gone();
  if (heard.size != 1) bytes[0] = 0;
  switch (static_cast<OfferVerdict>(bytes[0])) {
    case OfferVerdict::kTaken:
      return Status::Ok();
    case OfferVerdict::kNoListener:
      return Gone();
    case OfferVerdict::kRefused:
      return Status(Code::kNoFreeQualifier, "the program that listens there refused the request");
  }
  return Status(Code::kNoFreeQualifier, "the program that listens there answered nonsense");
}

}  // namespace

bool AnswerOffer(int fd, OfferVerdict verdict) {
  const uint8_t byte = static_cast<uint8_t>(verdict);
  return SayOn(fd, {&byte, 1});
}

Status OfferToMember(const std::string& host, uint64_t service_id, const MemberOffer& offer,
                     int lease, std::chrono::milliseconds limit) {
  const CancelOff no_cancellation;
  const LoopClock::time_point deadline = LoopClock::now() + limit;
  Result<LocalPair> opened = OpenLocalPair();
  if (!opened.ok()) return opened.TakeStatus();
  LocalPair answer = opened.Take();
  if (Status s = SendUntil(deadline, ServiceName(geteuid(), host, service_id), offer,
                           answer.other.get(), lease);
      !s.ok()) {
    return s;
  }
  answer.other.Close();  // the end is to be seen when the other member dies
  const int fd = answer.own.get();
  while (true) {
    if (auto verdict = TakeVerdict(fd)) return std::move(*verdict);
    const int left = MillisecondsUntil(deadline);
    if (left == 0) break;
    pollfd p{fd, POLLIN, 0};
    poll(&p, 1, left);
  }
  // No answer can be sent after this. One that was sent before counts.
  shutdown(fd, SHUT_RD);
  const auto verdict = TakeVerdict(fd);
  return verdict && verdict->ok() ? Status::Ok() : Late();
}

}  // namespace softdat::softnet
