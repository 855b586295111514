// SPDX-License-Identifier: BSD-3-Clause
// Names of members.
#include "provider_softnet/udp/member_names.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstring>

namespace softdat::softnet {
namespace {

MemberName NameOf(uid_t user, const std::string& host, const char* kind, uint64_t number) {
  const std::string name = fmt::format("softdat-roce/{}/{}/{}/{}", user, host, kind, number);
  MemberName out;
  out.address.sun_family = AF_UNIX;
  // The first byte of an abstract name is zero, and the name has no end mark.
  if (name.size() + 1 > sizeof(out.address.sun_path)) return out;
  std::memcpy(out.address.sun_path + 1, name.data(), name.size());
  out.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
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
