// SPDX-License-Identifier: BSD-3-Clause
#include "rds/protocol/connect_data.h"

#include <algorithm>

namespace softdat::rds {

namespace {

constexpr uint8_t kNextMajor = 4;
constexpr uint16_t kOurMinors = 0x0003;

// Behind the addresses.
constexpr size_t kMajorAt = 0, kMinorAt = 1, kMinorMaskAt = 2, kServiceAt = 4, kMarkAt = 5,
                 kPortAt = 6, kAckAt = 8, kCreditAt = 16, kTailSize = 20;
// In the padding behind it.
constexpr size_t kInstanceAt = 20, kPaddedTailSize = 24;

size_t AddressSize(bool ipv6) { return ipv6 ? 16 : 4; }

}  // namespace

static_assert(kConnectDataSize == 2 * 4 + kPaddedTailSize);
static_assert(kConnectDataSize6 == 2 * 16 + kTailSize);

size_t EncodeConnectData(const ConnectData& data, std::span<uint8_t, kConnectDataSize6> out) {
  std::ranges::fill(out, uint8_t{0});
  const size_t address = AddressSize(data.ipv6);
  std::copy_n(data.source.begin(), address, out.begin());
  std::copy_n(data.destination.begin(), address, out.begin() + static_cast<ptrdiff_t>(address));
  uint8_t* const tail = out.data() + 2 * address;
  tail[kMajorAt] = data.major;
  tail[kMinorAt] = data.minor;
  StoreBe16(tail + kMinorMaskAt, data.minor_mask);
  tail[kServiceAt] = data.type_of_service;
  tail[kMarkAt] = data.own_mark;
  StoreBe16(tail + kPortAt, data.own_port);
  StoreBe64(tail + kAckAt, data.ack_sequence);
  StoreBe32(tail + kCreditAt, data.initial_credit);
  if (data.ipv6) return kConnectDataSize6;
  StoreBe32(tail + kInstanceAt, data.own_instance);
  return kConnectDataSize;
}

std::optional<ConnectData> ParseConnectData(ByteSpan octets, bool ipv6) {
  const size_t address = AddressSize(ipv6);
  // Some leave the padding out.
  if (octets.size() < 2 * address + kTailSize) return std::nullopt;
  ConnectData data;
  data.ipv6 = ipv6;
  std::copy_n(octets.begin(), address, data.source.begin());
  std::copy_n(octets.begin() + static_cast<ptrdiff_t>(address), address, data.destination.begin());
  const uint8_t* const tail = octets.data() + 2 * address;
  data.major = tail[kMajorAt];
  data.minor = tail[kMinorAt];
  data.minor_mask = LoadBe16(tail + kMinorMaskAt);
  data.type_of_service = tail[kServiceAt];
  data.own_mark = tail[kMarkAt];
  data.own_port = LoadBe16(tail + kPortAt);
  data.ack_sequence = LoadBe64(tail + kAckAt);
  data.initial_credit = LoadBe32(tail + kCreditAt);
  if (!ipv6 && octets.size() >= kConnectDataSize) {
    data.own_instance = LoadBe32(tail + kInstanceAt);
  }
  return data;
}

bool IsCompatible(const ConnectData& peer) {
  if (peer.major == kMajor) return peer.minor == kMinor;
  return peer.major == kNextMajor && (peer.minor_mask & kOurMinors) != 0;
}

}  // namespace softdat::rds
