// SPDX-License-Identifier: BSD-3-Clause
#include "wire/rdmacm/private_data.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "wire/private_header.h"
#include "wire/rdmacm/cm_messages.h"
#include "wire/rdmacm/datagram_identity.h"
#include "wire/rdmacm/ip_header.h"

namespace softdat::rdmacm {
namespace {

std::vector<uint8_t> Bytes(size_t n) {
  std::vector<uint8_t> bytes(n);
  std::iota(bytes.begin(), bytes.end(), uint8_t{7});
  return bytes;
}

std::vector<uint8_t> Copy(ByteSpan data) { return {data.begin(), data.end()}; }

TEST(PrivateDataTest, LengthsSurviveFieldsThatAreDeliveredWhole) {
  for (const CmField field : {CmField::kRequest, CmField::kReply, CmField::kReject,
                              CmField::kSidrRequest, CmField::kSidrReply, CmField::kSidrReject}) {
    for (size_t n = 0; n <= MaxPrivateData(false); ++n) {
      const std::vector<uint8_t> data = Bytes(n);
      const FieldWriter writer(field, true, std::nullopt, data);
      const FieldView view = ReadField(field, {writer.data(), writer.size()}, false);
      EXPECT_TRUE(view.trailer);
      EXPECT_FALSE(view.refusal);
      EXPECT_FALSE(view.qualifier.has_value());
      EXPECT_EQ(Copy(view.data), data);
    }
  }
}

TEST(PrivateDataTest, AQualifierIsCarriedWholeInBothForms) {
  const uint64_t qualifier = 0x0AFF'AB1E'0000'0001;
  for (const bool iwarp : {false, true}) {
    const std::vector<uint8_t> data = Bytes(MaxPrivateData(iwarp) - kPrivateHeaderSize);
    const FieldWriter writer(CmField::kRequest, !iwarp, qualifier, data);
    const FieldView view = ReadField(CmField::kRequest, {writer.data(), writer.size()}, iwarp);
    EXPECT_EQ(view.qualifier, qualifier);
    EXPECT_EQ(Copy(view.data), data);
  }
}

TEST(PrivateDataTest, TheHeaderIsSoftnets) {
  const FieldWriter writer(CmField::kRequest, false, 0x0102030405060708, {});
  const std::vector<uint8_t> expected = {0x53, 0x44, 0x41, 0x54, 0x43, 0x51, 0x01, 0xbf,
                                         1,    2,    3,    4,    5,    6,    7,    8};
  EXPECT_EQ(Copy({writer.data(), writer.size()}), expected);
  const FieldWriter refusal = FieldWriter::Refusal(false);
  const std::vector<uint8_t> magic = {0x53, 0x44, 0x41, 0x54, 0x4e, 0x50, 0x01, 0xbf};
  EXPECT_EQ(Copy({refusal.data(), 8}), magic);
}

TEST(PrivateDataTest, ARefusalIsNoConsumersReject) {
  for (const bool iwarp : {false, true}) {
    const FieldWriter writer = FieldWriter::Refusal(!iwarp);
    const FieldView view = ReadField(CmField::kReject, {writer.data(), writer.size()}, iwarp);
    EXPECT_TRUE(view.refusal);
    EXPECT_TRUE(view.data.empty());
  }
}

TEST(PrivateDataTest, ARefusalOfADatagramRequestIsOneOnlyInAReject) {
  const FieldWriter writer = FieldWriter::Refusal(true, CmField::kSidrReject);
  const ByteSpan bytes = {writer.data(), writer.size()};
  EXPECT_EQ(bytes.size(), kSidrReplyFieldSize);
  EXPECT_TRUE(ReadField(CmField::kSidrReject, bytes, false).refusal);
  // In the answer that accepts, the same octets are the consumer's.
  EXPECT_FALSE(ReadField(CmField::kSidrReply, bytes, false).refusal);
  EXPECT_EQ(ReadField(CmField::kSidrReply, bytes, false).data.size(), kPrivateHeaderSize);
}

TEST(PrivateDataTest, ADatagramRequestIsFilledByHeaderFieldAndIdentity) {
  EXPECT_EQ(kIpHeaderSize + kRequestFieldSize, kReqPrivateSize);
  EXPECT_EQ(kReplyFieldSize, kRepPrivateSize);
  EXPECT_EQ(kRejectFieldSize, kRejPrivateSize);
  EXPECT_EQ(kIpHeaderSize + kSidrRequestFieldSize + kDatagramIdentitySize, kSidrReqPrivateSize);
  EXPECT_EQ(kSidrReplyFieldSize, kSidrRepPrivateSize);

  const std::vector<uint8_t> data = Bytes(100);
  const FieldWriter writer(CmField::kSidrRequest, true, 0x0AFF'AB1E'0000'0001, data);
  std::vector<uint8_t> rest = Copy({writer.data(), writer.size()});
  rest.resize(rest.size() + kDatagramIdentitySize);
  StoreDatagramIdentity({0x11, 0x01234567}, std::span(rest).last<kDatagramIdentitySize>());
  const FieldView view = ReadField(CmField::kSidrRequest, rest, false);
  EXPECT_TRUE(view.trailer);
  EXPECT_EQ(view.qualifier, 0x0AFF'AB1E'0000'0001u);
  EXPECT_EQ(Copy(view.data), data);
  DatagramIdentity identity;
  EXPECT_TRUE(FindDatagramIdentity(rest, &identity));
}

TEST(PrivateDataTest, ForeignFieldsComeWhole) {
  const std::vector<uint8_t> foreign = Bytes(56);
  const FieldView view = ReadField(CmField::kRequest, foreign, false);
  EXPECT_FALSE(view.trailer);
  EXPECT_EQ(Copy(view.data), foreign);
  EXPECT_TRUE(ReadField(CmField::kReply, {}, false).data.empty());
}

TEST(PrivateDataTest, ATrailerThatClaimsTooMuchIsNone) {
  std::vector<uint8_t> field(56, 0);
  field[52] = 0x53;
  field[53] = 0x44;
  field[54] = 1;
  field[55] = 53;
  const FieldView view = ReadField(CmField::kRequest, field, false);
  EXPECT_FALSE(view.trailer);
  EXPECT_EQ(view.data.size(), 56u);
}

}  // namespace
}  // namespace softdat::rdmacm
