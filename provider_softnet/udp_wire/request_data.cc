// SPDX-License-Identifier: BSD-3-Clause
// RequestData.
#include "provider_softnet/udp_wire/request_data.h"

#include <netinet/in.h>

#include <algorithm>
#include <cstring>

#include "wire/rdmacm/ip_header.h"

namespace softdat::softnet {

namespace {

rdmacm::HeaderAddress HeaderAddressOf(const sockaddr_storage& address) {
  if (address.ss_family == AF_INET) {
    std::array<uint8_t, 4> ipv4;
    std::memcpy(ipv4.data(), &reinterpret_cast<const sockaddr_in*>(&address)->sin_addr, 4);
    return rdmacm::HeaderAddressOf(ipv4);
  }
  rdmacm::HeaderAddress ipv6;
  std::memcpy(ipv6.data(), &reinterpret_cast<const sockaddr_in6*>(&address)->sin6_addr,
              ipv6.size());
  return ipv6;
}

}  // namespace

RequestData::RequestData(const sockaddr_storage& from, uint16_t source_port,
                         const sockaddr_storage& to, uint64_t conn_qual, ByteSpan data) {
  rdmacm::IpHeader header;
  header.ip_version = from.ss_family == AF_INET ? 4 : 6;
  header.source_port = source_port;
  header.source = HeaderAddressOf(from);
  header.destination = HeaderAddressOf(to);
  rdmacm::EncodeIpHeader(header, std::span(bytes_).first<rdmacm::kIpHeaderSize>());
  const auto qualifier = conn_qual > 65535 ? std::optional<uint64_t>(conn_qual) : std::nullopt;
  const rdmacm::FieldWriter field(rdmacm::CmField::kRequest, /*padded=*/true, qualifier, data);
  std::copy_n(field.data(), field.size(), bytes_.begin() + rdmacm::kIpHeaderSize);
}

std::optional<RequestMeaning> ReadRequestData(ByteSpan bytes) {
  rdmacm::IpHeader header;
  if (rdmacm::ParseIpHeader(bytes, &header) != rdmacm::IpHeaderParse::kOk) return std::nullopt;
  RequestMeaning meaning;
  meaning.source_port = header.source_port;
  meaning.field = rdmacm::ReadField(rdmacm::CmField::kRequest, bytes.subspan(rdmacm::kIpHeaderSize),
                                    /*iwarp=*/false);
  return meaning;
}

}  // namespace softdat::softnet
