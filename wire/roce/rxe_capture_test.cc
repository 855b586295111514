// SPDX-License-Identifier: BSD-3-Clause
// Captures of a real Linux rxe. Each packet has the ICRC that we compute. Our encoders write the
// same octets again, down to the CM messages and the header of rdma_cm.

#include <gtest/gtest.h>

#include <string>

#include "wire/ip_capture.h"
#include "wire/rdmacm/ip_header.h"
#include "wire/rdmacm/mad.h"
#include "wire/rdmacm/service_id.h"
#include "wire/roce/ip_headers.h"
#include "wire/roce/packet.h"
#include "wire/test_support.h"

namespace softdat::roce {
namespace {

using wire_test::Bytes;
using wire_test::ToHex;

struct Totals {
  int packets = 0;
  int mads = 0;
  int rdma_cm_requests = 0;
  int sends = 0;
  int writes = 0;
  int read_requests = 0;
  int read_responses = 0;
  int acknowledges = 0;

  bool operator==(const Totals&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Totals& t) {
  return out << t.packets << " packets, " << t.mads << " MADs, " << t.rdma_cm_requests
             << " requests of rdma_cm, " << t.sends << " SENDs, " << t.writes << " WRITEs, "
             << t.read_requests << " READ requests, " << t.read_responses << " READ responses, "
             << t.acknowledges << " ACKs";
}

// Requests of rdma_cm start with its header, and the addresses in it are those of the path.
void CheckRequest(const rdmacm::CmReq& req, Totals* totals) {
  ASSERT_TRUE(rdmacm::PortOf(rdmacm::PortSpace::kTcp, req.service_id).has_value());
  rdmacm::IpHeader header;
  ASSERT_EQ(rdmacm::ParseIpHeader(req.private_data, &header), rdmacm::IpHeaderParse::kOk);
  EXPECT_EQ(rdmacm::GidOf(header.ip_version, header.source), req.primary.local_gid);
  EXPECT_EQ(rdmacm::GidOf(header.ip_version, header.destination), req.primary.remote_gid);
  Bytes again(rdmacm::kIpHeaderSize);
  rdmacm::EncodeIpHeader(header, std::span(again).first<rdmacm::kIpHeaderSize>());
  EXPECT_EQ(ToHex(again), ToHex(req.private_data.first(rdmacm::kIpHeaderSize)));
  ++totals->rdma_cm_requests;
}

void CheckMad(const Packet& packet, Totals* totals) {
  EXPECT_EQ(packet.bth.dest_qpn, rdmacm::kGsiQpn);
  EXPECT_EQ(packet.headers.deth, (Deth{rdmacm::kGsiQKey, rdmacm::kGsiQpn}));
  rdmacm::Mad mad;
  const rdmacm::MadParse parsed = rdmacm::ParseMad(packet.payload, &mad);
  ASSERT_EQ(parsed, rdmacm::MadParse::kOk) << rdmacm::MadParseText(parsed);
  Bytes again(rdmacm::kMadSize);
  ASSERT_TRUE(rdmacm::EncodeMad(mad, std::span(again).first<rdmacm::kMadSize>()));
  EXPECT_EQ(ToHex(again), ToHex(packet.payload));
  ++totals->mads;
  if (const auto* req = std::get_if<rdmacm::CmReq>(&mad.message); req != nullptr) {
    CheckRequest(*req, totals);
  }
}

void Count(Operation operation, Totals* totals) {
  totals->sends += operation == Operation::kSend ? 1 : 0;
  totals->writes += operation == Operation::kWrite ? 1 : 0;
  totals->read_requests += operation == Operation::kReadRequest ? 1 : 0;
  totals->read_responses += operation == Operation::kReadResponse ? 1 : 0;
  totals->acknowledges += operation == Operation::kAcknowledge ? 1 : 0;
}

void CheckPacket(ByteSpan ip, Totals* totals) {
  const Datagram datagram = ParseIp(ip);
  ASSERT_TRUE(IcrcOk(datagram.Start(), datagram.payload));
  Packet packet;
  const PacketParse parsed = ParsePacket(datagram.payload, &packet);
  ASSERT_EQ(parsed, PacketParse::kOk) << PacketParseText(parsed);
  const PayloadCheck fits = CheckPayload(packet.bth.opcode, packet.payload.size(), 1024);
  EXPECT_EQ(fits, PayloadCheck::kOk) << PayloadCheckText(fits);
  Bytes again(datagram.payload.size());
  ASSERT_EQ(EncodePacket(packet, datagram.Start(), again), again.size());
  EXPECT_EQ(ToHex(again), ToHex(datagram.payload));
  ++totals->packets;
  const Operation operation = TraitsOf(packet.bth.opcode).operation;
  Count(operation, totals);
  if (operation == Operation::kDatagram) CheckMad(packet, totals);
}

struct Capture {
  const char* name;
  Totals expect;
};

class RxeCaptureTest : public testing::TestWithParam<Capture> {};

TEST_P(RxeCaptureTest, IsWrittenAgainOctetByOctet) {
  const std::string path = std::string("wire/roce/testdata/") + GetParam().name + ".pcap";
  Totals totals;
  int number = 0;
  for (const Bytes& ip : wire_test::ReadIpPackets(path)) {
    SCOPED_TRACE("packet " + std::to_string(++number));
    CheckPacket(ip, &totals);
  }
  EXPECT_EQ(totals, GetParam().expect);
}

INSTANTIATE_TEST_SUITE_P(All, RxeCaptureTest,
                         testing::Values(Capture{"rxe_rping", {53, 5, 1, 12, 9, 3, 9, 15}},
                                         Capture{"rxe_pingpong_v4_v6", {90, 0, 0, 70, 0, 0, 0, 20}},
                                         Capture{"rxe_udp_peer", {2, 2, 1}},
                                         Capture{"rxe_userspace_peer", {16, 5, 1, 4, 1, 1, 1, 4}},
                                         // The first packets of a longer capture.
                                         Capture{"rds_ib_rxe_head", {90, 3, 1, 35, 8, 2, 8, 34}}),
                         [](const auto& param_info) { return std::string(param_info.param.name); });

}  // namespace
}  // namespace softdat::roce
