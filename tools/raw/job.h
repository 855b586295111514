// SPDX-License-Identifier: BSD-3-Clause
// The floors with which DAT is compared: the same loops without any of our stack. A client asks a
// server to take part in one of them. Pure.
#ifndef SOFTDAT_TOOLS_RAW_JOB_H_
#define SOFTDAT_TOOLS_RAW_JOB_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tools/traffic/job.h"

namespace softdat::tools {

enum class RawKind : uint8_t {
  kTcpPoll,        // each side spins on a recv that does not block
  kTcpEpoll,       // each side sleeps in epoll_wait, then receives
  kTcpBlock,       // each side sleeps in recv
  kTcpGather,      // streams: `window` messages per system call; the server takes what is there
  kTcpConfirm,     // the same in halves of `window`, each of which the server confirms; each side
                   // spins
  kTcpThread,      // each side spins on memory, and a thread of it sleeps in recv
  kTcpRendezvous,  // each message is announced, and sent after an answer; each side spins
  kTcpHandshake,   // connections: two small messages there and two back before the end; else as
                   // kTcpBlock
  kUdp,            // each side spins; streams: one sendmmsg and recvmmsg for `window` datagrams
  kUdpGso,         // streams: one sendmsg that the kernel cuts into `window` datagrams
  kUdpGsoCrc,      // the same, and each side computes a CRC-32 of each datagram
  kShm,            // a ring in memory that both processes share; each side spins; two copies
  kMemcpy,         // no server: memcpy from one buffer to another
  kProcessVm,      // process_vm_readv from the server's memory; the server sleeps
  kVerbs,          // an RDMA device through libibverbs, polling its completion queue
  kRds,            // no floor: RDS sockets of librds.so over the IA that SOFTDAT_RDS_IA names
};

// "tcp-poll", "tcp-epoll", "tcp-block", "tcp-gather", "tcp-confirm", "tcp-thread",
// "tcp-rendezvous", "tcp-handshake", "udp", "udp-gso", "udp-gso-crc", "shm", "memcpy",
// "process-vm", "verbs", "rds".
std::string_view RawKindName(RawKind kind);
std::optional<RawKind> FindRawKind(std::string_view name);

struct RawJob {
  RawKind kind = RawKind::kTcpPoll;
  Operation operation = Operation::kSend;  // for kVerbs and kRds; sockets know only messages
  Shape shape = Shape::kLatency;
  uint32_t size = 64;
  uint32_t window = 64;             // of streams
  WaitMode wait = WaitMode::kPoll;  // for kRds: kWait in the call, kFd in poll
  uint64_t iterations = 1;
};

inline constexpr uint32_t kMaxRawSize = 1u << 26;
inline constexpr uint32_t kMaxRawWindow = 1024;
inline constexpr uint32_t kMaxDatagram = 60000;
inline constexpr uint32_t kMaxRds = 1u << 20;  // of a message, and of RDMA

// What a floor does for a job: a message of a message layer is one message of that size.
RawJob FloorOf(RawKind kind, const Job& job);

// Returns the reason why nobody can run a job, or "".
std::string RawJobProblem(const RawJob& job);

// The information that the two ends of a job need about each other: a port, a shared memory, an
// address.
using RawOffer = std::array<uint8_t, 64>;

// Both ends are the same program on the same machine, so the structs themselves are the message.
struct RawRequest {
  RawJob job;
  RawOffer offer{};
};

}  // namespace softdat::tools

#endif  // SOFTDAT_TOOLS_RAW_JOB_H_
