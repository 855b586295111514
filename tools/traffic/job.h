// SPDX-License-Identifier: BSD-3-Clause
// The job in which a client asks a server to take part, and the three control messages around it,
// as bytes. Pure. Both ends of a connection run jobs one after the other:
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

enum class Operation : uint8_t {
  kSend,
  kWrite,
  kRead,
  kWriteImmediate,  // this and the atomics need the InfiniBand extension
  kFetchAndAdd,
  kCompareAndSwap,
  kMessage,  // of a message layer (message_layer.h), by write if it is large
  kMessageByRead,
};

// "send", "write", "read", "write_imm", "fetch_and_add", "cmp_and_swap", "message",
// "message_by_read".
std::string_view OperationName(Operation operation);
std::optional<Operation> FindOperation(std::string_view name);
// Atomics transfer 64-bit words, whatever size is asked for.
bool IsAtomic(Operation operation);
// Whether the program at the other end takes no part in it.
bool IsOneSided(Operation operation);
// Whether a message layer carries it out, by several transfers.
bool IsLayered(Operation operation);

enum class Shape : uint8_t {
  kLatency,  // one there, one back; a read or an atomic: one, again and again
  kStream,   // several outstanding, from the client (and if `both_ways`, from the server)
};

// How completions are awaited.
enum class WaitMode : uint8_t {
  kPoll,    // dat_evd_dequeue in a loop
  kWait,    // dat_evd_wait
  kCno,     // dat_cno_wait, then dat_evd_dequeue
  kFd,      // epoll_wait on the descriptor of a CNO, then dat_evd_dequeue
  kMemory,  // looks only at the memory that an RDMA write changes
};
inline constexpr size_t kWaitModes = 5;

// "poll", "wait", "cno", "fd", "memory".
std::string_view WaitModeName(WaitMode mode);
std::optional<WaitMode> FindWaitMode(std::string_view name);

struct Job {
  Operation operation = Operation::kSend;
  Shape shape = Shape::kLatency;
  bool both_ways = false;  // for streams
  bool check = false;      // fill and verify the data
  WaitMode wait = WaitMode::kPoll;
  bool server_decides_wait = true;  // the server uses its own mode, not `wait`
  uint32_t size = 4096;             // bytes of each transfer
  uint32_t window = 1;              // transfers outstanding, for streams
  uint32_t signal_every = 1;        // for streams: one completion for this many transfers
  // In a row each way, if they go there and back: so many sends, or an RDMA write and then a
  // message that tells of it.
  uint32_t messages = 1;
  uint64_t iterations = 1000;

  bool IsPingPong() const { return shape == Shape::kLatency && !IsOneSided(operation); }
  bool IsStream() const { return shape == Shape::kStream; }
  // If an end cannot see an RDMA write there and back by looking at memory, or is not meant to, an
  // empty message after the write tells of it. `own_wait` is how that end waits.
  bool HasNotices(WaitMode own_wait) const {
    return IsPingPong() && operation == Operation::kWrite &&
           (messages > 1 || (own_wait != WaitMode::kPoll && own_wait != WaitMode::kMemory));
  }
  // The transfers with data in a row each way.
  uint32_t TransfersInARow() const { return operation == Operation::kWrite ? 1 : messages; }
};

inline constexpr uint32_t kMaxJobSize = 1u << 30;
inline constexpr uint64_t kMaxIterations = uint64_t{1} << 40;
inline constexpr uint32_t kMaxWindow = 4096;
inline constexpr uint32_t kAtomicBytes = 8;
inline constexpr uint32_t kMaxMessages = 4;

// Returns the reason why nobody can run a job, or "".
std::string JobProblem(const Job& job);

// The bytes that one iteration moves, in both directions together.
uint64_t BytesPerIteration(const Job& job);

struct JobResult {
  double seconds = 0;  // for the transfers; streams: until the peer has confirmed the last one
  uint64_t bytes = 0;  // moved, both directions together
  // The processor time of all threads of the two processes, in user space and in the kernel, in
  // seconds.
  double client_cpu = 0;
  double server_cpu = 0;
};

// The memory of a message's sender that its peer may read and write.
struct RemoteMemory {
  uint64_t address = 0;
  uint32_t bytes = 0;
  uint32_t context = 0;
};

struct Request {
  Job job;
  RemoteMemory memory;
  uint32_t receives = 0;  // that the client keeps posted
};

struct Reply {
  bool ok = true;
  std::string text;  // why not; cut to kMaxReplyText bytes
  RemoteMemory memory;
  uint32_t receives = 0;  // that the server keeps posted
  uint64_t cpu_us = 0;    // processor time that the job took there; in the last reply
};

inline constexpr size_t kControlBytes = 256;
inline constexpr size_t kMaxReplyText = 200;

using ControlMessage = std::array<uint8_t, kControlBytes>;

ControlMessage EncodeRequest(const Request& request);
ControlMessage EncodeReply(const Reply& reply);
ControlMessage EncodeDone();

// The bytes come from a peer. If they are not such a message of this version, or if a job has
// values beyond the limits above, the functions return nothing.
std::optional<Request> DecodeRequest(std::span<const uint8_t> bytes);
std::optional<Reply> DecodeReply(std::span<const uint8_t> bytes);
bool IsDone(std::span<const uint8_t> bytes);

}  // namespace softdat::tools

#endif  // SOFTDAT_TOOLS_TRAFFIC_JOB_H_
