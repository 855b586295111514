// SPDX-License-Identifier: BSD-3-Clause
#include "rds/socket/introduction.h"

#include <array>
#include <bit>
#include <span>
#include <utility>

namespace softdat::rds {
namespace {

// A locate is told from a join by a bit of the mark.
constexpr uint8_t kJoinMark = kOwnMark | 0x80;
// And so is a join on behalf of a kernel.
constexpr uint8_t kForKernel = 0x20;

// A join says which processes it is between, and there is no room for the second one but in numbers
// that are never so large: half of it in front of the acknowledgement, half in front of the credit.
// Between IPv4 addresses that is the process that is to hear it. Between IPv6 addresses there is no
// room for the first one either, so that the one that is to hear it is not said.
constexpr int kAckBits = 48, kCreditBits = 16, kHalf = 16;

void Hide(Instance instance, ConnectData* data) {
  data->ack_sequence |= uint64_t{instance >> kHalf} << kAckBits;
  data->initial_credit |= instance << kCreditBits;
}

Instance Find(ConnectData* data) {
  const auto instance = static_cast<Instance>(data->ack_sequence >> kAckBits) << kHalf |
                        data->initial_credit >> kCreditBits;
  data->ack_sequence &= (uint64_t{1} << kAckBits) - 1;
  data->initial_credit &= (1u << kCreditBits) - 1;
  return instance;
}

// The data of a rejection between instances.
constexpr uint32_t kRefusalMagic = 0x5dadf00d;
constexpr size_t kKindAt = 4, kServiceAt = 6, kInstanceAt = 8, kRefusalSize = 12;

}  // namespace

std::vector<uint8_t> Encode(const Introduction& in) {
  ConnectData data;
  data.ipv6 = in.own.ipv6;
  data.source = in.own.octets;
  data.destination = in.peer.octets;
  data.ack_sequence = in.ack_sequence;
  data.initial_credit = in.credit;
  data.own_mark = in.kind == Introduction::Kind::kJoin ? kJoinMark : kOwnMark;
  if (in.for_kernel) data.own_mark |= kForKernel;
  data.own_port = in.port;
  data.own_instance = in.instance;
  if (in.kind == Introduction::Kind::kJoin) {
    Hide(data.ipv6 ? std::exchange(data.own_instance, 0) : in.for_instance, &data);
  }
  std::vector<uint8_t> out(kConnectDataSize6);
  out.resize(EncodeConnectData(data, std::span(out).first<kConnectDataSize6>()));
  return out;
}

std::optional<Introduction> ParseIntroduction(ByteSpan octets, bool ipv6) {
  std::optional<ConnectData> data = ParseConnectData(octets, ipv6);
  if (!data || !IsCompatible(*data)) return std::nullopt;
  const bool for_kernel = data->own_mark == (kJoinMark | kForKernel);
  if (for_kernel) data->own_mark = kJoinMark;
  const bool says_both = !ipv6 && data->own_instance != kKernelInstance;
  const bool join = data->own_mark == kJoinMark && (ipv6 || says_both);
  const Instance hidden = join ? Find(&*data) : kKernelInstance;
  if (join && ipv6) data->own_instance = hidden;
  Introduction out;
  out.own.ipv6 = out.peer.ipv6 = ipv6;
  out.own.octets = data->source;
  out.peer.octets = data->destination;
  out.ack_sequence = data->ack_sequence;
  out.credit = data->initial_credit;
  const bool says_who = !ipv6 || data->own_mark == kJoinMark;
  if (says_who && data->own_instance == kKernelInstance) return out;
  if (data->own_mark == kOwnMark) out.kind = Introduction::Kind::kLocate;
  if (data->own_mark == kJoinMark) out.kind = Introduction::Kind::kJoin;
  if (out.kind == Introduction::Kind::kKernel) return out;
  out.port = data->own_port;
  out.instance = data->own_instance;
  out.for_kernel = for_kernel;
  if (join && !ipv6) out.for_instance = hidden;
  return out;
}

std::vector<uint8_t> Encode(const Refusal& refusal) {
  if (refusal.kind == Refusal::Kind::kOther) {
    constexpr int kIncompatible = 1;  // in the order of the host, as Linux has it
    const auto octets = std::bit_cast<std::array<uint8_t, sizeof kIncompatible>>(kIncompatible);
    return {octets.begin(), octets.end()};
  }
  std::vector<uint8_t> out(kRefusalSize);
  StoreBe32(out.data(), kRefusalMagic);
  out[kKindAt] = static_cast<uint8_t>(refusal.kind);
  StoreBe16(out.data() + kServiceAt, refusal.location.service);
  StoreBe32(out.data() + kInstanceAt, refusal.location.instance);
  return out;
}

Refusal ParseRefusal(ByteSpan data) {
  Refusal out;
  if (data.size() < kRefusalSize || LoadBe32(data.data()) != kRefusalMagic) return out;
  const uint8_t kind = data[kKindAt];
  if (kind != static_cast<uint8_t>(Refusal::Kind::kLocated) &&
      kind != static_cast<uint8_t>(Refusal::Kind::kBusy)) {
    return out;
  }
  out.kind = static_cast<Refusal::Kind>(kind);
  out.location.service = LoadBe16(data.data() + kServiceAt);
  out.location.instance = LoadBe32(data.data() + kInstanceAt);
  return out;
}

}  // namespace softdat::rds
