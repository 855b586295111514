// SPDX-License-Identifier: BSD-3-Clause
// The floor that DAT is compared with: the same loops over a plain TCP connection, without any of
// our stack. One server process serves one client, job after job, and sleeps in between.
#ifndef SOFTDAT_TOOLS_BENCH_RAW_LINK_H_
#define SOFTDAT_TOOLS_BENCH_RAW_LINK_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "tools/common/outcome.h"

namespace softdat::tools {

enum class RawKind : uint8_t {
  kPoll,    // ping-pong; each side spins on a recv that does not block
  kEpoll,   // ping-pong; each side sleeps in epoll_wait, then receives
  kStream,  // the client writes, the server reads into one buffer; a byte back at the end
};

// "tcp-poll", "tcp-epoll", "tcp-stream".
std::string_view RawKindName(RawKind kind);

struct RawJob {
  RawKind kind = RawKind::kPoll;
  int16_t server_cpu = -1;  // pin the server's process to this CPU; -1: leave it alone
  uint32_t size = 64;       // bytes of a message or write, 1 to kMaxRawSize
  uint64_t iterations = 1;
};

inline constexpr uint32_t kMaxRawSize = 1u << 26;

// One end of a TCP connection over 127.0.0.1.
class RawLink {
 public:
  RawLink() = default;
  RawLink(const RawLink&) = delete;
  RawLink& operator=(const RawLink&) = delete;
  ~RawLink();

  // Any free port; then waits for one client, without limit.
  Outcome Listen(uint16_t* port);
  Outcome Accept();
  Outcome Connect(uint16_t port);

  // Client: asks for a job and takes part in it. Seconds from the first byte to the last answer.
  Outcome Run(const RawJob& job, double* seconds);
  // Server: jobs until the client closes, or asks for something that is no job; then closes.
  Outcome Serve();

 private:
  Outcome ServeJobs();
  Outcome PingPong(const RawJob& job, bool is_server);
  Outcome StreamOut(const RawJob& job);
  Outcome StreamIn(const RawJob& job);
  // Exactly so many bytes, as the kind of job waits.
  Outcome Receive(RawKind kind, uint8_t* data, size_t bytes);
  Outcome Send(const uint8_t* data, size_t bytes);
  Outcome Adopt(int fd);
  void Close();

  int listener_ = -1;
  int fd_ = -1;
  int epoll_ = -1;
  std::vector<uint8_t> buffer_;
};

}  // namespace softdat::tools

#endif  // SOFTDAT_TOOLS_BENCH_RAW_LINK_H_
