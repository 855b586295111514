// SPDX-License-Identifier: BSD-3-Clause
// Local datagram sockets in the abstract name space.
#include "provider_softnet/udp/member_sockets.h"

#include <errno.h>
#include <fmt/format.h>
#include <string.h>
#include <unistd.h>

#include "provider_softnet/driver/descriptor_limit.h"
#include "provider_softnet/udp/datagram_calls.h"

namespace softdat::softnet {

Result<UniqueFd> OpenHandOn() {
  while (true) {
    UniqueFd fd(socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (fd.valid()) return fd;
    const int error = errno;
    if (error == EMFILE && RaiseDescriptorLimit()) continue;
    return Status(Code::kNoResources, fmt::format("no local socket: {}", strerror(error)));
  }
}

Result<UniqueFd> OpenNamed(const MemberName& name) {
  if (name.size == 0) return Status(Code::kInvalidArgument, "the name of a member is too long");
  Result<UniqueFd> opened = OpenHandOn();
  if (!opened.ok()) return opened;
  const int fd = opened.value().get();
  const int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on));
  if (bind(fd, reinterpret_cast<const sockaddr*>(&name.address), name.size) == 0) return opened;
  const Code code = errno == EADDRINUSE ? Code::kInUse : Code::kNoResources;
  return Status(code, fmt::format("no name for a local socket: {}", strerror(errno)));
}

bool IsTaken(const MemberName& name) {
  if (name.size == 0) return true;
  Result<UniqueFd> fd = OpenHandOn();
  if (!fd.ok()) return true;
  const auto* const address = reinterpret_cast<const sockaddr*>(&name.address);
  return connect(fd.value().get(), address, name.size) == 0 || errno != ECONNREFUSED;
}

Result<ClaimedBlock> OpenFreeBlock(const std::string& host,
                                   const std::function<uint64_t()>& random) {
  constexpr uint32_t kUsable = kBlocks - 1;  // without block 0
  const auto start = static_cast<uint32_t>(random() % kUsable);
  for (uint32_t i = 0; i < kUsable; ++i) {
    const uint32_t number = 1 + (start + i) % kUsable;
    Result<UniqueFd> opened = OpenNamed(BlockName(geteuid(), host, number));
    if (opened.ok()) return ClaimedBlock{number, opened.Take()};
    if (opened.status().code() != Code::kInUse) return opened.TakeStatus();
  }
  return Status(Code::kNoResources,
                fmt::format("the members at {} have all queue pair numbers", host));
}

HandOnResult HandOn(int fd, const MemberName& name, const sockaddr_storage& source,
                    std::span<const uint8_t> datagram) {
  if (name.size == 0) return HandOnResult::kNobody;
  ForwardPrefix prefix = EncodeForwardPrefix(source);
  iovec iov[2] = {{prefix.data(), prefix.size()},
                  {const_cast<uint8_t*>(datagram.data()), datagram.size()}};
  mmsghdr message{};
  message.msg_hdr.msg_name = const_cast<sockaddr_un*>(&name.address);
  message.msg_hdr.msg_namelen = name.size;
  message.msg_hdr.msg_iov = iov;
  message.msg_hdr.msg_iovlen = 2;
  if (SendMany(fd, &message, 1) == 1) return HandOnResult::kDone;
  return errno == ECONNREFUSED ? HandOnResult::kNobody : HandOnResult::kFull;
}

HandOnResult SendOffer(int fd, const MemberName& name, const MemberOffer& offer, int answer,
                       int lease) {
  if (name.size == 0) return HandOnResult::kNobody;
  OfferPrefix prefix = EncodeOfferPrefix(offer);
  iovec iov[2] = {{prefix.data(), prefix.size()},
                  {const_cast<uint8_t*>(offer.mad.data()), offer.mad.size()}};
  const int passed[2] = {answer, lease};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(passed))] = {};
  mmsghdr message{};
  msghdr& m = message.msg_hdr;
  m.msg_name = const_cast<sockaddr_un*>(&name.address);
  m.msg_namelen = name.size;
  m.msg_iov = iov;
  m.msg_iovlen = 2;
  m.msg_control = control;
  m.msg_controllen = sizeof(control);
  cmsghdr* const c = CMSG_FIRSTHDR(&m);
  c->cmsg_level = SOL_SOCKET;
  c->cmsg_type = SCM_RIGHTS;
  c->cmsg_len = CMSG_LEN(sizeof(passed));
  memcpy(CMSG_DATA(c), passed, sizeof(passed));
  if (SendMany(fd, &message, 1) == 1) return HandOnResult::kDone;
  return errno == ECONNREFUSED ? HandOnResult::kNobody : HandOnResult::kFull;
}

}  // namespace softdat::softnet
