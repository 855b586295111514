// SPDX-License-Identifier: BSD-3-Clause
// Fuzz target: the parts of private data that say who asks. These are the header of rdma_cm in
// front, and the identity of a datagram endpoint at the end.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>

#include "wire/rdmacm/datagram_identity.h"
#include "wire/rdmacm/ip_header.h"
#include "wire/rdmacm/service_id.h"

namespace softdat::rdmacm {
namespace {

void Require(bool condition) {
  if (!condition) std::abort();
}

void FuzzHeader(ByteSpan in) {
  IpHeader header;
  const IpHeaderParse parsed = ParseIpHeader(in, &header);
  Require(IpHeaderParseText(parsed) != nullptr);
  if (parsed != IpHeaderParse::kOk) return;
  std::array<uint8_t, kIpHeaderSize> out;
  EncodeIpHeader(header, out);
  Require(out[0] == in[0] && out[1] == (in[1] & 0xf0));
  Require(std::equal(out.begin() + 2, out.end(), in.begin() + 2));
  const Gid gid = GidOf(header.ip_version, header.source);
  Require(std::equal(gid.begin() + 12, gid.end(), header.source.begin() + 12));
}

void FuzzIdentity(ByteSpan in) {
  DatagramIdentity identity;
  if (!FindDatagramIdentity(in, &identity)) return;
  std::array<uint8_t, kDatagramIdentitySize> out;
  StoreDatagramIdentity(identity, out);
  Require(std::ranges::equal(out, in.last(kDatagramIdentitySize)));
}

void FuzzServiceId(ByteSpan in) {
  if (in.size() < 8) return;
  const uint64_t id = LoadBe64(in.data());
  for (const PortSpace space : {PortSpace::kTcp, PortSpace::kUdp}) {
    const auto port = PortOf(space, id);
    Require(!port.has_value() || ServiceIdOf(space, *port) == id);
  }
}

}  // namespace
}  // namespace softdat::rdmacm

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  softdat::rdmacm::FuzzHeader({data, size});
  softdat::rdmacm::FuzzIdentity({data, size});
  softdat::rdmacm::FuzzServiceId({data, size});
  return 0;
}
