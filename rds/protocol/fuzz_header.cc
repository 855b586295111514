// SPDX-License-Identifier: BSD-3-Clause
// Fuzz target: what a peer sends, as a header and as private data. A header that is read and
// written again says the same.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>

#include "rds/protocol/connect_data.h"
#include "rds/protocol/header.h"

namespace softdat::rds {
namespace {

void Require(bool condition) {
  if (!condition) std::abort();
}

void CheckHeader(ByteSpan in) {
  Header header;
  if (ParseHeader(in, &header) != HeaderParse::kOk) return;
  std::array<uint8_t, kHeaderSize> out;
  // A list may have an extension twice, and then what is left of it fits.
  Require(EncodeHeader(header, out) || header.extensions != Extensions{});
  if (!EncodeHeader(header, out)) return;
  Header again;
  Require(ParseHeader(out, &again) == HeaderParse::kOk);
  Require(again == header);
}

void CheckConnectData(ByteSpan in, bool ipv6) {
  const std::optional<ConnectData> data = ParseConnectData(in, ipv6);
  if (!data) return;
  (void)IsCompatible(*data);
  std::array<uint8_t, kConnectDataSize6> out;
  const size_t size = EncodeConnectData(*data, out);
  Require(size == (ipv6 ? kConnectDataSize6 : kConnectDataSize));
  Require(ParseConnectData(ByteSpan(out).first(size), ipv6) == data);
}

}  // namespace
}  // namespace softdat::rds

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const softdat::ByteSpan in(data, size);
  softdat::rds::CheckHeader(in);
  softdat::rds::CheckConnectData(in, false);
  softdat::rds::CheckConnectData(in, true);
  return 0;
}
