// SPDX-License-Identifier: BSD-3-Clause
// The parting word: an end that leaves says how much of what the peer sent it has carried out.
//
// A peer that has several requests under way has not asked to confirm the last of them when they
// arrive (confirmation.h). If the consumer takes the last one and disconnects, frees or exits at
// once, the question comes too late. An InfiniBand adapter would have acknowledged by then. So the
// last thing on the stream is an RDMA Write of nothing, whose STag and offset nobody checks
// (RFC 5040 §5.1). The offset holds the counts. Another implementation sees a write of nothing.
//
// It is said only if something came since the peer's last question, and only to a peer that may
// ask.
#ifndef SOFTDAT_PROVIDER_SOFTNET_IWARP_PARTING_WORD_H_
#define SOFTDAT_PROVIDER_SOFTNET_IWARP_PARTING_WORD_H_

#include <cstdint>

#include "wire/iwarp/ddp.h"

namespace softdat::softnet {

// How many messages went one way, from the beginning of the connection. They wrap.
struct TransferCounts {
  uint32_t messages = 0;  // on queue 0: sends, and immediate data
  uint32_t writes = 0;    // RDMA Writes, those of nothing included

  bool operator==(const TransferCounts&) const = default;
};

// A consumer's write of nothing to this key goes out with kNoStag.
inline constexpr uint32_t kPartingStag = 0xFFFFFFFF;
inline constexpr uint32_t kNoStag = 1;

inline bool IsPartingWord(const iwarp::DdpHeader& h, size_t payload_size) {
  return h.opcode == iwarp::Opcode::kWrite && h.last && payload_size == 0 && h.stag == kPartingStag;
}
inline uint64_t PartingOffset(const TransferCounts& counts) {
  return uint64_t{counts.messages} << 32 | counts.writes;
}
inline TransferCounts ParsePartingOffset(uint64_t offset) {
  return {static_cast<uint32_t>(offset >> 32), static_cast<uint32_t>(offset)};
}
// Whether the `number`-th message, counted from 0, is one of the first `count`.
inline bool IsAmong(uint32_t number, uint32_t count) {
  return static_cast<int32_t>(count - number) > 0;
}

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_IWARP_PARTING_WORD_H_
