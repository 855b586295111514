// SPDX-License-Identifier: BSD-3-Clause
// The control messages of sendmsg and recvmsg at level SOL_RDS: what a program asks for, checked,
// and what it is told.
#ifndef SOFTDAT_RDS_SOCKET_CONTROL_MESSAGES_H_
#define SOFTDAT_RDS_SOCKET_CONTROL_MESSAGES_H_

#include <linux/rds.h>
#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "rds/socket/program_memory.h"

namespace softdat::rds {

// A transfer between this process and memory that a peer's cookie names.
struct RdmaOperation {
  rds_rdma_cookie_t cookie = 0;
  uint64_t offset = 0;      // in the cookie's area
  std::vector<Area> local;  // none of them empty
  uint64_t bytes = 0;       // the sum of `local`
  bool write = false;       // to the peer's memory
  bool fence = false;
  bool notify = false;
  bool silent = false;
  uint64_t token = 0;
};

struct AtomicOperation {
  enum class Kind : uint8_t { kFetchAdd, kCompareSwap };
  Kind kind = Kind::kFetchAdd;
  rds_rdma_cookie_t cookie = 0;
  uint64_t offset = 0;
  uint64_t local = 0;  // where the old value is stored, in host order
  uint64_t compare = 0;
  uint64_t swap_or_add = 0;
  // Fetch-add: where no carry goes out of a bit. Compare-swap: which bits are compared, and which
  // are replaced.
  uint64_t nocarry_mask = 0;
  uint64_t compare_mask = ~uint64_t{0};
  uint64_t swap_mask = ~uint64_t{0};
  bool notify = false;
  bool silent = false;
  uint64_t token = 0;

  // Whether a mask makes a difference.
  bool masked() const {
    return nocarry_mask != 0 || compare_mask != ~uint64_t{0} || swap_mask != ~uint64_t{0};
  }
};

// Memory that is to be opened to peers: RDS_CMSG_RDMA_MAP, RDS_GET_MR.
struct RegionRequest {
  Area area;
  uint64_t cookie_address = 0;  // where the cookie is stored; 0: nowhere
  bool use_once = false;
  bool invalidate = false;
};

// What the control messages of one sendmsg ask for.
struct SendRequests {
  std::optional<RdmaOperation> rdma;
  std::optional<AtomicOperation> atomic;
  std::optional<rds_rdma_cookie_t> destination;  // RDS_CMSG_RDMA_DEST
  std::optional<RegionRequest> map;              // RDS_CMSG_RDMA_MAP
  std::optional<uint32_t> zero_copy_cookie;
};

// Whether every control message of `message` is whole. sendmsg looks at that first of all.
bool AreWhole(const msghdr& message);

// How many octets the RDMA operations of `message` name at the other end, all together; UINT64_MAX
// if that is more than a number holds. Messages that are not whole count as 0. sendmsg refuses more
// than 1 MB before it looks at the rest of the control messages.
uint64_t RemoteBytes(const msghdr& message);

// Reads the control messages of `message`, and the iovecs that they point to. Returns 0, or what
// sendmsg fails with; `out` then holds nothing of use. Nothing is carried out, so nothing is left
// to undo. Memory that is not there gives an errno, not a signal. In this order:
//   1. each message in turn: EINVAL if it is not whole, too short for its type or of a type that is
//      not sent; of an RDMA operation EMSGSIZE for more than 1 MB at the other end or more than
//      1024 iovecs, EFAULT if they cannot be read, EINVAL for none, or one that is empty, wraps or
//      has 4 GB;
//   2. EINVAL if one opens memory to the peer (DEST, MAP) or has a cookie for zero copy, and
//   another
//      uses the peer's memory;
//   3. each again: EINVAL if there was such a one already (of DEST and MAP: either); EFAULT if its
//      memory here cannot be read, or written, as the operation needs it, or is not aligned
//      (atomics); EINVAL if less is named at the other end than here. If so, no more memory is
//      looked at than one operation can move.
// Left to the caller, who knows the socket: whether DEST names a region of it; the area of MAP, and
// storing its cookie; whether a cookie for zero copy belongs to this call.
int ParseSendRequests(const msghdr& message, SendRequests* out);

// A GET_MR by setsockopt, or the argument of RDS_CMSG_RDMA_MAP.
RegionRequest RegionRequestOf(const rds_get_mr_args& args);

// Puts control messages into the buffer of a recvmsg, one after the other.
class ControlWriter {
 public:
  // `message`: msg_control and msg_controllen as the program gave them.
  explicit ControlWriter(const msghdr& message);

  // Whether there is room for `bytes` of data (CMSG_LEN of them, as the last one needs no padding).
  bool HasRoom(size_t bytes) const;
  // Whether so much is left of the buffer.
  bool HasRoomFor(size_t space) const { return left_ >= space; }
  // False when there is no room. Nothing is written then, and truncated() is true.
  bool Add(int level, int type, const void* data, size_t bytes);
  bool truncated() const { return truncated_; }
  // Stores into `message` how much was written, and MSG_CTRUNC if truncated().
  void Finish(msghdr* message) const;

 private:
  uint8_t* at_;
  size_t left_;
  size_t written_ = 0;
  bool truncated_ = false;
};

}  // namespace softdat::rds

#endif  // SOFTDAT_RDS_SOCKET_CONTROL_MESSAGES_H_
