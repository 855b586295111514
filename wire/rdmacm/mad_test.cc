// SPDX-License-Identifier: BSD-3-Clause
// CM messages in their MADs: every vector in both directions, the places that are zero in all
// vectors, and everything that must be refused.

#include "wire/rdmacm/mad.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "wire/rdmacm/ip_header.h"
#include "wire/test_support.h"

namespace softdat::rdmacm {
namespace {

using nlohmann::json;
using wire_test::Bytes;
using wire_test::Flag;
using wire_test::FromHex;
using wire_test::Number;
using wire_test::TestRandom;
using wire_test::ToHex;

template <typename T>
void Take(const json& fields, const char* name, T* value) {
  *value = static_cast<T>(Number(fields, name));
}

Gid GidField(const json& fields, const char* name) {
  const Bytes octets = FromHex(fields.at(name));
  Gid gid = {};
  EXPECT_EQ(octets.size(), gid.size());
  if (octets.size() == gid.size()) std::copy(octets.begin(), octets.end(), gid.begin());
  return gid;
}

HeaderAddress Dotted(const std::string& text) {
  std::array<uint8_t, 4> address = {};
  EXPECT_EQ(std::sscanf(text.c_str(), "%hhu.%hhu.%hhu.%hhu", &address[0], &address[1], &address[2],
                        &address[3]),
            4);
  return HeaderAddressOf(address);
}

// The private data that a vector's fields describe.
Bytes PrivateData(const json& f) {
  if (!f.contains("cma_version")) {
    return f.contains("private_data") ? FromHex(f.at("private_data")) : Bytes{};
  }
  IpHeader header;
  Take(f, "cma_ip_version", &header.ip_version);
  Take(f, "cma_src_port", &header.source_port);
  header.source = Dotted(f.at("cma_src"));
  header.destination = Dotted(f.at("cma_dst"));
  Bytes data(kIpHeaderSize);
  EncodeIpHeader(header, std::span(data).first<kIpHeaderSize>());
  const Bytes consumer = FromHex(f.at("consumer_private_data"));
  data.insert(data.end(), consumer.begin(), consumer.end());
  return data;
}

CmReq Req(const json& f) {
  CmReq m;
  Take(f, "local_comm_id", &m.local_comm_id);
  Take(f, "service_id", &m.service_id);
  Take(f, "local_ca_guid", &m.local_ca_guid);
  Take(f, "local_qpn", &m.local_qpn);
  Take(f, "responder_resources", &m.responder_resources);
  Take(f, "initiator_depth", &m.initiator_depth);
  Take(f, "remote_cm_response_timeout", &m.remote_cm_response_timeout);
  Take(f, "transport_type", &m.transport);
  m.flow_control = Flag(f, "e2e_flow_control");
  Take(f, "starting_psn", &m.starting_psn);
  Take(f, "local_cm_response_timeout", &m.local_cm_response_timeout);
  Take(f, "retry_count", &m.retry_count);
  Take(f, "path_mtu", &m.path_mtu);
  Take(f, "rnr_retry", &m.rnr_retry_count);
  Take(f, "max_cm_retries", &m.max_cm_retries);
  m.srq = Flag(f, "srq");
  m.primary.local_gid = GidField(f, "primary_local_gid");
  m.primary.remote_gid = GidField(f, "primary_remote_gid");
  Take(f, "packet_rate", &m.primary.packet_rate);
  Take(f, "hop_limit", &m.primary.hop_limit);
  m.primary.subnet_local = Flag(f, "subnet_local");
  Take(f, "local_ack_timeout", &m.primary.local_ack_timeout);
  return m;
}

CmRep Rep(const json& f) {
  CmRep m;
  Take(f, "local_comm_id", &m.local_comm_id);
  Take(f, "remote_comm_id", &m.remote_comm_id);
  Take(f, "local_qpn", &m.local_qpn);
  Take(f, "starting_psn", &m.starting_psn);
  Take(f, "responder_resources", &m.responder_resources);
  Take(f, "initiator_depth", &m.initiator_depth);
  Take(f, "target_ack_delay", &m.target_ack_delay);
  Take(f, "failover_accepted", &m.failover_accepted);
  m.flow_control = Flag(f, "e2e_flow_control");
  Take(f, "rnr_retry", &m.rnr_retry_count);
  m.srq = Flag(f, "srq");
  Take(f, "local_ca_guid", &m.local_ca_guid);
  return m;
}

template <typename Message>
Message Ids(const json& f) {
  Message m;
  Take(f, "local_comm_id", &m.local_comm_id);
  Take(f, "remote_comm_id", &m.remote_comm_id);
  return m;
}

CmMessage FromFields(const json& f) {
  switch (Number(f, "mad_attr")) {
    case 0x10:
      return Req(f);
    case 0x11: {
      auto m = Ids<CmMra>(f);
      Take(f, "message_mraed", &m.answered);
      Take(f, "service_timeout", &m.service_timeout);
      return m;
    }
    case 0x12: {
      auto m = Ids<CmRej>(f);
      Take(f, "message_rejected", &m.answered);
      Take(f, "reason", &m.reason);
      return m;
    }
    case 0x13:
      return Rep(f);
    case 0x14:
      return Ids<CmRtu>(f);
    case 0x15: {
      auto m = Ids<CmDreq>(f);
      Take(f, "remote_qpn", &m.remote_qpn);
      return m;
    }
    default:
      EXPECT_EQ(Number(f, "mad_attr"), 0x16u);
      return Ids<CmDrep>(f);
  }
}

ByteSpan* PrivateDataOf(CmMessage* message) {
  return std::visit([](auto& m) { return &m.private_data; }, *message);
}

std::string Encode(const Mad& mad) {
  std::array<uint8_t, kMadSize> out;
  out.fill(0xee);
  return EncodeMad(mad, out) ? ToHex(out) : "refused";
}

TEST(MadTest, VectorsBothWays) {
  const auto vectors = wire_test::ReadJson("wire/rdmacm/testdata/rocev2_cm.json");
  int checked = 0;
  for (const auto& v : vectors.at("vectors")) {
    SCOPED_TRACE(v.at("name").get<std::string>());
    const auto& fields = v.at("fields");
    const Bytes private_data = PrivateData(fields);
    Mad expected = {Number(fields, "mad_tid"), FromFields(fields)};
    *PrivateDataOf(&expected.message) = private_data;
    EXPECT_EQ(Encode(expected), fields.at("mad_hex"));

    const Bytes wire = FromHex(fields.at("mad_hex"));
    Mad parsed;
    ASSERT_EQ(ParseMad(wire, &parsed), MadParse::kOk);
    EXPECT_EQ(parsed.transaction_id, expected.transaction_id);
    EXPECT_EQ(parsed.message.index(), expected.message.index());
    EXPECT_EQ(Encode(parsed), fields.at("mad_hex"));
    const ByteSpan arrived = *PrivateDataOf(&parsed.message);
    ASSERT_GE(arrived.size(), private_data.size());
    EXPECT_EQ(ToHex(arrived.first(private_data.size())), ToHex(private_data));
    const ByteSpan padding = arrived.subspan(private_data.size());
    EXPECT_TRUE(std::ranges::all_of(padding, [](uint8_t b) { return b == 0; }));
    ++checked;
  }
  EXPECT_EQ(checked, 8);
}

TEST(MadTest, WholePacketsOfTheVectorsHoldTheMad) {
  const auto vectors = wire_test::ReadJson("wire/rdmacm/testdata/rocev2_cm.json");
  for (const auto& v : vectors.at("vectors")) {
    const auto& fields = v.at("fields");
    EXPECT_EQ(fields.at("payload"), fields.at("mad_hex"));
    EXPECT_EQ(Number(fields, "qkey"), kGsiQKey);
    EXPECT_EQ(Number(fields, "src_qp"), kGsiQpn);
    EXPECT_EQ(Number(fields, "dest_qpn"), kGsiQpn);
  }
}

// A message with one field set has these octets at this place of its body, and zeros elsewhere.
void ExpectOnly(const CmMessage& message, size_t at, const std::string& octets) {
  std::string expected(2 * (kMadSize - kMadHeaderSize), '0');
  expected.replace(2 * at, octets.size(), octets);
  const std::string mad = Encode({0, message});
  ASSERT_NE(mad, "refused");
  EXPECT_EQ(mad.substr(2 * kMadHeaderSize), expected);
}

TEST(MadTest, PlacesInSidr) {
  ExpectOnly(SidrReq{.request_id = 0x01020304, .pkey = 0}, 0, "01020304");
  ExpectOnly(SidrReq{.pkey = 0x8001}, 4, "8001");
  ExpectOnly(SidrReq{.pkey = 0, .service_id = 0x0111'1388}, 8, "0000000001111388");
  const Bytes data = {0xaa, 0xbb};
  ExpectOnly(SidrReq{.pkey = 0, .private_data = data}, 16, "aabb");
  ExpectOnly(SidrRep{.request_id = 0x01020304}, 0, "01020304");
  ExpectOnly(SidrRep{.status = SidrStatus::kRejected}, 4, "02");
  ExpectOnly(SidrRep{.qpn = 0x123456}, 8, "123456");
  ExpectOnly(SidrRep{.service_id = 0x0102030405060708}, 12, "0102030405060708");
  ExpectOnly(SidrRep{.qkey = 0x01234567}, 20, "01234567");
  ExpectOnly(SidrRep{.private_data = data}, 96, "aabb");
}

TEST(MadTest, PlacesThatTheVectorsLeaveAtZero) {
  const auto path = [](CmPath primary) { return CmReq{.pkey = 0, .primary = primary}; };
  ExpectOnly(CmReq{.local_qkey = 0x01020304, .pkey = 0}, 28, "01020304");
  ExpectOnly(CmReq{.local_eecn = 0x010203, .pkey = 0}, 36, "010203");
  ExpectOnly(CmReq{.remote_eecn = 0x010203, .pkey = 0}, 40, "010203");
  ExpectOnly(CmReq{.transport = TransportType::kExtended, .pkey = 0}, 43, "06");
  ExpectOnly(CmReq{.pkey = 0, .rdc_exists = true}, 50, "08");
  ExpectOnly(CmReq{.pkey = 0, .srq = true}, 51, "08");
  ExpectOnly(CmReq{.pkey = 0, .extended_transport = 7}, 51, "07");
  ExpectOnly(path({.local_lid = 0x0102}), 52, "0102");
  ExpectOnly(path({.remote_lid = 0x0102}), 54, "0102");
  ExpectOnly(path({.flow_label = 0xfffff}), 88, "fffff0");
  ExpectOnly(path({.traffic_class = 0x81}), 92, "81");
  ExpectOnly(path({.sl = 15}), 94, "f0");
  ExpectOnly(path({.subnet_local = true}), 94, "08");
  ExpectOnly(CmReq{.pkey = 0, .alternate = {.local_lid = 0x0102}}, 96, "0102");
  ExpectOnly(CmReq{.pkey = 0, .alternate = {.local_ack_timeout = 31}}, 139, "f8");
  ExpectOnly(CmMra{.answered = Answered::kOther}, 8, "80");
  ExpectOnly(CmRej{.answered = Answered::kRep, .reason = {}}, 8, "40");
  const Bytes info = {0x11, 0x22, 0x33};
  ExpectOnly(CmRej{.reason = {}, .info = info}, 9, "060000112233");
  ExpectOnly(CmRep{.local_qkey = 0x01020304}, 8, "01020304");
  ExpectOnly(CmRep{.local_eecn = 0x010203}, 16, "010203");
  ExpectOnly(CmRep{.failover_accepted = 3}, 26, "06");
  ExpectOnly(CmRep{.srq = true}, 27, "10");
}

TEST(MadTest, PrivateDataFillTheRestOfTheMessage) {
  constexpr size_t kSizes[] = {kReqPrivateSize,  kMraPrivateSize,     kRejPrivateSize,
                               kRepPrivateSize,  kRtuPrivateSize,     kDreqPrivateSize,
                               kDrepPrivateSize, kSidrReqPrivateSize, kSidrRepPrivateSize};
  const CmMessage empty[] = {CmReq{},  CmMra{},  CmRej{},   CmRep{},  CmRtu{},
                             CmDreq{}, CmDrep{}, SidrReq{}, SidrRep{}};
  TestRandom random;
  for (size_t i = 0; i < std::size(empty); ++i) {
    SCOPED_TRACE(CmMessageText(empty[i]));
    CmMessage message = empty[i];
    const Bytes data = random.Octets(kSizes[i] + 1);
    *PrivateDataOf(&message) = data;
    EXPECT_EQ(Encode({0, message}), "refused");
    *PrivateDataOf(&message) = ByteSpan(data).first(kSizes[i]);
    const std::string mad = Encode({0, message});
    ASSERT_EQ(mad.size(), 2 * kMadSize);
    EXPECT_EQ(mad.substr(mad.size() - 2 * kSizes[i]), ToHex(ByteSpan(data).first(kSizes[i])));
    const Bytes wire = FromHex(mad);
    Mad parsed;
    ASSERT_EQ(ParseMad(wire, &parsed), MadParse::kOk);
    EXPECT_EQ(parsed.message.index(), i);
    EXPECT_EQ(ToHex(*PrivateDataOf(&parsed.message)), ToHex(ByteSpan(data).first(kSizes[i])));
  }
}

TEST(MadTest, NumbersWiderThanTheirFieldAreRefused) {
  EXPECT_EQ(Encode({0, CmReq{.local_qpn = 0x1000000}}), "refused");
  EXPECT_EQ(Encode({0, CmReq{.retry_count = 8}}), "refused");
  EXPECT_EQ(Encode({0, CmReq{.path_mtu = 16}}), "refused");
  EXPECT_EQ(Encode({0, CmReq{.primary = {.flow_label = 0x100000}}}), "refused");
  EXPECT_EQ(Encode({0, CmRep{.starting_psn = 0x1000000}}), "refused");
  EXPECT_EQ(Encode({0, CmMra{.service_timeout = 32}}), "refused");
  const Bytes info(kInfoSize + 1);
  EXPECT_EQ(Encode({0, CmRej{.info = info}}), "refused");
  EXPECT_EQ(Encode({0, SidrRep{.info = info}}), "refused");
}

TEST(MadTest, AdditionalInformation) {
  const Bytes info = {1, 2, 3, 4, 5, 6, 7, 8};
  for (const CmMessage& message :
       {CmMessage(CmRej{.info = info}), CmMessage(SidrRep{.info = info})}) {
    Bytes wire = FromHex(Encode({0, message}));
    Mad parsed;
    ASSERT_EQ(ParseMad(wire, &parsed), MadParse::kOk);
    const bool rej = std::holds_alternative<CmRej>(message);
    EXPECT_EQ(
        ToHex(rej ? std::get<CmRej>(parsed.message).info : std::get<SidrRep>(parsed.message).info),
        ToHex(info));
    const size_t length_at = kMadHeaderSize + (rej ? 9 : 5);
    wire[length_at] = static_cast<uint8_t>(rej ? (kInfoSize + 1) << 1 : kInfoSize + 1);
    EXPECT_EQ(ParseMad(wire, &parsed), MadParse::kInfoTooLong);
  }
}

TEST(MadTest, ForeignMadsAreRefused) {
  const Bytes good = FromHex(Encode({1, CmRtu{}}));
  const auto parse_with = [&good](size_t at, uint8_t octet) {
    Bytes wire = good;
    wire[at] = octet;
    Mad parsed;
    return ParseMad(wire, &parsed);
  };
  EXPECT_EQ(parse_with(0, 2), MadParse::kBadBaseVersion);
  EXPECT_EQ(parse_with(1, 3), MadParse::kOtherClass);
  EXPECT_EQ(parse_with(2, 1), MadParse::kBadClassVersion);
  EXPECT_EQ(parse_with(3, 1), MadParse::kOtherMethod);
  EXPECT_EQ(parse_with(16, 1), MadParse::kUnknownAttribute);
  EXPECT_EQ(parse_with(17, 0x0f), MadParse::kUnknownAttribute);
  EXPECT_EQ(parse_with(17, 0x19), MadParse::kUnknownAttribute);
  EXPECT_EQ(parse_with(17, 0x18), MadParse::kOk);
  Bytes sized = good;
  Mad parsed;
  sized.push_back(0);
  EXPECT_EQ(ParseMad(sized, &parsed), MadParse::kWrongSize);
  EXPECT_EQ(ParseMad(ByteSpan(good).first(255), &parsed), MadParse::kWrongSize);
  EXPECT_EQ(ParseMad({}, &parsed), MadParse::kWrongSize);
}

TEST(MadTest, WhatParsesIsWrittenAgainButForReservedBits) {
  TestRandom random;
  for (int i = 0; i < 5000; ++i) {
    Bytes wire = random.Octets(kMadSize);
    const uint8_t header[] = {1, 7, 2, 3};
    std::copy(std::begin(header), std::end(header), wire.begin());
    StoreBe16(&wire[16], static_cast<uint16_t>(kFirstCmAttribute + random.Below(9)));
    Mad first;
    if (ParseMad(wire, &first) != MadParse::kOk) continue;
    const Bytes again = FromHex(Encode(first));
    ASSERT_EQ(again.size(), kMadSize);
    for (size_t at = kMadHeaderSize; at < kMadSize; ++at) {
      // After the end of additional information a reader sees nothing.
      ASSERT_EQ(again[at] & ~wire[at], 0) << at;
    }
    Mad second;
    ASSERT_EQ(ParseMad(again, &second), MadParse::kOk);
    ASSERT_EQ(Encode(second), ToHex(again));
  }
}

TEST(MadTest, TimeoutCodes) {
  EXPECT_EQ(TimeoutNs(0), 4096u);
  EXPECT_EQ(TimeoutNs(20), 4294967296u);  // 4.3 s, Linux' response time-out
  EXPECT_EQ(TimeoutNs(31), uint64_t{4096} << 31);
}

TEST(MadTest, EveryMessageAndStatusHasItsText) {
  std::set<std::string> texts;
  for (int i = 0; i <= static_cast<int>(MadParse::kInfoTooLong); ++i) {
    texts.insert(MadParseText(static_cast<MadParse>(i)));
  }
  EXPECT_EQ(texts.size(), 8u);
  texts.clear();
  for (int i = 0; i <= 40; ++i) texts.insert(RejectReasonText(static_cast<RejectReason>(i)));
  EXPECT_EQ(texts.size(), 33u + 1);
  texts.clear();
  for (int i = 0; i <= 6; ++i) texts.insert(SidrStatusText(static_cast<SidrStatus>(i)));
  EXPECT_EQ(texts.size(), 6u + 1);
  EXPECT_STREQ(CmMessageText(CmReq{}), "REQ");
  EXPECT_STREQ(CmMessageText(SidrRep{}), "SIDR_REP");
}

}  // namespace
}  // namespace softdat::rdmacm
