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

#include "dat/backend_kit/cancel.h"
#include "provider_softnet/driver/descriptor_limit.h"
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

// Makes a local socket that is connected to the name. kNotFound when nobody listens on it.
Result<UniqueFd> ConnectTo(const HandoffAddress& name, LoopClock::time_point deadline) {
  if (name.size == 0) return Status(Code::kNotFound, "its address has no short name");
  UniqueFd fd;
  do {
    fd = UniqueFd(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  } while (!fd.valid() && errno == EMFILE && RaiseDescriptorLimit());
  if (!fd.valid()) return OsFailure("no local socket", errno);
  while (connect(fd.get(), reinterpret_cast<const sockaddr*>(&name.address), name.size) != 0) {
    if (errno == EINTR) continue;
    if (errno == ECONNREFUSED) {
      return Status(Code::kNotFound, "no program of this user on this host listens there");
    }
    if (errno != EAGAIN) return OsFailure("cannot reach the program that listens there", errno);
    // The backlog is full, because other processes hand requests to it, too.
    constexpr int kPauseMs = 5;
    const int left = MillisecondsUntil(deadline);
    if (left == 0) return Late();
    poll(nullptr, 0, std::min(left, kPauseMs));
  }
  // Anybody can take a name, but only this user's programs may have this user's connections.
  if (!IsTrustedPeer(fd.get())) {
    return Status(Code::kNotFound, "the program that listens there is another user's");
  }
  return fd;
}

Status SendOffer(int to, const HandoffOffer& offer, int connection) {
  std::array<uint8_t, kMaxHandoffOffer> bytes;
  const size_t size = EncodeHandoffOffer(offer, bytes);
  if (size == 0) return Status(Code::kInternal, "an MPA Request that is too long");
  iovec iov{bytes.data(), size};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr m{};
  m.msg_iov = &iov;
  m.msg_iovlen = 1;
  m.msg_control = control;
  m.msg_controllen = sizeof(control);
  cmsghdr* const c = CMSG_FIRSTHDR(&m);
  c->cmsg_level = SOL_SOCKET;
  c->cmsg_type = SCM_RIGHTS;
  c->cmsg_len = CMSG_LEN(sizeof(int));
  memcpy(CMSG_DATA(c), &connection, sizeof(int));
  ssize_t n;
  do {
    n = sendmsg(to, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
  } while (n < 0 && errno == EINTR);
  if (n == static_cast<ssize_t>(size)) return Status::Ok();
  if (n < 0 && (errno == EPIPE || errno == ECONNRESET)) return Gone();
  return OsFailure("cannot pass the connection on", n < 0 ? errno : EMSGSIZE);
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
  Result<UniqueFd> to = ConnectTo(HandoffAddressOf(geteuid(), host, offer.conn_qual), deadline);
  if (!to.ok() && to.status().code() == Code::kNotFound) {
    to = ConnectTo(HandoffAddressOf(geteuid(), "", offer.conn_qual), deadline);
  }
  if (!to.ok()) return to.TakeStatus();
  if (Status s = SendOffer(to.value().get(), offer, fd); !s.ok()) return s;
  return AwaitAnswer(to.value().get(), deadline);
}

}  // namespace softdat::softnet
