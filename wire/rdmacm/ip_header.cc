// SPDX-License-Identifier: BSD-3-Clause
// The header of rdma_cm in private data: the codec.

#include "wire/rdmacm/ip_header.h"

#include <algorithm>

namespace softdat::rdmacm {

IpHeaderParse ParseIpHeader(ByteSpan private_data, IpHeader* out) {
  if (private_data.size() < kIpHeaderSize) return IpHeaderParse::kTooShort;
  const uint8_t* p = private_data.data();
  const uint8_t ip_version = p[1] >> 4;
  if (p[0] != 0) return IpHeaderParse::kBadVersion;
  if (ip_version != 4 && ip_version != 6) return IpHeaderParse::kBadIpVersion;
  out->ip_version = ip_version;
  out->source_port = LoadBe16(p + 2);
  std::copy_n(p + 4, out->source.size(), out->source.begin());
  std::copy_n(p + 20, out->destination.size(), out->destination.begin());
  return IpHeaderParse::kOk;
}

void EncodeIpHeader(const IpHeader& header, std::span<uint8_t, kIpHeaderSize> out) {
  uint8_t* p = out.data();
  p[0] = 0;
  p[1] = static_cast<uint8_t>(header.ip_version << 4);
  StoreBe16(p + 2, header.source_port);
  std::copy(header.source.begin(), header.source.end(), p + 4);
  std::copy(header.destination.begin(), header.destination.end(), p + 20);
}

HeaderAddress HeaderAddressOf(const std::array<uint8_t, 4>& ipv4) {
  HeaderAddress address = {};
  std::copy(ipv4.begin(), ipv4.end(), address.end() - ipv4.size());
  return address;
}

Gid GidOf(uint8_t ip_version, const HeaderAddress& address) {
  Gid gid = address;
  if (ip_version == 4) {
    std::fill_n(gid.begin(), 10, uint8_t{0});
    gid[10] = gid[11] = 0xff;
  }
  return gid;
}

const char* IpHeaderParseText(IpHeaderParse result) {
  switch (result) {
    case IpHeaderParse::kOk:
      return "ok";
    case IpHeaderParse::kTooShort:
      return "private data shorter than the header of rdma_cm";
    case IpHeaderParse::kBadVersion:
      return "version of the header of rdma_cm is not 0";
    case IpHeaderParse::kBadIpVersion:
      return "IP version is neither 4 nor 6";
  }
  return "unknown header parse result";
}

}  // namespace softdat::rdmacm
