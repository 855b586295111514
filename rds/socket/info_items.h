// SPDX-License-Identifier: BSD-3-Clause
// What getsockopt tells of all sockets and connections of the host: RDS_INFO_* and RDS6_INFO_*, in
// the structures of <linux/rds.h>. (rds.md 2.6)
#ifndef SOFTDAT_RDS_SOCKET_INFO_ITEMS_H_
#define SOFTDAT_RDS_SOCKET_INFO_ITEMS_H_

#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "rds/protocol/counters.h"
#include "rds/socket/address.h"

namespace softdat::rds {

// ---- options ----

enum class InfoKind : uint8_t {
  kCounters,
  kConnections,
  kSendMessages,        // not yet handed to the transport
  kRetransmitMessages,  // handed to it, and not acknowledged
  kReceiveMessages,     // not yet received by the program
  kSockets,
  kRdmaConnections,
};

// Which addresses an item has room for.
enum class InfoForm : uint8_t {
  kIpv4,  // what has IPv6 addresses is left out
  kIpv6,  // IPv4 addresses are mapped (::ffff:10.0.0.1)
};

struct InfoOption {
  InfoKind kind = InfoKind::kCounters;
  InfoForm form = InfoForm::kIpv4;

  bool operator==(const InfoOption&) const = default;
};

// Nothing for options that are obsolete, or those of a transport that is not there (RDS over TCP):
// ENOPROTOOPT.
std::optional<InfoOption> InfoOptionOf(int name);

// ---- what there is ----

struct ConnectionInfo {
  Address local, remote;
  uint64_t next_send = 1, next_receive = 1;  // sequence numbers
  std::string_view transport = "infiniband";
  uint8_t flags = 0;            // RDS_INFO_CONNECTION_FLAG_*
  uint8_t type_of_service = 0;  // the IPv6 form has no place for it
};

// `local` is the receiver of a message that has come.
struct MessageInfo {
  SocketName local, remote;
  uint64_t sequence = 0;
  uint32_t length = 0;
  uint8_t type_of_service = 0;
};

struct SocketInfo {
  std::optional<SocketName> bound, connected;
  // Octets: half of what SO_SNDBUF and SO_RCVBUF say.
  uint32_t send_limit = 0, receive_limit = 0;
  uint64_t inode = 0;
};

// Of a connection that is not up, all but the addresses is 0.
struct RdmaConnectionInfo {
  Address local, remote;
  std::array<uint8_t, 16> local_gid{}, remote_gid{};
  uint32_t max_send_requests = 0, max_receive_requests = 0, max_send_segments = 0;
  uint32_t max_regions = 0, max_region_pages = 0;
  uint8_t type_of_service = 0, service_level = 0;
  uint32_t cache_allocations = 0;
};

// ---- what is told ----

// Items of one option, one behind the other.
struct InfoItems {
  size_t each = 0;              // octets of one item, also when there is none
  std::vector<uint8_t> octets;  // of all
  size_t room = 0;              // that a program has to have for them: not less than octets.size()
};

InfoItems EncodeInfo(const Counters& counters);
InfoItems EncodeInfo(std::span<const ConnectionInfo> connections, InfoForm form);
InfoItems EncodeInfo(std::span<const MessageInfo> messages, InfoForm form);
// The IPv4 form leaves out those that are not bound, but there has to be room for them.
InfoItems EncodeInfo(std::span<const SocketInfo> sockets, InfoForm form);
InfoItems EncodeInfo(std::span<const RdmaConnectionInfo> connections, InfoForm form);

// What getsockopt says of the program's buffer before it looks for the option: 0; EINVAL for a
// length that is negative, taken as an int, or as good as endless; EAGAIN for memory that cannot be
// written. Without room nothing is written, so then any address will do.
int CheckInfoBuffer(const void* value, socklen_t length);

// Stores the items. Returns what getsockopt returns, the size of one item, or a negative errno:
// those of CheckInfoBuffer, and -ENOSPC when there is too little room, and then nothing is stored.
// With both the size and ENOSPC `*length` becomes how much there is to be stored.
int GiveInfo(const InfoItems& items, void* value, socklen_t* length);

}  // namespace softdat::rds

#endif  // SOFTDAT_RDS_SOCKET_INFO_ITEMS_H_
