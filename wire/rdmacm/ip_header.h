// SPDX-License-Identifier: BSD-3-Clause
// The header that rdma_cm puts in front of the private data of a REQ and of a SIDR_REQ. It says who
// asks whom, in IP terms (IBTA vol. 1, annex A11).

#ifndef SOFTDAT_WIRE_RDMACM_IP_HEADER_H_
#define SOFTDAT_WIRE_RDMACM_IP_HEADER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "wire/bytes.h"
#include "wire/rdmacm/cm_messages.h"

namespace softdat::rdmacm {

inline constexpr size_t kIpHeaderSize = 36;

/// An address in the form of the header. An IPv4 address is in the last four octets, after zeros.
using HeaderAddress = std::array<uint8_t, 16>;

struct IpHeader {
  uint8_t ip_version = 4;  ///< 4 or 6.
  uint16_t source_port = 0;
  HeaderAddress source = {};
  HeaderAddress destination = {};

  bool operator==(const IpHeader&) const = default;
};

enum class IpHeaderParse : uint8_t {
  kOk,
  kTooShort,      ///< The private data end inside the header.
  kBadVersion,    ///< The version of the header is not 0.
  kBadIpVersion,  ///< Neither 4 nor 6.
};

/// Reads the header at the front of the private data. `out` is written only for kOk.
IpHeaderParse ParseIpHeader(ByteSpan private_data, IpHeader* out);

void EncodeIpHeader(const IpHeader& header, std::span<uint8_t, kIpHeaderSize> out);

HeaderAddress HeaderAddressOf(const std::array<uint8_t, 4>& ipv4);

/// The GID of an address over RoCE. For IPv4 it differs from the address in the header:
/// ::ffff:a.b.c.d.
Gid GidOf(uint8_t ip_version, const HeaderAddress& address);

/// A fixed text for a parse result.
const char* IpHeaderParseText(IpHeaderParse result);

}  // namespace softdat::rdmacm

#endif  // SOFTDAT_WIRE_RDMACM_IP_HEADER_H_
