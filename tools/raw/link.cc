// SPDX-License-Identifier: BSD-3-Clause
// Connections, and the agreement on jobs over them.
#include "tools/raw/link.h"

#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <string>
#include <utility>

#include "tools/common/cpu.h"
#include "tools/raw/socket_io.h"
#include "tools/raw/transfer.h"

namespace softdat::tools {
namespace {

constexpr size_t kMaxText = 200;

struct RawReply {
  bool ok = true;
  RawOffer offer{};
  char text[kMaxText + 1] = {};  // why not
};

Outcome SendRefusal(int fd, const Outcome& why) {
  RawReply reply;
  reply.ok = false;
  why.message().copy(reply.text, kMaxText);
  return SendAll(fd, &reply, sizeof reply);
}

}  // namespace

std::unique_ptr<RawTransfer> MakeRawTransfer(const RawJob& job, bool is_server, int fd) {
  switch (job.kind) {
    case RawKind::kTcpThread:
      return MakeTcpThreadTransfer(job, is_server, fd);
    case RawKind::kTcpRendezvous:
      return MakeTcpRendezvousTransfer(job, is_server, fd);
    case RawKind::kUdp:
    case RawKind::kUdpGso:
    case RawKind::kUdpGsoCrc:
      return MakeUdpTransfer(job, is_server);
    case RawKind::kShm:
      return MakeShmTransfer(job, is_server);
    case RawKind::kMemcpy:
      return MakeMemcpyTransfer(job, is_server);
    case RawKind::kProcessVm:
      return MakeProcessVmTransfer(job, is_server, fd);
    case RawKind::kVerbs:
      return MakeVerbsTransfer(job, is_server);
    case RawKind::kRds:
      return MakeRdsTransfer(job, is_server);
    default:
      return MakeTcpTransfer(job, is_server, fd);
  }
}

Outcome RawLink::Listen(uint16_t* port) {
  listener_ = UniqueFd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = Loopback(0);
  socklen_t length = sizeof address;
  const int fd = listener_.get();
  if (!listener_ || bind(fd, reinterpret_cast<sockaddr*>(&address), length) != 0 ||
      listen(fd, 1) != 0 || getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length) != 0)
    return RawErrno("cannot listen");
  *port = ntohs(address.sin_port);
  return {};
}

Outcome RawLink::Accept() {
  UniqueFd fd(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  return fd ? Adopt(std::move(fd)) : RawErrno("accept");
}

Outcome RawLink::Connect(uint16_t port) {
  UniqueFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in address = Loopback(port);
  if (!fd) return RawErrno("socket");
  if (connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return RawErrno("connect");
  return Adopt(std::move(fd));
}

Outcome RawLink::Adopt(UniqueFd fd) {
  fd_ = std::move(fd);
  const int on = 1;
  const int set = setsockopt(fd_.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return set == 0 ? Outcome() : RawErrno("TCP_NODELAY");
}

Outcome RawLink::Run(const RawJob& job, JobResult* result) {
  const auto transfer = MakeRawTransfer(job, false, fd_.get());
  RawRequest request;
  request.job = job;
  SOFTDAT_TRY(transfer->Prepare(&request.offer));
  SOFTDAT_TRY(SendAll(fd_.get(), &request, sizeof request));
  RawReply reply;
  SOFTDAT_TRY(ReceiveAll(fd_.get(), &reply, sizeof reply));
  reply.text[kMaxText] = 0;
  if (!reply.ok) return Outcome::Fail(std::string("the server refused: ") + reply.text);
  SOFTDAT_TRY(transfer->Meet(reply.offer));
  const uint8_t ready = 1;
  SOFTDAT_TRY(SendAll(fd_.get(), &ready, sizeof ready));
  const double cpu = ProcessSeconds();
  const auto start = std::chrono::steady_clock::now();
  SOFTDAT_TRY(transfer->Run());
  result->seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  result->client_cpu = ProcessSeconds() - cpu;
  result->bytes = job.iterations * job.size * (job.shape == Shape::kLatency ? 2 : 1);
  return ReceiveAll(fd_.get(), &result->server_cpu, sizeof result->server_cpu);
}

Outcome RawLink::Serve() {
  Outcome outcome = ServeJobs();
  // The client must not wait for a server that has given up.
  fd_ = UniqueFd();
  return outcome;
}

Outcome RawLink::ServeJobs() {
  while (true) {
    // If the connection ends here, the work ends.
    uint8_t peeked = 0;
    const ssize_t waiting = recv(fd_.get(), &peeked, 1, MSG_PEEK);
    if (waiting == 0) return {};
    if (waiting < 0) {
      if (errno == EINTR) continue;
      return RawErrno("recv");
    }
    RawRequest request;
    SOFTDAT_TRY(ReceiveAll(fd_.get(), &request, sizeof request));
    if (const std::string problem = RawJobProblem(request.job); !problem.empty())
      return Outcome::Fail("raw: not a job: " + problem);
    SOFTDAT_TRY(ServeJob(request));
  }
}

Outcome RawLink::ServeJob(const RawRequest& request) {
  const auto transfer = MakeRawTransfer(request.job, true, fd_.get());
  RawReply reply;
  if (const Outcome prepared = transfer->Prepare(&reply.offer); !prepared.ok())
    return SendRefusal(fd_.get(), prepared);
  SOFTDAT_TRY(SendAll(fd_.get(), &reply, sizeof reply));
  SOFTDAT_TRY(transfer->Meet(request.offer));
  uint8_t ready = 0;
  SOFTDAT_TRY(ReceiveAll(fd_.get(), &ready, sizeof ready));
  const double cpu = ProcessSeconds();
  SOFTDAT_TRY(transfer->Run());
  const double used = ProcessSeconds() - cpu;
  return SendAll(fd_.get(), &used, sizeof used);
}

}  // namespace softdat::tools
