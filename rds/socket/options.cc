// SPDX-License-Identifier: BSD-3-Clause
#include "rds/socket/options.h"

#include <linux/rds.h>
#include <sys/time.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>

namespace softdat::rds {
namespace {

// Reads a value of exactly this size.
template <typename T>
bool ReadExactly(const void* value, socklen_t length, T* out) {
  if (length != sizeof *out || value == nullptr) return false;
  std::memcpy(out, value, sizeof *out);
  return true;
}
// Reads the first int of a value.
bool ReadInt(const void* value, socklen_t length, int* out) {
  if (length < sizeof *out || value == nullptr) return false;
  std::memcpy(out, value, sizeof *out);
  return true;
}

int CancelSentTo(Node& node, Socket& socket, const void* value, socklen_t length, Time now) {
  if (!socket.bound()) return ENOTCONN;
  if (length == 0) {
    node.Cancel(socket, std::nullopt, now);
    return 0;
  }
  sockaddr_storage copy{};
  if (value == nullptr) return EFAULT;
  std::memcpy(&copy, value, std::min<size_t>(length, sizeof copy));
  SocketName to;
  const int error = ParseDestination(reinterpret_cast<const sockaddr*>(&copy), length, &to);
  if (error != 0) return error;
  node.Cancel(socket, to, now);
  return 0;
}

int GetRegion(Node& node, Socket& socket, const rds_get_mr_args& args) {
  const RegionRequest request = RegionRequestOf(args);
  rds_rdma_cookie_t cookie = 0;
  if (const int error = node.OpenMemory(socket, request, &cookie); error != 0) return error;
  if (request.cookie_address == 0) return 0;
  if (CopyToProgram(request.cookie_address, &cookie, sizeof cookie)) return 0;
  node.CloseMemory(socket, cookie);
  return EFAULT;
}

int FreeRegion(Node& node, Socket& socket, const void* value, socklen_t length) {
  rds_free_mr_args args{};
  if (!ReadExactly(value, length, &args)) return EINVAL;
  if (!socket.bound()) return EINVAL;
  // What was closed is closed at once, so nothing is left to be flushed.
  if (args.cookie == 0) return 0;
  return node.CloseMemory(socket, args.cookie);
}

int SetRds(Node& node, Socket& socket, int name, const void* value, socklen_t length, Time now) {
  int number = 0;
  switch (name) {
    case RDS_CANCEL_SENT_TO:
      return CancelSentTo(node, socket, value, length, now);
    case RDS_GET_MR: {
      rds_get_mr_args args{};
      return ReadExactly(value, length, &args) ? GetRegion(node, socket, args) : EINVAL;
    }
    case RDS_GET_MR_FOR_DEST: {
      rds_get_mr_for_dest_args args{};
      if (!ReadExactly(value, length, &args)) return EINVAL;
      rds_get_mr_args plain{};
      plain.vec = args.vec;
      plain.cookie_addr = args.cookie_addr;
      plain.flags = args.flags;
      return GetRegion(node, socket, plain);
    }
    case RDS_FREE_MR:
      return FreeRegion(node, socket, value, length);
    case RDS_RECVERR:
      if (!ReadInt(value, length, &number)) return EINVAL;
      socket.options().errors = number != 0;
      return 0;
    case RDS_CONG_MONITOR:
      if (!ReadInt(value, length, &number)) return EINVAL;
      socket.SetMonitor(number != 0);
      return 0;
    case SO_RDS_TRANSPORT:
      if (!ReadExactly(value, length, &number)) return EINVAL;
      if (socket.bound()) return EOPNOTSUPP;
      if (number == RDS_TRANS_IB) return 0;
      return number == RDS_TRANS_TCP ? ENOPROTOOPT : EINVAL;
    default:
      return ENOPROTOOPT;
  }
}

// Microseconds of a timeval; 0: no limit.
int SetTimeout(const void* value, socklen_t length, uint64_t* out) {
  timeval time{};
  if (length < sizeof time || value == nullptr) return EINVAL;
  std::memcpy(&time, value, sizeof time);
  if (time.tv_usec < 0 || time.tv_usec >= 1000000) return EDOM;
  *out = time.tv_sec < 0
             ? 0
             : static_cast<uint64_t>(time.tv_sec) * 1000000 + static_cast<uint64_t>(time.tv_usec);
  return 0;
}

// What Linux takes at least, as the doubled value.
constexpr size_t kLeastSend = 4608, kLeastReceive = 2304;

size_t Limit(int value, size_t least) {
  const size_t wanted =
      value < 0 ? std::numeric_limits<int>::max() / 2 : static_cast<size_t>(value);
  return std::max(std::min<size_t>(wanted, std::numeric_limits<int>::max() / 2), least / 2);
}

int SetSocket(Socket& socket, int name, const void* value, socklen_t length) {
  Socket::Options& options = socket.options();
  if (name == SO_SNDTIMEO) return SetTimeout(value, length, &options.send_timeout_us);
  if (name == SO_RCVTIMEO) return SetTimeout(value, length, &options.receive_timeout_us);
  int number = 0;
  if (!ReadInt(value, length, &number)) return EINVAL;
  switch (name) {
    case SO_SNDBUF:
    case SO_SNDBUFFORCE:
      options.send_limit = Limit(number, kLeastSend);
      return 0;
    case SO_RCVBUF:
    case SO_RCVBUFFORCE:
      options.receive_limit = Limit(number, kLeastReceive);
      return 0;
    case SO_REUSEADDR:
      options.reuse_address = number != 0;
      return 0;
    case SO_REUSEPORT:
      options.reuse_port = number != 0;
      return 0;
    case SO_TIMESTAMP:
      options.timestamps = number != 0;
      return 0;
    // These have no meaning here, and none in Linux.
    case SO_KEEPALIVE:
    case SO_PRIORITY:
    case SO_BROADCAST:
    case SO_DONTROUTE:
      return 0;
    default:
      return ENOPROTOOPT;
  }
}

// Gives as much of it as there is room for.
template <typename T>
int Give(const T& what, void* value, socklen_t* length) {
  const auto size = static_cast<socklen_t>(std::min<size_t>(*length, sizeof what));
  std::memcpy(value, &what, size);
  *length = size;
  return 0;
}

int GetRds(const Socket& socket, int name, void* value, socklen_t* length) {
  if (name != RDS_RECVERR && name != SO_RDS_TRANSPORT) return ENOPROTOOPT;
  if (*length < sizeof(int)) return EINVAL;
  if (name == RDS_RECVERR) return Give(int{socket.options().errors}, value, length);
  return Give(socket.bound() ? int{RDS_TRANS_IB} : -1, value, length);
}

timeval TimeOf(uint64_t us) {
  return {static_cast<time_t>(us / 1000000), static_cast<suseconds_t>(us % 1000000)};
}

int GetSocket(const Socket& socket, int name, void* value, socklen_t* length) {
  const Socket::Options& options = socket.options();
  switch (name) {
    case SO_SNDTIMEO:
      return Give(TimeOf(options.send_timeout_us), value, length);
    case SO_RCVTIMEO:
      return Give(TimeOf(options.receive_timeout_us), value, length);
    case SO_SNDBUF:
      return Give(static_cast<int>(2 * options.send_limit), value, length);
    case SO_RCVBUF:
      return Give(static_cast<int>(2 * options.receive_limit), value, length);
    case SO_REUSEADDR:
      return Give(int{options.reuse_address}, value, length);
    case SO_REUSEPORT:
      return Give(int{options.reuse_port}, value, length);
    case SO_TIMESTAMP:
      return Give(int{options.timestamps}, value, length);
    case SO_TYPE:
      return Give(int{SOCK_SEQPACKET}, value, length);
    case SO_DOMAIN:
      return Give(int{AF_RDS}, value, length);
    case SO_PROTOCOL:
    case SO_ERROR:
    case SO_ACCEPTCONN:
    case SO_KEEPALIVE:
    case SO_PRIORITY:
    case SO_BROADCAST:
    case SO_DONTROUTE:
      return Give(int{0}, value, length);
    default:
      return ENOPROTOOPT;
  }
}

}  // namespace

int SetOption(Node& node, Socket& socket, int level, int name, const void* value, socklen_t length,
              Time now) {
  if (level == SOL_RDS) return SetRds(node, socket, name, value, length, now);
  return level == SOL_SOCKET ? SetSocket(socket, name, value, length) : ENOPROTOOPT;
}

int GetOption(const Socket& socket, int level, int name, void* value, socklen_t* length) {
  if (value == nullptr) return EFAULT;
  if (level == SOL_RDS) return GetRds(socket, name, value, length);
  return level == SOL_SOCKET ? GetSocket(socket, name, value, length) : ENOPROTOOPT;
}

}  // namespace softdat::rds
