// SPDX-License-Identifier: BSD-3-Clause
#include "rds/socket/info_items.h"

#include <arpa/inet.h>
#include <linux/rds.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <type_traits>
#include <utility>

#include "rds/socket/program_memory.h"

namespace softdat::rds {
namespace {

// All octets are 0 at first, between the members too: what is between them is told as well.
template <typename T>
struct Zeroed {
  static_assert(std::is_trivially_copyable_v<T>);
  T item;

  Zeroed() { std::memset(&item, 0, sizeof item); }
};

template <typename T>
void Append(const Zeroed<T>& zeroed, InfoItems* out) {
  const auto* const from = reinterpret_cast<const uint8_t*>(&zeroed.item);
  out->octets.insert(out->octets.end(), from, from + sizeof zeroed.item);
}

template <typename T>
InfoItems Start(size_t most) {
  InfoItems out;
  out.each = sizeof(T);
  out.octets.reserve(most * sizeof(T));
  return out;
}

InfoItems Finish(InfoItems items) {
  items.room = items.octets.size();
  return items;
}

// ---- addresses, in the two forms ----

void Store(const Address& address, __be32* out) {
  std::memcpy(out, address.octets.data(), sizeof *out);
}

void Store(const Address& address, in6_addr* out) {
  if (address.ipv6) {
    std::memcpy(out, address.octets.data(), sizeof *out);
    return;
  }
  std::array<uint8_t, 16> mapped{};
  mapped[10] = mapped[11] = 0xFF;
  std::copy_n(address.octets.begin(), 4, mapped.begin() + 12);
  std::memcpy(out, mapped.data(), sizeof *out);
}

bool Fits(const Address& address, InfoForm form) {
  return form == InfoForm::kIpv6 || !address.ipv6;
}

// ---- one item ----

// The members of both forms have the same names, and their addresses differ in type. Not all of
// them are aligned, so an address goes through a copy.
template <typename Member>
Member Stored(const Address& address) {
  Member out;
  Store(address, &out);
  return out;
}

template <typename T>
Zeroed<T> Encode(const ConnectionInfo& info) {
  Zeroed<T> out;
  out.item.next_tx_seq = info.next_send;
  out.item.next_rx_seq = info.next_receive;
  out.item.laddr = Stored<decltype(out.item.laddr)>(info.local);
  out.item.faddr = Stored<decltype(out.item.faddr)>(info.remote);
  // Its last octet stays 0.
  const size_t most = sizeof out.item.transport - 1;
  std::memcpy(out.item.transport, info.transport.data(), std::min(info.transport.size(), most));
  out.item.flags = info.flags;
  if constexpr (std::is_same_v<T, rds_info_connection>) out.item.tos = info.type_of_service;
  return out;
}

template <typename T>
Zeroed<T> Encode(const MessageInfo& info) {
  Zeroed<T> out;
  out.item.seq = info.sequence;
  out.item.len = info.length;
  out.item.laddr = Stored<decltype(out.item.laddr)>(info.local.address);
  out.item.faddr = Stored<decltype(out.item.faddr)>(info.remote.address);
  out.item.lport = htons(info.local.port);
  out.item.fport = htons(info.remote.port);
  out.item.tos = info.type_of_service;
  return out;
}

template <typename T>
Zeroed<T> Encode(const SocketInfo& info) {
  Zeroed<T> out;
  out.item.sndbuf = info.send_limit;
  out.item.rcvbuf = info.receive_limit;
  out.item.inum = info.inode;
  if (info.bound) {
    out.item.bound_addr = Stored<decltype(out.item.bound_addr)>(info.bound->address);
    out.item.bound_port = htons(info.bound->port);
  }
  if (info.connected) {
    out.item.connected_addr = Stored<decltype(out.item.connected_addr)>(info.connected->address);
    out.item.connected_port = htons(info.connected->port);
  }
  return out;
}

template <typename T>
Zeroed<T> Encode(const RdmaConnectionInfo& info) {
  Zeroed<T> out;
  Store(info.local, &out.item.src_addr);
  Store(info.remote, &out.item.dst_addr);
  std::memcpy(out.item.src_gid, info.local_gid.data(), info.local_gid.size());
  std::memcpy(out.item.dst_gid, info.remote_gid.data(), info.remote_gid.size());
  out.item.max_send_wr = info.max_send_requests;
  out.item.max_recv_wr = info.max_receive_requests;
  out.item.max_send_sge = info.max_send_segments;
  out.item.rdma_mr_max = info.max_regions;
  out.item.rdma_mr_size = info.max_region_pages;
  out.item.tos = info.type_of_service;
  out.item.sl = info.service_level;
  out.item.cache_allocs = info.cache_allocations;
  return out;
}

// ---- all items ----

bool IsTold(const ConnectionInfo& info, InfoForm form) { return Fits(info.local, form); }
bool IsTold(const MessageInfo& info, InfoForm form) { return Fits(info.local.address, form); }
bool IsTold(const SocketInfo& info, InfoForm form) {
  return form == InfoForm::kIpv6 || (info.bound && Fits(info.bound->address, form));
}
bool IsTold(const RdmaConnectionInfo& info, InfoForm form) { return Fits(info.local, form); }

template <typename T, typename Info>
InfoItems EncodeAll(std::span<const Info> all, InfoForm form) {
  InfoItems out = Start<T>(all.size());
  for (const Info& info : all) {
    if (IsTold(info, form)) Append(Encode<T>(info), &out);
  }
  return Finish(std::move(out));
}

template <typename Ipv4, typename Ipv6, typename Info>
InfoItems EncodeForm(std::span<const Info> all, InfoForm form) {
  return form == InfoForm::kIpv6 ? EncodeAll<Ipv6>(all, form) : EncodeAll<Ipv4>(all, form);
}

}  // namespace

std::optional<InfoOption> InfoOptionOf(int name) {
  switch (name) {
    case RDS_INFO_COUNTERS:
      return InfoOption{InfoKind::kCounters, InfoForm::kIpv4};
    case RDS_INFO_CONNECTIONS:
      return InfoOption{InfoKind::kConnections, InfoForm::kIpv4};
    case RDS_INFO_SEND_MESSAGES:
      return InfoOption{InfoKind::kSendMessages, InfoForm::kIpv4};
    case RDS_INFO_RETRANS_MESSAGES:
      return InfoOption{InfoKind::kRetransmitMessages, InfoForm::kIpv4};
    case RDS_INFO_RECV_MESSAGES:
      return InfoOption{InfoKind::kReceiveMessages, InfoForm::kIpv4};
    case RDS_INFO_SOCKETS:
      return InfoOption{InfoKind::kSockets, InfoForm::kIpv4};
    case RDS_INFO_IB_CONNECTIONS:
      return InfoOption{InfoKind::kRdmaConnections, InfoForm::kIpv4};
    case RDS6_INFO_CONNECTIONS:
      return InfoOption{InfoKind::kConnections, InfoForm::kIpv6};
    case RDS6_INFO_SEND_MESSAGES:
      return InfoOption{InfoKind::kSendMessages, InfoForm::kIpv6};
    case RDS6_INFO_RETRANS_MESSAGES:
      return InfoOption{InfoKind::kRetransmitMessages, InfoForm::kIpv6};
    case RDS6_INFO_RECV_MESSAGES:
      return InfoOption{InfoKind::kReceiveMessages, InfoForm::kIpv6};
    case RDS6_INFO_SOCKETS:
      return InfoOption{InfoKind::kSockets, InfoForm::kIpv6};
    case RDS6_INFO_IB_CONNECTIONS:
      return InfoOption{InfoKind::kRdmaConnections, InfoForm::kIpv6};
    default:
      return std::nullopt;
  }
}

InfoItems EncodeInfo(const Counters& counters) {
  InfoItems out = Start<rds_info_counter>(kCounterNames.size());
  for (size_t i = 0; i < kCounterNames.size(); ++i) {
    Zeroed<rds_info_counter> counter;
    std::memcpy(counter.item.name, kCounterNames[i].data(), kCounterNames[i].size());
    counter.item.value = counters.values[i];
    Append(counter, &out);
  }
  return Finish(std::move(out));
}

InfoItems EncodeInfo(std::span<const ConnectionInfo> connections, InfoForm form) {
  return EncodeForm<rds_info_connection, rds6_info_connection>(connections, form);
}

InfoItems EncodeInfo(std::span<const MessageInfo> messages, InfoForm form) {
  return EncodeForm<rds_info_message, rds6_info_message>(messages, form);
}

InfoItems EncodeInfo(std::span<const SocketInfo> sockets, InfoForm form) {
  InfoItems out = EncodeForm<rds_info_socket, rds6_info_socket>(sockets, form);
  out.room = sockets.size() * out.each;
  return out;
}

InfoItems EncodeInfo(std::span<const RdmaConnectionInfo> connections, InfoForm form) {
  return EncodeForm<rds_info_rdma_connection, rds6_info_rdma_connection>(connections, form);
}

int CheckInfoBuffer(const void* value, socklen_t length) {
  static const auto most = static_cast<socklen_t>(INT_MAX - sysconf(_SC_PAGESIZE) + 1);
  if (length > most) return EINVAL;
  return IsWritable({reinterpret_cast<uint64_t>(value), length}) ? 0 : EAGAIN;
}

int GiveInfo(const InfoItems& items, void* value, socklen_t* length) {
  if (const int error = CheckInfoBuffer(value, *length); error != 0) return -error;
  const bool fits = items.room <= *length;
  // A program that asks how much room it needs is not told more than can be asked for.
  *length =
      static_cast<socklen_t>(fits ? items.octets.size() : std::min<size_t>(items.room, INT_MAX));
  if (!fits) return -ENOSPC;
  if (!items.octets.empty()) std::memcpy(value, items.octets.data(), items.octets.size());
  return static_cast<int>(items.each);
}

}  // namespace softdat::rds
