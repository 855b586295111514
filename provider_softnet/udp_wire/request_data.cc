// SPDX-License-Identifier: BSD-3-Clause
// RequestData, DatagramRequestData.
#include "provider_softnet/udp_wire/request_data.h"

#include <netinet/in.h>

#include <algorithm>
#include <cstring>

#include "wire/rdmacm/ip_header.h"

namespace softdat::softnet {

using rdmacm::CmField;

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

// Writes the header, and the field with the consumer's data behind it.
void Store(CmField kind, const sockaddr_storage& from, uint16_t source_port,
           const sockaddr_storage& to, uint64_t conn_qual, ByteSpan data, uint8_t* out) {
  rdmacm::IpHeader header;
  header.ip_version = from.ss_family == AF_INET ? 4 : 6;
  header.source_port = source_port;
  header.source = HeaderAddressOf(from);
  header.destination = HeaderAddressOf(to);
  rdmacm::EncodeIpHeader(header,
                         std::span<uint8_t, rdmacm::kIpHeaderSize>(out, rdmacm::kIpHeaderSize));
  const auto qualifier = conn_qual > 65535 ? std::optional<uint64_t>(conn_qual) : std::nullopt;
  const rdmacm::FieldWriter field(kind, /*padded=*/true, qualifier, data);
  std::copy_n(field.data(), field.size(), out + rdmacm::kIpHeaderSize);
}

}  // namespace

RequestData::RequestData(const sockaddr_storage& from, uint16_t source_port,
                         const sockaddr_storage& to, uint64_t conn_qual, ByteSpan data) {
  static_assert(rdmacm::kIpHeaderSize + rdmacm::kRequestFieldSize == rdmacm::kReqPrivateSize);
  Store(CmField::kRequest, from, source_port, to, conn_qual, data, bytes_.data());
}

DatagramRequestData::DatagramRequestData(const sockaddr_storage& from, uint16_t source_port,
                                         const sockaddr_storage& to, uint64_t conn_qual,
                                         ByteSpan data, const rdmacm::DatagramIdentity& asker) {
  static_assert(rdmacm::kIpHeaderSize + rdmacm::kSidrRequestFieldSize +
                    rdmacm::kDatagramIdentitySize ==
                rdmacm::kSidrReqPrivateSize);
  Store(CmField::kSidrRequest, from, source_port, to, conn_qual, data, bytes_.data());
  rdmacm::StoreDatagramIdentity(asker, std::span(bytes_).last<rdmacm::kDatagramIdentitySize>());
}

std::optional<RequestMeaning> ReadRequestData(ByteSpan bytes, CmField field) {
  rdmacm::IpHeader header;
  if (rdmacm::ParseIpHeader(bytes, &header) != rdmacm::IpHeaderParse::kOk) return std::nullopt;
  RequestMeaning meaning;
  meaning.source_port = header.source_port;
  meaning.field = rdmacm::ReadField(field, bytes.subspan(rdmacm::kIpHeaderSize), /*iwarp=*/false);
  return meaning;
}

}  // namespace softdat::softnet
