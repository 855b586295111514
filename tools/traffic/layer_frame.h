// SPDX-License-Identifier: BSD-3-Clause
// The head of each message that a message layer sends, as bytes: three big-endian words. Pure.
#ifndef SOFTDAT_TOOLS_TRAFFIC_LAYER_FRAME_H_
#define SOFTDAT_TOOLS_TRAFFIC_LAYER_FRAME_H_

#include <endian.h>

#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "tools/traffic/job.h"

namespace softdat::tools {

struct LayerFrame {
  enum class Kind : uint8_t {
    kEager,    // the data of the message follow
    kRequest,  // there is a message; by read: `memory` has its data
    kAnswer,   // the data are to be written into `memory`
    kFinish,   // the data of the message have been written, or read
  };
  Kind kind = Kind::kEager;
  uint8_t credits = 0;  // receives that were posted since the last one on this connection
  RemoteMemory memory;  // `bytes` is the size of the message, even if there is no memory
};

inline constexpr size_t kLayerFrameBytes = 24;

inline void EncodeLayerFrame(const LayerFrame& frame, uint8_t* to) {
  const uint64_t words[] = {htobe64(uint64_t{static_cast<uint8_t>(frame.kind)} << 56 |
                                    uint64_t{frame.credits} << 32 | frame.memory.bytes),
                            htobe64(frame.memory.address), htobe64(frame.memory.context)};
  static_assert(sizeof words == kLayerFrameBytes);
  std::memcpy(to, words, sizeof words);
}

// The bytes come from a peer. Returns nothing if they do not begin with a head.
inline std::optional<LayerFrame> DecodeLayerFrame(std::span<const uint8_t> bytes) {
  uint64_t words[3];
  static_assert(sizeof words == kLayerFrameBytes);
  if (bytes.size() < sizeof words) return std::nullopt;
  std::memcpy(words, bytes.data(), sizeof words);
  const uint64_t first = be64toh(words[0]);
  if (first >> 56 > static_cast<uint8_t>(LayerFrame::Kind::kFinish)) return std::nullopt;
  LayerFrame frame;
  frame.kind = static_cast<LayerFrame::Kind>(first >> 56);
  frame.credits = static_cast<uint8_t>(first >> 32);
  frame.memory = {be64toh(words[1]), static_cast<uint32_t>(first),
                  static_cast<uint32_t>(be64toh(words[2]))};
  return frame;
}

}  // namespace softdat::tools

#endif  // SOFTDAT_TOOLS_TRAFFIC_LAYER_FRAME_H_
