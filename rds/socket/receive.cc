// SPDX-License-Identifier: BSD-3-Clause
#include "rds/socket/receive.h"

#include <limits.h>
#include <linux/rds.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "rds/socket/control_messages.h"
#include "rds/socket/program_memory.h"

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

bool CanBeFilled(const msghdr& message) {
  if (!CanBeMemory(message.msg_iov, message.msg_iovlen * sizeof(iovec))) return false;
  return std::all_of(message.msg_iov, message.msg_iov + message.msg_iovlen,
                     [](const iovec& part) { return CanBeMemory(part.iov_base, part.iov_len); });
}

// How long the message was on which part of its way.
void AddTraces(const Socket& socket, const Received& received, Time now, ControlWriter* control) {
  const std::vector<uint8_t>& wanted = socket.options().traces;
  if (wanted.empty()) return;
  // There is no moment between a header and the rest of its fragment.
  const Time moments[] = {received.began, received.began, received.ended, now};
  rds_cmsg_rx_trace out{};
  out.rx_traces = static_cast<uint8_t>(wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) {
    out.rx_trace_pos[i] = wanted[i];
    out.rx_trace[i] = static_cast<uint64_t>((moments[wanted[i] + 1] - moments[wanted[i]]).count());
  }
  control->Add(SOL_RDS, RDS_CMSG_RXPATH_LATENCY, &out, sizeof out);
}

// Payloads that are the program's again. Without room for them they stay for the next call.
bool AddReturned(Socket& socket, ControlWriter* control) {
  std::deque<uint32_t>& returned = socket.returned_payloads();
  if (!socket.options().zero_copy || returned.empty()) return false;
  rds_zcopy_cookies out{};
  if (!control->HasRoomFor(CMSG_SPACE(sizeof out))) return false;
  for (; out.num < RDS_MAX_ZCOOKIES && !returned.empty(); ++out.num) {
    out.cookies[out.num] = returned.front();
    returned.pop_front();
  }
  return control->Add(SOL_RDS, RDS_CMSG_ZCOPY_COMPLETION, &out, sizeof out);
}

ssize_t TellReturned(Socket& socket, msghdr* message) {
  ControlWriter control(*message);
  if (!AddReturned(socket, &control)) return -EAGAIN;
  control.Finish(message);
  message->msg_namelen = 0;
  return 0;
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
  if (size > 0 && !CanBeFilled(*message)) return -EFAULT;
  const size_t copied = Scatter(first.message.payload, *message);
  ControlWriter control(*message);
  if (const auto& opened = first.message.extensions.rdma_destination) {
    const rds_rdma_cookie_t cookie = opened->rkey | uint64_t{opened->offset} << 32;
    control.Add(SOL_RDS, RDS_CMSG_RDMA_DEST, &cookie, sizeof cookie);
  }
  // The option counts when the message came, and now. On this machine both kinds look the same.
  if (first.arrival && socket.options().timestamps) {
    const int type = socket.options().new_timestamps ? SO_TIMESTAMP_NEW : SCM_TIMESTAMP;
    static_assert(sizeof *first.arrival == 16);
    control.Add(SOL_SOCKET, type, &*first.arrival, sizeof *first.arrival);
  }
  AddTraces(socket, first, now, &control);
  AddReturned(socket, &control);
  control.Finish(message);
  node.CountDelivered(copied);
  if (copied < size) message->msg_flags |= MSG_TRUNC;
  TellName(first.from, message);
  if ((flags & MSG_PEEK) == 0) node.Pop(socket, now);
  return static_cast<ssize_t>((flags & MSG_TRUNC) != 0 ? size : copied);
}

}  // namespace

ssize_t Receive(Node& node, Socket& socket, msghdr* message, int flags, bool waits, Time now) {
  if (!CanBeMemory(message, sizeof *message)) return -EFAULT;
  if (message->msg_name != nullptr && message->msg_namelen > INT_MAX) return -EINVAL;
  if (message->msg_iovlen > IOV_MAX) return -EMSGSIZE;
  if (message->msg_name != nullptr && !CanBeMemory(message->msg_name, message->msg_namelen)) {
    return -EFAULT;
  }
  if (message->msg_control != nullptr &&
      !CanBeMemory(message->msg_control, message->msg_controllen)) {
    return -EFAULT;
  }
  message->msg_flags = 0;
  if ((flags & MSG_OOB) != 0) {
    message->msg_namelen = 0;
    message->msg_controllen = 0;
    return 0;
  }
  if (!socket.notifications().empty()) return TellNotifications(socket, message);
  if (socket.freed() != 0) return TellFreed(socket, message);
  if (socket.first() != nullptr) return GiveMessage(node, socket, message, flags, now);
  return waits ? -EAGAIN : TellReturned(socket, message);
}

}  // namespace softdat::rds
