// SPDX-License-Identifier: BSD-3-Clause
// What a client asks a server to take part in, and the three control messages around it, as bytes.
// Pure. Both ends of a connection run jobs one after the other:
//
//   client                            server
//   Request(job, own memory)  ->
//                             <-      Reply(memory, or why not)
//   ... the transfers of the job ...
//   Done                      ->
//                             <-      Reply(what it found in the data)
#ifndef SOFTDAT_TOOLS_TRAFFIC_JOB_H_
#define SOFTDAT_TOOLS_TRAFFIC_JOB_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace softdat::tools {

enum class JobKind : uint8_t {
  kSendPingPong,   // a message there, a message back
  kWritePingPong,  // an RDMA write there, one back
  kReadPingPong,   // the client reads the server's memory; the server takes no part
  kWriteStream,    // the client writes, several at a time; the server takes no part
  kReadStream,     // the same with reads
};

// "send", "write", "read", "write stream", "read stream".
std::string_view JobKindName(JobKind kind);
std::optional<JobKind> FindJobKind(std::string_view name);

// How completions are awaited.
enum class WaitMode : uint8_t {
  kPoll,  // dat_evd_dequeue in a loop
  kWait,  // dat_evd_wait
};

struct Job {
  JobKind kind = JobKind::kSendPingPong;
  bool check = false;  // fill and verify the data
  WaitMode wait = WaitMode::kPoll;
  bool server_decides_wait = true;  // the server uses its own mode, not `wait`
  int16_t server_cpu = -1;          // pin the server's process to this CPU; -1: leave it alone
  uint32_t size = 4096;             // bytes of each transfer
  uint32_t window = 1;              // transfers outstanding, of the streams
  uint64_t iterations = 1000;
};

inline constexpr uint32_t kMaxJobSize = 1u << 30;
inline constexpr uint64_t kMaxIterations = uint64_t{1} << 40;
inline constexpr uint32_t kMaxWindow = 4096;

// Why a job cannot be run by anybody; "" if it can.
std::string JobProblem(const Job& job);

// Bytes moved by one iteration, both directions together.
uint64_t BytesPerIteration(const Job& job);

struct JobResult {
  double seconds = 0;  // of the transfers; streams: until the peer has confirmed the last one
  uint64_t bytes = 0;  // moved, both directions together
};

// Memory of the sender of a message that its peer may read and write.
struct RemoteMemory {
  uint64_t address = 0;
  uint32_t bytes = 0;
  uint32_t context = 0;
};

struct Request {
  Job job;
  RemoteMemory memory;
};

struct Reply {
  bool ok = true;
  std::string text;  // why not; cut to kMaxReplyText bytes
  RemoteMemory memory;
};

inline constexpr size_t kControlBytes = 256;
inline constexpr size_t kMaxReplyText = 200;

using ControlMessage = std::array<uint8_t, kControlBytes>;

ControlMessage EncodeRequest(const Request& request);
ControlMessage EncodeReply(const Reply& reply);
ControlMessage EncodeDone();

// The bytes come from a peer: anything that is not such a message of this version, or a job with
// values beyond the limits above, is refused with nothing.
std::optional<Request> DecodeRequest(std::span<const uint8_t> bytes);
std::optional<Reply> DecodeReply(std::span<const uint8_t> bytes);
bool IsDone(std::span<const uint8_t> bytes);

}  // namespace softdat::tools

#endif  // SOFTDAT_TOOLS_TRAFFIC_JOB_H_
