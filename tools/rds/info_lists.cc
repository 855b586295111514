// SPDX-License-Identifier: BSD-3-Clause
#include "tools/rds/info_lists.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <linux/rds.h>

#include <cerrno>
#include <cstring>

namespace softdat::tools {
namespace {

// The items are packed, so each is copied before it is looked at.
template <typename Item>
Item Copy(const uint8_t* octets) {
  Item item;
  std::memcpy(&item, octets, sizeof item);
  return item;
}

std::string Address(const void* octets, int family) {
  char text[INET6_ADDRSTRLEN] = "";
  inet_ntop(family, octets, text, sizeof text);
  return text;
}
std::string Address(uint32_t address) { return Address(&address, AF_INET); }
std::string Address(in6_addr address) { return Address(&address, AF_INET6); }
uint64_t Port(uint16_t port) { return ntohs(port); }

template <typename Octet, size_t kSize>
std::string Text(const Octet (&octets)[kSize]) {
  const auto* const text = reinterpret_cast<const char*>(octets);
  return {text, strnlen(text, kSize)};
}

InfoRow Counter(const uint8_t* octets) {
  const auto item = Copy<rds_info_counter>(octets);
  return {Text(item.name), uint64_t{item.value}};
}

template <typename Item>
InfoRow SocketRow(const uint8_t* octets) {
  const auto item = Copy<Item>(octets);
  return {Address(item.bound_addr),  Port(item.bound_port), Address(item.connected_addr),
          Port(item.connected_port), uint64_t{item.sndbuf}, uint64_t{item.rcvbuf},
          uint64_t{item.inum}};
}

std::string Flags(uint8_t flags) {
  std::string text = "----";
  if ((flags & RDS_INFO_CONNECTION_FLAG_SENDING) != 0) text[0] = 's';
  if ((flags & RDS_INFO_CONNECTION_FLAG_CONNECTING) != 0) text[1] = 'c';
  if ((flags & RDS_INFO_CONNECTION_FLAG_CONNECTED) != 0) text[2] = 'C';
  return text;
}

InfoRow Connection(const uint8_t* octets) {
  const auto item = Copy<rds_info_connection>(octets);
  return {Address(item.laddr),        Address(item.faddr),        uint64_t{item.tos},
          uint64_t{item.next_tx_seq}, uint64_t{item.next_rx_seq}, Flags(item.flags),
          Text(item.transport)};
}
InfoRow Connection6(const uint8_t* octets) {
  const auto item = Copy<rds6_info_connection>(octets);
  // There is no place for the type of service.
  return {Address(item.laddr),        Address(item.faddr),        uint64_t{0},
          uint64_t{item.next_tx_seq}, uint64_t{item.next_rx_seq}, Flags(item.flags),
          Text(item.transport)};
}

template <typename Item>
InfoRow Message(const uint8_t* octets) {
  const auto item = Copy<Item>(octets);
  return {Address(item.laddr), Port(item.lport),   Address(item.faddr), Port(item.fport),
          uint64_t{item.tos},  uint64_t{item.seq}, uint64_t{item.len}};
}

template <typename Item>
InfoRow Rdma(const uint8_t* octets) {
  const auto item = Copy<Item>(octets);
  return {
      Address(item.src_addr),     Address(item.dst_addr),          uint64_t{item.tos},
      uint64_t{item.sl},          Address(item.src_gid, AF_INET6), Address(item.dst_gid, AF_INET6),
      uint64_t{item.max_send_wr}, uint64_t{item.max_recv_wr},      uint64_t{item.max_send_sge},
      uint64_t{item.rdma_mr_max}, uint64_t{item.rdma_mr_size}};
}

template <typename Item>
InfoRow TcpSocket(const uint8_t* octets) {
  const auto item = Copy<Item>(octets);
  return {Address(item.local_addr),     Port(item.local_port),
          Address(item.peer_addr),      Port(item.peer_port),
          uint64_t{item.hdr_rem},       uint64_t{item.data_rem},
          uint64_t{item.last_sent_nxt}, uint64_t{item.last_expected_una},
          uint64_t{item.last_seen_una}};
}

std::vector<InfoColumn> MessageColumns() {
  return {{"LocalAddr", "local_address", 15},
          {"LPort", "local_port", 5},
          {"RemoteAddr", "remote_address", 15},
          {"RPort", "remote_port", 5},
          {"Tos", "tos", 4},
          {"Seq", "sequence", 16},
          {"Bytes", "bytes", 10}};
}

InfoListKind Messages(char letter, const char* title, const char* key, const char* about,
                      int option, int option6) {
  return {letter,
          title,
          key,
          about,
          option,
          option6,
          MessageColumns(),
          sizeof(rds_info_message),
          sizeof(rds6_info_message),
          Message<rds_info_message>,
          Message<rds6_info_message>};
}

std::vector<InfoListKind> MakeKinds() {
  return {
      {'I',
       "RDMA Connections",
       "rdma_connections",
       "connections of adapters",
       RDS_INFO_IB_CONNECTIONS,
       RDS6_INFO_IB_CONNECTIONS,
       {{"LocalAddr", "local_address", 15},
        {"RemoteAddr", "remote_address", 15},
        {"Tos", "tos", 4},
        {"SL", "service_level", 3},
        {"LocalGid", "local_gid", 32},
        {"RemoteGid", "remote_gid", 32},
        {"MaxSendWR", "max_send_requests", 10, true},
        {"MaxRecvWR", "max_receive_requests", 10, true},
        {"MaxSge", "max_send_segments", 7, true},
        {"MaxMR", "max_regions", 8, true},
        {"MRPages", "max_region_pages", 8, true}},
       sizeof(rds_info_rdma_connection),
       sizeof(rds6_info_rdma_connection),
       Rdma<rds_info_rdma_connection>,
       Rdma<rds6_info_rdma_connection>},
      {'T',
       "TCP Connections",
       "tcp_connections",
       "connections over TCP (the kernel's RDS only)",
       RDS_INFO_TCP_SOCKETS,
       RDS6_INFO_TCP_SOCKETS,
       {{"LocalAddr", "local_address", 15},
        {"LPort", "local_port", 5},
        {"RemoteAddr", "remote_address", 15},
        {"RPort", "remote_port", 5},
        {"HdrRemain", "header_remaining", 10},
        {"DataRemain", "data_remaining", 10},
        {"SentNxt", "sent_next", 10},
        {"ExpectUna", "expected_unacknowledged", 10},
        {"SeenUna", "seen_unacknowledged", 10}},
       sizeof(rds_info_tcp_socket),
       sizeof(rds6_info_tcp_socket),
       TcpSocket<rds_info_tcp_socket>,
       TcpSocket<rds6_info_tcp_socket>},
      {'c',
       "Counters",
       "counters",
       "counters",
       RDS_INFO_COUNTERS,
       0,
       {{"CounterName", "name", 25}, {"Value", "value", 16}},
       sizeof(rds_info_counter),
       0,
       Counter,
       nullptr},
      {'k',
       "RDS Sockets",
       "sockets",
       "sockets",
       RDS_INFO_SOCKETS,
       RDS6_INFO_SOCKETS,
       {{"BoundAddr", "bound_address", 15},
        {"BPort", "bound_port", 5},
        {"ConnAddr", "connected_address", 15},
        {"CPort", "connected_port", 5},
        {"SndBuf", "send_buffer", 10},
        {"RcvBuf", "receive_buffer", 10},
        {"Inode", "inode", 8}},
       sizeof(rds_info_socket),
       sizeof(rds6_info_socket),
       SocketRow<rds_info_socket>,
       SocketRow<rds6_info_socket>},
      {'n',
       "RDS Connections",
       "connections",
       "connections",
       RDS_INFO_CONNECTIONS,
       RDS6_INFO_CONNECTIONS,
       {{"LocalAddr", "local_address", 15},
        {"RemoteAddr", "remote_address", 15},
        {"Tos", "tos", 4},
        {"NextTX", "next_send", 16},
        {"NextRX", "next_receive", 16},
        {"Flgs", "flags", 4},
        {"Transport", "transport", 10, true}},
       sizeof(rds_info_connection),
       sizeof(rds6_info_connection),
       Connection,
       Connection6},
      Messages('r', "Receive Message Queue", "received", "messages that wait for their receivers",
               RDS_INFO_RECV_MESSAGES, RDS6_INFO_RECV_MESSAGES),
      Messages('s', "Send Message Queue", "unsent", "messages that are not sent yet",
               RDS_INFO_SEND_MESSAGES, RDS6_INFO_SEND_MESSAGES),
      Messages('t', "Retransmit Message Queue", "unacknowledged",
               "messages that are sent and not acknowledged", RDS_INFO_RETRANS_MESSAGES,
               RDS6_INFO_RETRANS_MESSAGES),
  };
}

}  // namespace

std::span<const InfoListKind> InfoListKinds() {
  static const std::vector<InfoListKind> kKinds = MakeKinds();
  return kKinds;
}

Outcome AskInfoList(const RdsCalls& calls, int fd, const InfoListKind& kind, bool ipv6,
                    InfoList* list, bool* missing) {
  *list = {&kind, {}};
  *missing = false;
  const bool six = ipv6 && kind.option6 != 0;
  const int option = six ? kind.option6 : kind.option;
  const size_t size = six ? kind.size6 : kind.size;
  const std::string what = fmt::format("getsockopt of the list '{}'", kind.title);
  std::vector<uint8_t> octets;
  // The list may grow from one call to the next.
  constexpr int kMostTries = 16;
  for (int i = 0; i < kMostTries; ++i) {
    auto length = static_cast<socklen_t>(octets.size());
    const int each =
        calls.getsockopt(fd, SOL_RDS, option, octets.empty() ? nullptr : octets.data(), &length);
    if (each < 0 && errno == ENOPROTOOPT) {
      *missing = true;
      return {};
    }
    if (each < 0 && errno == ENOSPC) {
      octets.resize(size_t{length} + length / 4 + 8 * size);
      continue;
    }
    if (each < 0) return RdsFailure(calls, what, errno);
    if (static_cast<size_t>(each) != size) {
      return Outcome::Fail(
          fmt::format("{}: an item has {} octets instead of {}: this RDS is of another version",
                      what, each, size));
    }
    for (size_t at = 0; at + size <= std::min<size_t>(length, octets.size()); at += size) {
      list->rows.push_back((six ? kind.parse6 : kind.parse)(octets.data() + at));
    }
    return {};
  }
  return Outcome::Fail(what + ": it grows faster than it can be read");
}

}  // namespace softdat::tools
