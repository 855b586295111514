// SPDX-License-Identifier: BSD-3-Clause
// Reads the IP packets of a small capture, for tests.

#include "wire/ip_capture.h"

#include <gtest/gtest.h>

namespace softdat::wire_test {
namespace {

constexpr uint32_t kPcapMagic = 0xa1b2c3d4;
constexpr uint32_t kLinkEthernet = 1;
constexpr size_t kFileHeader = 24;
constexpr size_t kRecordHeader = 16;
constexpr size_t kEthernetHeader = 14;

bool IsIp(ByteSpan frame) {
  if (frame.size() <= kEthernetHeader) return false;
  const uint16_t type = LoadBe16(&frame[12]);
  return type == 0x0800 || type == 0x86dd;
}

}  // namespace

std::vector<Bytes> ReadIpPackets(const std::string& path) {
  const std::string text = ReadTestFile(path);
  const Bytes file(text.begin(), text.end());
  std::vector<Bytes> packets;
  if (file.size() < kFileHeader || LoadLe32(file.data()) != kPcapMagic ||
      LoadLe32(&file[20]) != kLinkEthernet) {
    ADD_FAILURE() << path << " is no little-endian Ethernet pcap";
    return packets;
  }
  size_t at = kFileHeader;
  while (file.size() - at >= kRecordHeader) {
    const size_t captured = LoadLe32(&file[at + 8]);
    const size_t length = LoadLe32(&file[at + 12]);
    at += kRecordHeader;
    if (captured != length || captured > file.size() - at) break;
    const ByteSpan frame = ByteSpan(file).subspan(at, captured);
    at += captured;
    if (!IsIp(frame)) {
      ADD_FAILURE() << path << ": a frame that is not IP";
      continue;
    }
    packets.emplace_back(frame.begin() + kEthernetHeader, frame.end());
  }
  EXPECT_EQ(at, file.size()) << path << " ends inside a record or holds a cut frame";
  return packets;
}

}  // namespace softdat::wire_test
