// SPDX-License-Identifier: BSD-3-Clause
#include "rds/socket/receive.h"

#include <linux/rds.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "rds/socket/control_messages.h"

namespace softdat::rds {
namespace {

constexpr size_t kStatusSpace = CMSG_SPACE(sizeof(rds_rdma_notify));

ssize_t TellNotifications(Socket& socket, msghdr* message) {
  ControlWriter control(*message);
  const size_t room = message->msg_control == nullptr ? 0 : message->msg_controllen;
  size_t left = std::max<size_t>(room / kStatusSpace, 1);
  for (; left > 0 && !socket.notifications().empty(); --left) {
    const Notification& told = socket.notifications().front();
    rds_rdma_notify out{};
    out.user_token = told.token;
    out.status = told.status;
    control.Add(SOL_RDS, RDS_CMSG_RDMA_STATUS, &out, sizeof out);
    socket.notifications().pop_front();
  }
  control.Finish(message);
  message->msg_namelen = 0;
  return 0;
}

ssize_t TellFreed(Socket& socket, msghdr* message) {
  ControlWriter control(*message);
  const uint64_t groups = socket.TakeFreed();
  control.Add(SOL_RDS, RDS_CMSG_CONG_UPDATE, &groups, sizeof groups);
  control.Finish(message);
  message->msg_namelen = 0;
  return 0;
}

void TellName(const SocketName& name, msghdr* message) {
  if (message->msg_name == nullptr) return;
  const RawName raw = Raw(name);
  std::memcpy(message->msg_name, &raw.storage, std::min(message->msg_namelen, raw.length));
  message->msg_namelen = raw.length;
}

size_t Scatter(const std::vector<uint8_t>& payload, const msghdr& message) {
  size_t copied = 0;
  for (size_t i = 0; i < message.msg_iovlen && copied < payload.size(); ++i) {
    const iovec& part = message.msg_iov[i];
    const size_t size = std::min(part.iov_len, payload.size() - copied);
    if (size > 0) std::memcpy(part.iov_base, payload.data() + copied, size);
    copied += size;
  }
  return copied;
}

ssize_t GiveMessage(Node& node, Socket& socket, msghdr* message, int flags, Time now) {
  const Received& first = *socket.first();
  const size_t size = first.message.payload.size();
  const size_t copied = Scatter(first.message.payload, *message);
  ControlWriter control(*message);
  if (const auto& opened = first.message.extensions.rdma_destination) {
    const rds_rdma_cookie_t cookie = opened->rkey | uint64_t{opened->offset} << 32;
    control.Add(SOL_RDS, RDS_CMSG_RDMA_DEST, &cookie, sizeof cookie);
  }
  if (first.arrival) {
    control.Add(SOL_SOCKET, SCM_TIMESTAMP, &*first.arrival, sizeof *first.arrival);
  }
  control.Finish(message);
  if (copied < size) message->msg_flags |= MSG_TRUNC;
  TellName(first.from, message);
  if ((flags & MSG_PEEK) == 0) node.Pop(socket, now);
  return static_cast<ssize_t>((flags & MSG_TRUNC) != 0 ? size : copied);
}

}  // namespace

ssize_t Receive(Node& node, Socket& socket, msghdr* message, int flags, Time now) {
  message->msg_flags = 0;
  if (!socket.notifications().empty()) return TellNotifications(socket, message);
  if (socket.freed() != 0) return TellFreed(socket, message);
  if (socket.first() == nullptr) return -EAGAIN;
  return GiveMessage(node, socket, message, flags, now);
}

}  // namespace softdat::rds
