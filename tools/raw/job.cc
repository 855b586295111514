// SPDX-License-Identifier: BSD-3-Clause
// Names and limits of the floors.
#include "tools/raw/job.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace softdat::tools {
namespace {

constexpr std::string_view kNames[] = {
    "tcp-poll",       "tcp-epoll",     "tcp-block", "tcp-gather", "tcp-confirm", "tcp-thread",
    "tcp-rendezvous", "tcp-handshake", "udp",       "udp-gso",    "udp-gso-crc", "shm",
    "memcpy",         "process-vm",    "verbs",     "rds"};

std::string RdsJobProblem(const RawJob& job) {
  if (job.size > kMaxRds) return fmt::format("RDS carries up to {} bytes at once", kMaxRds);
  const bool rdma = job.operation == Operation::kWrite || job.operation == Operation::kRead;
  if (rdma ? job.shape == Shape::kStream : job.operation == Operation::kSend) return "";
  return "over RDS go messages there and back, and streams of messages, RDMA writes and RDMA reads";
}

}  // namespace

std::string_view RawKindName(RawKind kind) { return kNames[static_cast<size_t>(kind)]; }

std::optional<RawKind> FindRawKind(std::string_view name) {
  const auto* at = std::find(std::begin(kNames), std::end(kNames), name);
  if (at == std::end(kNames)) return std::nullopt;
  return static_cast<RawKind>(at - std::begin(kNames));
}

RawJob FloorOf(RawKind kind, const Job& job) {
  const Operation operation = IsLayered(job.operation) ? Operation::kSend : job.operation;
  return {kind, operation, job.shape, job.size, job.window, job.wait, job.iterations};
}

std::string RawJobProblem(const RawJob& job) {
  if (static_cast<size_t>(job.kind) >= std::size(kNames)) return "unknown kind of floor";
  const std::string_view name = RawKindName(job.kind);
  if (job.size == 0 || job.size > kMaxRawSize)
    return fmt::format("a raw size must be 1 to {} bytes", kMaxRawSize);
  if (job.window == 0 || job.window > kMaxRawWindow)
    return fmt::format("a raw window must be 1 to {}", kMaxRawWindow);
  if (job.iterations == 0) return "no iterations";
  if (IsLayered(job.operation)) return "a floor has no message layer";
  const bool cut = job.kind == RawKind::kUdpGso || job.kind == RawKind::kUdpGsoCrc;
  const bool datagrams = job.kind == RawKind::kUdp || cut;
  if (datagrams && job.size > kMaxDatagram)
    return fmt::format("raw:{} has messages of up to {} bytes, a datagram each", name,
                       kMaxDatagram);
  if (job.kind == RawKind::kRds) return RdsJobProblem(job);
  const bool streams_only =
      job.kind == RawKind::kTcpGather || job.kind == RawKind::kTcpConfirm || cut;
  if (streams_only && job.shape != Shape::kStream)
    return fmt::format("raw:{} gathers messages: it is for bandwidth and rates, not for latency",
                       name);
  const bool latency_only = job.kind == RawKind::kTcpThread || job.kind == RawKind::kTcpRendezvous;
  if (latency_only && job.shape == Shape::kStream)
    return fmt::format("raw:{} goes there and back: it is for latency, not for bandwidth and rates",
                       name);
  return "";
}

}  // namespace softdat::tools
