// SPDX-License-Identifier: BSD-3-Clause
// Messages between members.
#include "provider_softnet/udp/forward_message.h"

#include <netinet/in.h>

#include <cstring>

#include "wire/bytes.h"

namespace softdat::softnet {
namespace {

constexpr uint32_t kMagic = 0x53445201;
constexpr uint32_t kOfferMagic = 0x53444801;

// `p` has kForwardPrefixSize bytes, all zero.
void StorePrefix(uint32_t magic, const sockaddr_storage& source, uint8_t* p) {
  StoreBe32(p, magic);
  if (source.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(source);
    StoreBe16(p + 4, 4);
    StoreBe16(p + 6, ntohs(v4.sin_port));
    std::memcpy(p + 8, &v4.sin_addr, 4);
  } else {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(source);
    StoreBe16(p + 4, 6);
    StoreBe16(p + 6, ntohs(v6.sin6_port));
    std::memcpy(p + 8, &v6.sin6_addr, 16);
    StoreBe32(p + 24, v6.sin6_scope_id);
  }
}

// The address in a prefix of the message.
std::optional<sockaddr_storage> SourceIn(uint32_t magic, std::span<const uint8_t> in) {
  const uint8_t* const p = in.data();
  if (in.size() < kForwardPrefixSize || LoadBe32(p) != magic) return std::nullopt;
  sockaddr_storage out{};
  switch (LoadBe16(p + 4)) {
    case 4: {
      auto& v4 = reinterpret_cast<sockaddr_in&>(out);
      v4.sin_family = AF_INET;
      v4.sin_port = htons(LoadBe16(p + 6));
      std::memcpy(&v4.sin_addr, p + 8, 4);
      return out;
    }
    case 6: {
      auto& v6 = reinterpret_cast<sockaddr_in6&>(out);
      v6.sin6_family = AF_INET6;
      v6.sin6_port = htons(LoadBe16(p + 6));
      std::memcpy(&v6.sin6_addr, p + 8, 16);
      v6.sin6_scope_id = LoadBe32(p + 24);
      return out;
    }
    default:
      return std::nullopt;
  }
}

}  // namespace

ForwardPrefix EncodeForwardPrefix(const sockaddr_storage& source) {
  ForwardPrefix out{};
  StorePrefix(kMagic, source, out.data());
  return out;
}

std::optional<ForwardedPacket> DecodeForward(std::span<const uint8_t> in) {
  const auto source = SourceIn(kMagic, in);
  if (!source) return std::nullopt;
  return ForwardedPacket{*source, in.subspan(kForwardPrefixSize)};
}

OfferPrefix EncodeOfferPrefix(const MemberOffer& offer) {
  OfferPrefix out{};
  StorePrefix(kOfferMagic, offer.source, out.data());
  StoreBe64(out.data() + kForwardPrefixSize, offer.conn_qual);
  return out;
}

std::optional<MemberOffer> DecodeOffer(std::span<const uint8_t> in) {
  const auto source = SourceIn(kOfferMagic, in);
  if (!source || in.size() < kOfferPrefixSize) return std::nullopt;
  return MemberOffer{*source, LoadBe64(in.data() + kForwardPrefixSize),
                     in.subspan(kOfferPrefixSize)};
}

}  // namespace softdat::softnet
