// SPDX-License-Identifier: BSD-3-Clause
// OfferToProcess.
#include "provider_softnet/tcp/handoff_sender.h"

#include <errno.h>
#include <fmt/format.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>

#include "dat/base/cancel.h"
#include "provider_softnet/driver/event_loop.h"
#include "provider_softnet/driver/unique_fd.h"

namespace softdat::softnet {
namespace {

Status OsFailure(const char* what, int error) {
  return Status(Code::kNoResources, fmt::format("{}: {}", what, strerror(error)));
}
Status Gone() { return Status(Code::kNotFound, "the program that listened there went away"); }
Status Late() {
  return Status(Code::kNoFreeQualifier, "the program that listens there did not answer in time");
}

int MillisecondsUntil(LoopClock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - LoopClock::now());
  return static_cast<int>(std::max<int64_t>(left.count(), 0));
}

// Makes a local socket that is connected to the name. kNotFound when nobody of this user listens.
Result<UniqueFd> Reach(const LocalName& name, LoopClock::time_point deadline) {
  if (name.size == 0) return Status(Code::kNotFound, "its address has no short name");
  UniqueFd fd = OpenLocalSocket();
  if (!fd.valid()) return OsFailure("no local socket", errno);
  while (const int error = ConnectTo(fd.get(), name)) {
    if (error == ECONNREFUSED) {
      return Status(Code::kNotFound, "no program of this user on this host listens there");
    }
    if (error != EAGAIN) return OsFailure("cannot reach the program that listens there", error);
    // The backlog is full, because other processes hand requests to it, too.
    constexpr int kPauseMs = 5;
    const int left = MillisecondsUntil(deadline);
    if (left == 0) return Late();
    poll(nullptr, 0, std::min(left, kPauseMs));
  }
  return fd;
}

Status SendOffer(int to, const HandoffOffer& offer, int connection) {
  std::array<uint8_t, kMaxHandoffOffer> bytes;
  const size_t size = EncodeHandoffOffer(offer, bytes);
  if (size == 0) return Status(Code::kInternal, "an MPA Request that is too long");
  const int error = SendWithDescriptor(to, {bytes.data(), size}, connection);
  if (error == 0) return Status::Ok();
  if (error == EPIPE || error == ECONNRESET) return Gone();
  return OsFailure("cannot pass the connection on", error);
}

// Reads an answer without waiting. Returns false when none has come.
bool TakeAnswer(int fd, Status* out) {
  uint8_t bytes[kHandoffAnswerSize + 1];
  ssize_t n;
  do {
    n = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT);
  } while (n < 0 && errno == EINTR);
  if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return false;
  if (n <= 0) {
    *out = Gone();
    return true;
  }
  const auto verdict = DecodeHandoffAnswer({bytes, static_cast<size_t>(n)});
  if (verdict == HandoffVerdict::kTaken) {
    *out = Status::Ok();
  } else if (verdict == HandoffVerdict::kNoListener) {
    *out = Gone();
  } else if (verdict == HandoffVerdict::kRefused) {
    *out = Status(Code::kNoFreeQualifier, "the program that listens there refused the request");
  } else {
    *out = Status(Code::kNoFreeQualifier, "the program that listens there answered nonsense");
  }
  return true;
}

Status AwaitAnswer(int fd, LoopClock::time_point deadline) {
  Status status;
  while (true) {
    if (TakeAnswer(fd, &status)) return status;
    const int left = MillisecondsUntil(deadline);
    if (left == 0) break;
    pollfd p{fd, POLLIN, 0};
    poll(&p, 1, left);
  }
  // No answer can be sent after this. One that was sent before counts.
  shutdown(fd, SHUT_RD);
  if (TakeAnswer(fd, &status) && status.ok()) return status;
  return Late();
}

}  // namespace

Status OfferToProcess(const HandoffOffer& offer, const std::string& host, int fd,
                      std::chrono::milliseconds limit) {
  const CancelOff no_cancellation;
  const LoopClock::time_point deadline = LoopClock::now() + limit;
  Result<UniqueFd> to = Reach(HandoffAddressOf(geteuid(), host, offer.conn_qual), deadline);
  if (!to.ok() && to.status().code() == Code::kNotFound) {
    to = Reach(HandoffAddressOf(geteuid(), "", offer.conn_qual), deadline);
  }
  if (!to.ok()) return to.TakeStatus();
  if (Status s = SendOffer(to.value().get(), offer, fd); !s.ok()) return s;
  return AwaitAnswer(to.value().get(), deadline);
}

}  // namespace softdat::softnet
