// SPDX-License-Identifier: BSD-3-Clause
// The messages of rds-softstress: a header, then a pattern. Pure.
//
//   0 magic u32 | 4 kind u8 | 5 way u8 | 6 task u16 | 8 sequence u64 | 16 cookie u64
//   24 to u16 | 26 zero
//
// All in little-endian order.
#ifndef SOFTDAT_TOOLS_RDS_STRESS_MESSAGE_H_
#define SOFTDAT_TOOLS_RDS_STRESS_MESSAGE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace softdat::tools {

constexpr size_t kMessageHeader = 32;

enum class RdmaWay : uint8_t { kNone = 0, kRead = 1, kWrite = 2 };

struct StressMessage {
  bool ack = false;
  RdmaWay way = RdmaWay::kNone;
  uint16_t task = 0;  // the sender's
  uint16_t to = 0;    // the receiver's
  uint64_t sequence =
      0;                // of requests from that task to this one, from 0; an ack has its request's
  uint64_t cookie = 0;  // of an ack: the cookie that came with the request
};

// Writes header and, with `pattern`, the bytes behind it. `whole` has at least kMessageHeader
// bytes.
void WriteMessage(const StressMessage& message, bool pattern, std::span<uint8_t> whole);
// Nothing if the bytes are no message of rds-softstress.
std::optional<StressMessage> ReadMessage(std::span<const uint8_t> whole);
// The first byte behind the header that is not as WriteMessage has written it, as text, or "".
std::string PatternProblem(const StressMessage& message, std::span<const uint8_t> whole);

// Memory that RDMA carries for this request.
void FillRdma(const StressMessage& request, std::span<uint8_t> bytes);
std::string RdmaProblem(const StressMessage& request, std::span<const uint8_t> bytes);

}  // namespace softdat::tools

#endif  // SOFTDAT_TOOLS_RDS_STRESS_MESSAGE_H_
