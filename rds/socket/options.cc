// SPDX-License-Identifier: BSD-3-Clause
#include "rds/socket/options.h"

#include <limits.h>
#include <linux/rds.h>
#include <netinet/in.h>
#include <sys/time.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <span>

#include "rds/socket/program_memory.h"

namespace softdat::rds {
namespace {

// Reads a value of exactly this size. `wrong`: for another size.
template <typename T>
int ReadExactly(const void* value, socklen_t length, T* out, int wrong = EINVAL) {
  if (length != sizeof *out) return wrong;
  return CopyFromProgram(reinterpret_cast<uintptr_t>(value), out, sizeof *out) ? 0 : EFAULT;
}
// Reads the first int of a value.
int ReadInt(const void* value, socklen_t length, int* out) {
  return length < sizeof *out ? EINVAL : ReadExactly(value, sizeof *out, out);
}
// Stores one of them as true or false.
int ReadBool(const void* value, socklen_t length, bool* out) {
  int number = 0;
  const int error = ReadInt(value, length, &number);
  if (error == 0) *out = number != 0;
  return error;
}

// Linux looks at nothing but address and port: what was never sent to is nothing to take back.
int CancelSentTo(Node& node, Socket& socket, const void* value, socklen_t length, Time now) {
  if (!socket.bound()) return ENOTCONN;
  if (length == 0) {
    node.Cancel(socket, std::nullopt, now);
    return 0;
  }
  if (length < sizeof(sockaddr_in)) return EINVAL;
  sockaddr_in6 copy{};
  const bool ipv6 = length >= sizeof copy;
  if (!CopyFromProgram(reinterpret_cast<uintptr_t>(value), &copy,
                       ipv6 ? sizeof copy : sizeof(sockaddr_in))) {
    return EFAULT;
  }
  copy.sin6_family = ipv6 ? AF_INET6 : AF_INET;
  node.Cancel(socket, NameOf(reinterpret_cast<const sockaddr&>(copy)), now);
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
  if (const int error = ReadExactly(value, length, &args); error != 0) return error;
  if (!socket.bound()) return EINVAL;
  // What was closed is closed at once, so nothing is left to be flushed.
  if (args.cookie == 0) return 0;
  return node.CloseMemory(socket, args.cookie);
}

// RDS_CONN_RESET of Oracle's kernels has the number of SO_RDS_TRANSPORT, and another size.
struct ResetArgs {
  uint8_t type_of_service;
  uint8_t padding[3];
  in_addr source, destination;  // no destination: all that there are
};

int Reset(Node& node, const void* value, Time now) {
  ResetArgs args{};
  if (const int error = ReadExactly(value, sizeof args, &args); error != 0) return error;
  const auto address = [](const in_addr& of) {
    Address out;
    std::memcpy(out.octets.data(), &of, sizeof of);
    return out;
  };
  std::optional<Address> peer;
  if (args.destination.s_addr != INADDR_ANY) peer = address(args.destination);
  node.Reset(address(args.source), peer, now);
  return 0;
}

int SetTransport(Node& node, Socket& socket, const void* value, socklen_t length, Time now) {
  if (length == sizeof(ResetArgs)) return Reset(node, value, now);
  if (socket.bound() || socket.options().transport_chosen) return EOPNOTSUPP;
  int transport = 0;
  if (const int error = ReadExactly(value, length, &transport); error != 0) return error;
  if (transport < 0 || transport >= RDS_TRANS_COUNT) return EINVAL;
  if (transport != RDS_TRANS_IB) return ENOPROTOOPT;
  socket.options().transport_chosen = true;
  return 0;
}

// Whatever is wrong with it is EFAULT, and then nothing is traced.
int SetTraces(Socket& socket, const void* value, socklen_t length) {
  std::vector<uint8_t>& traces = socket.options().traces;
  traces.clear();
  rds_rx_trace_so wanted{};
  if (ReadExactly(value, length, &wanted) != 0) return EFAULT;
  if (wanted.rx_traces > RDS_MSG_RX_DGRAM_TRACE_MAX) return EFAULT;
  const std::span all = std::span(wanted.rx_trace_pos).first(wanted.rx_traces);
  if (std::ranges::any_of(all, [](uint8_t at) { return at >= RDS_MSG_RX_DGRAM_TRACE_MAX; })) {
    return EFAULT;
  }
  traces.assign(all.begin(), all.end());
  return 0;
}

void UseTimestamps(Socket& socket, int name, bool on) {
  socket.options().timestamps = on;
  socket.options().new_timestamps = on && name == SO_TIMESTAMP_NEW;
}

int SetTimestamps(Socket& socket, int name, const void* value, socklen_t length) {
  int on = 0;
  if (ReadExactly(value, length, &on) != 0) return EFAULT;
  UseTimestamps(socket, name, on != 0);
  return 0;
}

// RDS_GET_MR, RDS_GET_MR_FOR_DEST.
template <typename Args>
int GetRegionOf(Node& node, Socket& socket, const void* value, socklen_t length) {
  Args args{};
  if (const int error = ReadExactly(value, length, &args); error != 0) return error;
  rds_get_mr_args plain{};
  plain.vec = args.vec;
  plain.cookie_addr = args.cookie_addr;
  plain.flags = args.flags;
  return GetRegion(node, socket, plain);
}

int SetMonitor(Socket& socket, const void* value, socklen_t length) {
  bool on = false;
  const int error = ReadBool(value, length, &on);
  if (error == 0) socket.SetMonitor(on);
  return error;
}

int SetRds(Node& node, Socket& socket, int name, const void* value, socklen_t length, Time now) {
  switch (name) {
    case RDS_CANCEL_SENT_TO:
      return CancelSentTo(node, socket, value, length, now);
    case RDS_GET_MR:
      return GetRegionOf<rds_get_mr_args>(node, socket, value, length);
    case RDS_GET_MR_FOR_DEST:
      return GetRegionOf<rds_get_mr_for_dest_args>(node, socket, value, length);
    case RDS_FREE_MR:
      return FreeRegion(node, socket, value, length);
    case RDS_RECVERR:
      return ReadBool(value, length, &socket.options().errors);
    case RDS_CONG_MONITOR:
      return SetMonitor(socket, value, length);
    case SO_RDS_TRANSPORT:
      return SetTransport(node, socket, value, length, now);
    case SO_RDS_MSG_RXPATH_LATENCY:
      return SetTraces(socket, value, length);
    case SO_TIMESTAMP:
    case SO_TIMESTAMP_NEW:
      return SetTimestamps(socket, name, value, length);
    default:
      return ENOPROTOOPT;
  }
}

// Microseconds of a timeval; 0: no limit.
int SetTimeout(const void* value, socklen_t length, uint64_t* out) {
  timeval time{};
  if (length < sizeof time) return EINVAL;
  if (const int error = ReadExactly(value, sizeof time, &time); error != 0) return error;
  if (time.tv_usec < 0 || time.tv_usec >= 1000000) return EDOM;
  *out = time.tv_sec < 0
             ? 0
             : static_cast<uint64_t>(time.tv_sec) * 1000000 + static_cast<uint64_t>(time.tv_usec);
  return 0;
}

int SetLinger(const void* value, socklen_t length, linger* out) {
  linger wanted{};
  if (length < sizeof wanted) return EINVAL;
  if (const int error = ReadExactly(value, sizeof wanted, &wanted); error != 0) return error;
  // The time is kept when it is switched off.
  out->l_onoff = wanted.l_onoff != 0 ? 1 : 0;
  if (out->l_onoff != 0) out->l_linger = wanted.l_linger;
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
  // Linux reads an int whatever the option.
  int number = 0;
  if (const int error = ReadInt(value, length, &number); error != 0) return error;
  switch (name) {
    case SO_SNDTIMEO:
      return SetTimeout(value, length, &options.send_timeout_us);
    case SO_RCVTIMEO:
      return SetTimeout(value, length, &options.receive_timeout_us);
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
    case SO_TIMESTAMP_NEW:
      UseTimestamps(socket, name, number != 0);
      return 0;
    case SO_LINGER:
      return SetLinger(value, length, &options.lingering);
    case SO_ZEROCOPY:
      if (number < 0 || number > 1) return EINVAL;
      options.zero_copy = number == 1;
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
  if (!CopyToProgram(reinterpret_cast<uintptr_t>(value), &what, size)) return EFAULT;
  *length = size;
  return 0;
}

int GetRds(const Socket& socket, int name, void* value, socklen_t* length) {
  if (name != RDS_RECVERR && name != SO_RDS_TRANSPORT) return ENOPROTOOPT;
  if (*length < sizeof(int)) return EINVAL;
  if (name == RDS_RECVERR) return Give(int{socket.options().errors}, value, length);
  const bool attached = socket.bound() || socket.options().transport_chosen;
  return Give(attached ? int{RDS_TRANS_IB} : RDS_TRANS_NONE, value, length);
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
      return Give(int{options.timestamps && !options.new_timestamps}, value, length);
    case SO_TIMESTAMP_NEW:
      return Give(int{options.new_timestamps}, value, length);
    case SO_LINGER:
      return Give(options.lingering, value, length);
    case SO_ZEROCOPY:
      return Give(int{options.zero_copy}, value, length);
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
  if (length > INT_MAX) return EINVAL;
  if (level == SOL_RDS) return SetRds(node, socket, name, value, length, now);
  return level == SOL_SOCKET ? SetSocket(socket, name, value, length) : ENOPROTOOPT;
}

int GetOption(const Socket& socket, int level, int name, void* value, socklen_t* length) {
  if (level == SOL_RDS) return GetRds(socket, name, value, length);
  return level == SOL_SOCKET ? GetSocket(socket, name, value, length) : ENOPROTOOPT;
}

}  // namespace softdat::rds
