// SPDX-License-Identifier: BSD-3-Clause
// Offers, answers and addresses of handoffs between processes.
#include "provider_softnet/tcp/handoff_message.h"

#include <fmt/format.h>

#include <algorithm>

#include "wire/bytes.h"

namespace softdat::softnet {
namespace {

constexpr uint64_t kOfferMagic = 0x53444154'484f01bf;
constexpr uint64_t kAnswerMagic = 0x53444154'484101bf;

}  // namespace

size_t EncodeHandoffOffer(const HandoffOffer& offer, std::span<uint8_t, kMaxHandoffOffer> out) {
  if (offer.frame.size() > iwarp::kMpaMaxFrameSize) return 0;
  StoreBe64(out.data(), kOfferMagic);
  StoreBe64(out.data() + 8, offer.conn_qual);
  std::copy(offer.frame.begin(), offer.frame.end(), out.begin() + kHandoffHeaderSize);
  return kHandoffHeaderSize + offer.frame.size();
}

std::optional<HandoffOffer> DecodeHandoffOffer(std::span<const uint8_t> in) {
  if (in.size() < kHandoffHeaderSize || in.size() > kMaxHandoffOffer) return std::nullopt;
  if (LoadBe64(in.data()) != kOfferMagic) return std::nullopt;
  return HandoffOffer{LoadBe64(in.data() + 8), in.subspan(kHandoffHeaderSize)};
}

std::array<uint8_t, kHandoffAnswerSize> EncodeHandoffAnswer(HandoffVerdict verdict) {
  std::array<uint8_t, kHandoffAnswerSize> out;
  StoreBe64(out.data(), kAnswerMagic);
  StoreBe64(out.data() + 8, static_cast<uint64_t>(verdict));
  return out;
}

std::optional<HandoffVerdict> DecodeHandoffAnswer(std::span<const uint8_t> in) {
  if (in.size() != kHandoffAnswerSize || LoadBe64(in.data()) != kAnswerMagic) return std::nullopt;
  const uint64_t verdict = LoadBe64(in.data() + 8);
  if (verdict > static_cast<uint64_t>(HandoffVerdict::kRefused)) return std::nullopt;
  return static_cast<HandoffVerdict>(verdict);
}

LocalName HandoffAddressOf(uid_t user, const std::string& host, uint64_t conn_qual) {
  return AbstractName(fmt::format("softdat-handoff/{}/{}/{}", user, host, conn_qual));
}

}  // namespace softdat::softnet
