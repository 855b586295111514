// SPDX-License-Identifier: BSD-3-Clause
#include "tools/rds/stress_message.h"

#include <endian.h>
#include <fmt/format.h>

#include <cstring>

#include "tools/traffic/pattern.h"

namespace softdat::tools {
namespace {

constexpr uint32_t kMagic = 0x73736472;  // "rdss"

struct Header {
  uint32_t magic;
  uint8_t kind;
  uint8_t way;
  uint16_t task;
  uint64_t sequence;
  uint64_t cookie;
  uint16_t to;
  uint16_t zero[3];
};
static_assert(sizeof(Header) == kMessageHeader);

enum class Kind : uint8_t { kRequest, kAck, kRdma };

// Different for requests, acks and RDMA of one number, and for the same numbers of other tasks.
uint64_t Seed(const StressMessage& message, Kind kind) {
  return message.sequence + uint64_t{message.task} * 7 + uint64_t{message.to} * 13 +
         static_cast<uint64_t>(kind) * 101;
}
Kind KindOf(const StressMessage& message) { return message.ack ? Kind::kAck : Kind::kRequest; }

std::string Problem(uint64_t seed, std::span<const uint8_t> bytes, size_t behind) {
  const auto at = FindMismatch(seed, bytes);
  if (!at) return "";
  return fmt::format("byte {} is {:#04x} instead of {:#04x}", *at + behind, bytes[*at],
                     PatternByte(seed, *at));
}

}  // namespace

void WriteMessage(const StressMessage& message, bool pattern, std::span<uint8_t> whole) {
  const Header header = {htole32(kMagic),
                         static_cast<uint8_t>(message.ack ? 1 : 0),
                         static_cast<uint8_t>(message.way),
                         htole16(message.task),
                         htole64(message.sequence),
                         htole64(message.cookie),
                         htole16(message.to),
                         {0, 0, 0}};
  std::memcpy(whole.data(), &header, sizeof header);
  if (pattern) FillPattern(Seed(message, KindOf(message)), whole.subspan(sizeof header));
}

std::optional<StressMessage> ReadMessage(std::span<const uint8_t> whole) {
  Header header;
  if (whole.size() < sizeof header) return std::nullopt;
  std::memcpy(&header, whole.data(), sizeof header);
  if (le32toh(header.magic) != kMagic || header.kind > 1 || header.way > 2 || header.zero[0] != 0 ||
      header.zero[1] != 0 || header.zero[2] != 0)
    return std::nullopt;
  return StressMessage{header.kind == 1,         static_cast<RdmaWay>(header.way),
                       le16toh(header.task),     le16toh(header.to),
                       le64toh(header.sequence), le64toh(header.cookie)};
}

std::string PatternProblem(const StressMessage& message, std::span<const uint8_t> whole) {
  return Problem(Seed(message, KindOf(message)), whole.subspan(kMessageHeader), kMessageHeader);
}

void FillRdma(const StressMessage& request, std::span<uint8_t> bytes) {
  FillPattern(Seed(request, Kind::kRdma), bytes);
}

std::string RdmaProblem(const StressMessage& request, std::span<const uint8_t> bytes) {
  return Problem(Seed(request, Kind::kRdma), bytes, 0);
}

}  // namespace softdat::tools
