// SPDX-License-Identifier: BSD-3-Clause
// Fuzz target: what another process says of its sockets. Whatever it is, it is nothing, or it can
// be told again.
#include <cstdint>
#include <cstdlib>

#include "rds/socket/info_exchange.h"

namespace softdat::rds {
namespace {

void Try(ByteSpan input) {
  const std::optional<Info> info = DecodeFromOther(input);
  if (!info) return;
  const std::vector<uint8_t> again = EncodeForOthers(*info);
  if (!std::equal(again.begin(), again.end(), input.begin(), input.end())) std::abort();
}

}  // namespace
}  // namespace softdat::rds

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  softdat::rds::Try({data, size});
  return 0;
}
