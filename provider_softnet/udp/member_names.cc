// SPDX-License-Identifier: BSD-3-Clause
// Names of members.
#include "provider_softnet/udp/member_names.h"

#include <fmt/format.h>

#include <cstddef>

namespace softdat::softnet {
namespace {

MemberName NameOf(uid_t user, const std::string& host, const char* kind, uint64_t number) {
  MemberName out;
  out.address.sun_family = AF_UNIX;
  // The first byte of an abstract name is zero, and the name has no end mark.
  constexpr size_t kRoom = sizeof(out.address.sun_path) - 1;
  const auto written = fmt::format_to_n(out.address.sun_path + 1, kRoom, "softdat-roce/{}/{}/{}/{}",
                                        user, host, kind, number);
  if (written.size > kRoom) return {};
  out.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + written.size);
  return out;
}

}  // namespace

MemberName BlockName(uid_t user, const std::string& host, uint32_t block) {
  return NameOf(user, host, "block", block);
}

MemberName ServiceName(uid_t user, const std::string& host, uint64_t service_id) {
  return NameOf(user, host, "service", service_id);
}

}  // namespace softdat::softnet
