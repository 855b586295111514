// SPDX-License-Identifier: BSD-3-Clause
// Offers and answers of handoffs between processes, as bytes.
#include "provider_softnet/tcp/handoff_message.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace softdat::softnet {
namespace {

constexpr uint64_t kQual = 0x0123456789abcdef;

std::vector<uint8_t> Offer(size_t frame_size) {
  std::vector<uint8_t> frame(frame_size);
  for (size_t i = 0; i < frame_size; ++i) frame[i] = static_cast<uint8_t>(i * 7 + 1);
  std::array<uint8_t, kMaxHandoffOffer> out;
  const size_t n = EncodeHandoffOffer({kQual, frame}, out);
  return {out.begin(), out.begin() + static_cast<ptrdiff_t>(n)};
}

TEST(HandoffMessageTest, AnOfferIsWhatTheHeaderSays) {
  const std::vector<uint8_t> bytes = Offer(3);
  const std::vector<uint8_t> expected = {0x53, 0x44, 0x41, 0x54, 0x48, 0x4f, 0x01, 0xbf, 0x01, 0x23,
                                         0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 1,    8,    15};
  EXPECT_EQ(bytes, expected);
}

TEST(HandoffMessageTest, OffersOfEverySizeComeBack) {
  for (size_t size = 0; size <= iwarp::kMpaMaxFrameSize; ++size) {
    const std::vector<uint8_t> bytes = Offer(size);
    const auto offer = DecodeHandoffOffer(bytes);
    ASSERT_TRUE(offer.has_value()) << size;
    EXPECT_EQ(offer->conn_qual, kQual);
    ASSERT_EQ(offer->frame.size(), size);
    EXPECT_TRUE(
        std::equal(offer->frame.begin(), offer->frame.end(), bytes.begin() + kHandoffHeaderSize));
  }
  EXPECT_TRUE(Offer(iwarp::kMpaMaxFrameSize + 1).empty());
}

TEST(HandoffMessageTest, WhatIsNoOffer) {
  std::vector<uint8_t> bytes = Offer(iwarp::kMpaMaxFrameSize);
  bytes.push_back(0);
  EXPECT_FALSE(DecodeHandoffOffer(bytes).has_value()) << "too long";
  bytes = Offer(30);
  for (size_t size = 0; size < kHandoffHeaderSize; ++size) {
    EXPECT_FALSE(DecodeHandoffOffer({bytes.data(), size}).has_value()) << size;
  }
  for (size_t i = 0; i < 8; ++i) {
    bytes[i] ^= 2;
    EXPECT_FALSE(DecodeHandoffOffer(bytes).has_value()) << "byte " << i;
    bytes[i] ^= 2;
  }
  EXPECT_TRUE(DecodeHandoffOffer(bytes).has_value());
}

TEST(HandoffMessageTest, Answers) {
  for (const auto verdict :
       {HandoffVerdict::kTaken, HandoffVerdict::kNoListener, HandoffVerdict::kRefused}) {
    auto bytes = EncodeHandoffAnswer(verdict);
    EXPECT_EQ(DecodeHandoffAnswer(bytes), verdict);
    for (size_t size = 0; size < bytes.size(); ++size) {
      EXPECT_FALSE(DecodeHandoffAnswer({bytes.data(), size}).has_value());
    }
    std::vector<uint8_t> longer(bytes.begin(), bytes.end());
    longer.push_back(0);
    EXPECT_FALSE(DecodeHandoffAnswer(longer).has_value());
    for (size_t i = 0; i < bytes.size(); ++i) {
      bytes[i] ^= 0x40;
      EXPECT_FALSE(DecodeHandoffAnswer(bytes).has_value()) << "byte " << i;
      bytes[i] ^= 0x40;
    }
  }
}

TEST(HandoffMessageTest, AddressesDiffer) {
  const LocalName one = HandoffAddressOf(1000, "", 7);
  EXPECT_GT(one.size, offsetof(sockaddr_un, sun_path) + 1);
  EXPECT_EQ(one.address.sun_path[0], 0);
  const std::string name(one.address.sun_path + 1, one.size - offsetof(sockaddr_un, sun_path) - 1);
  EXPECT_EQ(name, "softdat-handoff/1000//7");
  // The longest possible name: a scoped address and the largest numbers.
  EXPECT_GT(HandoffAddressOf(UINT32_MAX, "fe80:1111:2222:3333:4444:5555:6666:7777%interface-name1",
                             UINT64_MAX)
                .size,
            0u);
  EXPECT_EQ(HandoffAddressOf(1000, std::string(200, 'x'), 7).size, 0u);
}

}  // namespace
}  // namespace softdat::softnet
