// SPDX-License-Identifier: BSD-3-Clause
// Plain TCP: connections, jobs and their loops.
#include "tools/bench/raw_link.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "tools/common/cpu.h"

namespace softdat::tools {
namespace {

constexpr std::string_view kNames[] = {"tcp-poll", "tcp-epoll", "tcp-stream"};

Outcome Errno(const char* what) {
  return Outcome::Fail(fmt::format("raw TCP: {}: {}", what, strerror(errno)));
}

sockaddr_in Loopback(uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  return address;
}

// Both ends are the same program on the same machine: the struct itself is the message.
using Header = std::array<uint8_t, sizeof(RawJob)>;

Header Pack(const RawJob& job) {
  Header header{};
  std::memcpy(header.data(), &job, sizeof job);
  return header;
}

bool Unpack(const Header& header, RawJob* job) {
  std::memcpy(job, header.data(), sizeof *job);
  return static_cast<size_t>(job->kind) < std::size(kNames) && job->size > 0 &&
         job->size <= kMaxRawSize && job->iterations > 0;
}

}  // namespace

std::string_view RawKindName(RawKind kind) { return kNames[static_cast<size_t>(kind)]; }

RawLink::~RawLink() { Close(); }

void RawLink::Close() {
  for (int* fd : {&listener_, &fd_, &epoll_}) {
    if (*fd >= 0) close(*fd);
    *fd = -1;
  }
}

Outcome RawLink::Listen(uint16_t* port) {
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = Loopback(0);
  socklen_t length = sizeof address;
  if (listener_ < 0 || bind(listener_, reinterpret_cast<sockaddr*>(&address), length) != 0 ||
      listen(listener_, 1) != 0 ||
      getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &length) != 0)
    return Errno("cannot listen");
  *port = ntohs(address.sin_port);
  return {};
}

Outcome RawLink::Accept() {
  const int fd = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  return fd < 0 ? Errno("accept") : Adopt(fd);
}

Outcome RawLink::Connect(uint16_t port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return Errno("socket");
  const sockaddr_in address = Loopback(port);
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    close(fd);
    return Errno("connect");
  }
  return Adopt(fd);
}

Outcome RawLink::Adopt(int fd) {
  fd_ = fd;
  const int on = 1;
  if (setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0) return Errno("TCP_NODELAY");
  epoll_ = epoll_create1(EPOLL_CLOEXEC);
  epoll_event event{};
  event.events = EPOLLIN;
  if (epoll_ < 0 || epoll_ctl(epoll_, EPOLL_CTL_ADD, fd_, &event) != 0) return Errno("epoll");
  return {};
}

Outcome RawLink::Run(const RawJob& job, double* seconds) {
  buffer_.assign(job.size, 0);
  const Header header = Pack(job);
  uint8_t ready = 0;
  SOFTDAT_TRY(Send(header.data(), header.size()));
  SOFTDAT_TRY(Receive(RawKind::kEpoll, &ready, 1));
  if (ready != 1) return Outcome::Fail("raw TCP: the server cannot run on the CPU asked for");
  const auto start = std::chrono::steady_clock::now();
  SOFTDAT_TRY(job.kind == RawKind::kStream ? StreamOut(job) : PingPong(job, false));
  *seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return {};
}

Outcome RawLink::Serve() {
  Outcome outcome = ServeJobs();
  // The client must not wait for a server that has given up.
  Close();
  return outcome;
}

Outcome RawLink::ServeJobs() {
  while (true) {
    // An end of the connection here is the end of the work.
    uint8_t peeked = 0;
    const ssize_t waiting = recv(fd_, &peeked, 1, MSG_PEEK);
    if (waiting == 0) return {};
    if (waiting < 0) return errno == EINTR ? Outcome() : Errno("recv");
    Header header{};
    SOFTDAT_TRY(Receive(RawKind::kEpoll, header.data(), header.size()));
    RawJob job;
    if (!Unpack(header, &job)) return Outcome::Fail("raw TCP: not a job");
    buffer_.assign(job.size, 0);
    const uint8_t ready = job.server_cpu < 0 || PinProcess(job.server_cpu) ? 1 : 0;
    SOFTDAT_TRY(Send(&ready, 1));
    if (ready == 0) continue;
    SOFTDAT_TRY(job.kind == RawKind::kStream ? StreamIn(job) : PingPong(job, true));
  }
}

Outcome RawLink::PingPong(const RawJob& job, bool is_server) {
  for (uint64_t i = 0; i < job.iterations; ++i) {
    if (!is_server) SOFTDAT_TRY(Send(buffer_.data(), job.size));
    SOFTDAT_TRY(Receive(job.kind, buffer_.data(), job.size));
    if (is_server) SOFTDAT_TRY(Send(buffer_.data(), job.size));
  }
  return {};
}

Outcome RawLink::StreamOut(const RawJob& job) {
  for (uint64_t i = 0; i < job.iterations; ++i) SOFTDAT_TRY(Send(buffer_.data(), job.size));
  uint8_t done = 0;
  return Receive(RawKind::kEpoll, &done, 1);
}

Outcome RawLink::StreamIn(const RawJob& job) {
  for (uint64_t i = 0; i < job.iterations; ++i)
    SOFTDAT_TRY(Receive(RawKind::kStream, buffer_.data(), job.size));
  const uint8_t done = 1;
  return Send(&done, 1);
}

Outcome RawLink::Receive(RawKind kind, uint8_t* data, size_t bytes) {
  size_t done = 0;
  while (done < bytes) {
    if (kind == RawKind::kEpoll) {
      epoll_event event{};
      if (epoll_wait(epoll_, &event, 1, -1) < 0 && errno != EINTR) return Errno("epoll_wait");
    }
    const int flags = kind == RawKind::kStream ? 0 : MSG_DONTWAIT;
    const ssize_t got = recv(fd_, data + done, bytes - done, flags);
    if (got > 0) {
      done += static_cast<size_t>(got);
    } else if (got == 0) {
      return Outcome::Fail("raw TCP: the other side has closed");
    } else if (errno != EAGAIN && errno != EINTR) {
      return Errno("recv");
    }
  }
  return {};
}

Outcome RawLink::Send(const uint8_t* data, size_t bytes) {
  while (bytes > 0) {
    const ssize_t sent = send(fd_, data, bytes, MSG_NOSIGNAL);
    if (sent < 0) {
      if (errno == EINTR) continue;
      return Errno("send");
    }
    data += sent;
    bytes -= static_cast<size_t>(sent);
  }
  return {};
}

}  // namespace softdat::tools
