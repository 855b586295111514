// SPDX-License-Identifier: BSD-3-Clause
#include "rds/socket/control_messages.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>
#include <variant>

namespace softdat::rds {
namespace {

constexpr uint64_t kMostAreas = 1024;
constexpr uint64_t kMostRemote = 1 << 20;    // octets of one operation
constexpr uint64_t kMostLocal = UINT32_MAX;  // octets of one area

// cmsghdr, without the data behind it.
struct ControlHeader {
  size_t length = 0;  // of all
  int level = 0;
  int type = 0;
};
static_assert(sizeof(ControlHeader) == sizeof(cmsghdr));

struct Control {
  ControlHeader header;
  const uint8_t* data = nullptr;
  size_t size = 0;  // octets of data
};

// Goes through a control buffer, and never beyond its end.
class ControlReader {
 public:
  explicit ControlReader(const msghdr& message)
      : at_(static_cast<const uint8_t*>(message.msg_control)),
        left_(message.msg_control == nullptr ? 0 : message.msg_controllen) {}

  // False at the end. `whole` is false when the message says that it is longer than what is left of
  // the buffer, or shorter than its own header, so nothing behind it can be found.
  bool Next(Control* out, bool* whole) {
    *whole = true;
    if (left_ < sizeof(ControlHeader)) return false;
    std::memcpy(&out->header, at_, sizeof out->header);
    if (out->header.length < sizeof out->header || out->header.length > left_) {
      *whole = false;
      return true;
    }
    out->data = at_ + CMSG_LEN(0);
    out->size = out->header.length - CMSG_LEN(0);
    const size_t step = std::min(CMSG_ALIGN(out->header.length), left_);
    at_ += step;
    left_ -= step;
    return true;
  }

 private:
  const uint8_t* at_;
  size_t left_;
};

// The data may be longer, and need not be aligned.
template <typename T>
bool Read(const Control& control, T* out) {
  if (control.size < sizeof *out) return false;
  std::memcpy(out, control.data, sizeof *out);
  return true;
}

// ---- what each says ----

struct Rdma {
  RdmaOperation operation;
  uint64_t remote_bytes = 0;
};
struct Destination {
  rds_rdma_cookie_t cookie = 0;
};
struct ZeroCopy {
  uint32_t cookie = 0;
};
using Request = std::variant<Rdma, AtomicOperation, Destination, RegionRequest, ZeroCopy>;

int ReadAreas(const rds_rdma_args& args, RdmaOperation* out) {
  if (args.nr_local == 0) return EINVAL;
  if (args.nr_local > kMostAreas) return EMSGSIZE;
  std::vector<rds_iovec> areas(args.nr_local);
  if (!CopyFromProgram(args.local_vec_addr, areas.data(), areas.size() * sizeof(rds_iovec))) {
    return EFAULT;
  }
  out->local.reserve(areas.size());
  for (const rds_iovec& area : areas) {
    uint64_t end = 0;
    if (area.bytes == 0 || area.bytes > kMostLocal ||
        __builtin_add_overflow(area.addr, area.bytes, &end)) {
      return EINVAL;
    }
    out->local.push_back({area.addr, area.bytes});
    out->bytes += area.bytes;
  }
  return 0;
}

int ReadRdma(const Control& control, Request* out) {
  rds_rdma_args args{};
  if (!Read(control, &args)) return EINVAL;
  if (args.remote_vec.bytes > kMostRemote) return EMSGSIZE;
  Rdma& rdma = out->emplace<Rdma>();
  rdma.remote_bytes = args.remote_vec.bytes;
  rdma.operation.cookie = args.cookie;
  rdma.operation.offset = args.remote_vec.addr;
  rdma.operation.write = (args.flags & RDS_RDMA_READWRITE) != 0;
  rdma.operation.fence = (args.flags & RDS_RDMA_FENCE) != 0;
  rdma.operation.notify = (args.flags & RDS_RDMA_NOTIFY_ME) != 0;
  rdma.operation.silent = (args.flags & RDS_RDMA_SILENT) != 0;
  rdma.operation.token = args.user_token;
  return ReadAreas(args, &rdma.operation);
}

int ReadAtomic(const Control& control, Request* out) {
  rds_atomic_args args{};
  if (!Read(control, &args)) return EINVAL;
  AtomicOperation& atomic = out->emplace<AtomicOperation>();
  atomic.cookie = args.cookie;
  atomic.offset = args.remote_addr;
  atomic.local = args.local_addr;
  atomic.notify = (args.flags & RDS_RDMA_NOTIFY_ME) != 0;
  atomic.silent = (args.flags & RDS_RDMA_SILENT) != 0;
  atomic.token = args.user_token;
  switch (control.header.type) {
    case RDS_CMSG_ATOMIC_FADD:
      atomic.swap_or_add = args.fadd.add;
      break;
    case RDS_CMSG_MASKED_ATOMIC_FADD:
      atomic.swap_or_add = args.m_fadd.add;
      atomic.nocarry_mask = args.m_fadd.nocarry_mask;
      break;
    case RDS_CMSG_ATOMIC_CSWP:
      atomic.kind = AtomicOperation::Kind::kCompareSwap;
      atomic.compare = args.cswp.compare;
      atomic.swap_or_add = args.cswp.swap;
      break;
    default:
      atomic.kind = AtomicOperation::Kind::kCompareSwap;
      atomic.compare = args.m_cswp.compare;
      atomic.swap_or_add = args.m_cswp.swap;
      atomic.compare_mask = args.m_cswp.compare_mask;
      atomic.swap_mask = args.m_cswp.swap_mask;
  }
  return 0;
}

int ReadMap(const Control& control, Request* out) {
  rds_get_mr_args args{};
  if (!Read(control, &args)) return EINVAL;
  *out = RegionRequestOf(args);
  return 0;
}

int ReadOne(const Control& control, Request* out) {
  switch (control.header.type) {
    case RDS_CMSG_RDMA_ARGS:
      return ReadRdma(control, out);
    case RDS_CMSG_RDMA_DEST:
      return Read(control, &out->emplace<Destination>().cookie) ? 0 : EINVAL;
    case RDS_CMSG_RDMA_MAP:
      return ReadMap(control, out);
    case RDS_CMSG_ATOMIC_FADD:
    case RDS_CMSG_ATOMIC_CSWP:
    case RDS_CMSG_MASKED_ATOMIC_FADD:
    case RDS_CMSG_MASKED_ATOMIC_CSWP:
      return ReadAtomic(control, out);
    case RDS_CMSG_ZCOPY_COOKIE:
      return Read(control, &out->emplace<ZeroCopy>().cookie) ? 0 : EINVAL;
    default:
      return EINVAL;
  }
}

int ReadAll(const msghdr& message, std::vector<Request>* out) {
  ControlReader reader(message);
  Control control;
  bool whole = true;
  while (reader.Next(&control, &whole)) {
    if (!whole) return EINVAL;
    if (control.header.level != SOL_RDS) continue;
    if (const int error = ReadOne(control, &out->emplace_back()); error != 0) return error;
  }
  return 0;
}

// ---- all together ----

bool UsesPeersMemory(const Request& request) {
  return std::holds_alternative<Rdma>(request) || std::holds_alternative<AtomicOperation>(request);
}

// Whether what uses the peer's memory stands beside what does not.
bool AreMixed(const std::vector<Request>& requests) {
  return std::ranges::any_of(requests, UsesPeersMemory) &&
         !std::ranges::all_of(requests, UsesPeersMemory);
}

// The areas in front that have no more than `bytes` together. The last one may be cut.
std::vector<Area> First(uint64_t bytes, const std::vector<Area>& areas) {
  std::vector<Area> out;
  for (const Area& area : areas) {
    if (bytes == 0) break;
    out.push_back({area.address, std::min(area.bytes, bytes)});
    bytes -= out.back().bytes;
  }
  return out;
}

int Take(Rdma rdma, SendRequests* out) {
  if (out->rdma) return EINVAL;
  RdmaOperation& operation = rdma.operation;
  const bool too_many = operation.bytes > rdma.remote_bytes;
  // Nobody should have terabytes looked at in order to be told that they are too many.
  const std::vector<Area>& areas = too_many ? First(kMostRemote, operation.local) : operation.local;
  if (!(operation.write ? AreReadable(areas) : AreWritable(areas))) return EFAULT;
  if (too_many) return EINVAL;
  out->rdma = std::move(operation);
  return 0;
}

int Take(const AtomicOperation& atomic, SendRequests* out) {
  if (out->atomic) return EINVAL;
  if (atomic.local % sizeof(uint64_t) != 0) return EFAULT;
  if (!IsWritable({atomic.local, sizeof(uint64_t)})) return EFAULT;
  out->atomic = atomic;
  return 0;
}

int Take(const Destination& destination, SendRequests* out) {
  if (out->destination || out->map) return EINVAL;
  out->destination = destination.cookie;
  return 0;
}

int Take(const RegionRequest& map, SendRequests* out) {
  if (out->destination || out->map) return EINVAL;
  out->map = map;
  return 0;
}

// Of several the last one counts, as on Linux.
int Take(const ZeroCopy& zero_copy, SendRequests* out) {
  out->zero_copy_cookie = zero_copy.cookie;
  return 0;
}

}  // namespace

RegionRequest RegionRequestOf(const rds_get_mr_args& args) {
  RegionRequest out;
  out.area = {args.vec.addr, args.vec.bytes};
  out.cookie_address = args.cookie_addr;
  out.use_once = (args.flags & RDS_RDMA_USE_ONCE) != 0;
  out.invalidate = (args.flags & RDS_RDMA_INVALIDATE) != 0;
  return out;
}

bool AreWhole(const msghdr& message) {
  ControlReader reader(message);
  Control control;
  bool whole = true;
  while (whole && reader.Next(&control, &whole)) continue;
  return whole;
}

uint64_t RemoteBytes(const msghdr& message) {
  ControlReader reader(message);
  Control control;
  uint64_t sum = 0;
  bool whole = true;
  while (reader.Next(&control, &whole) && whole) {
    rds_rdma_args args{};
    const bool rdma = control.header.level == SOL_RDS && control.header.type == RDS_CMSG_RDMA_ARGS;
    if (!rdma || !Read(control, &args)) continue;
    if (__builtin_add_overflow(sum, args.remote_vec.bytes, &sum)) return UINT64_MAX;
  }
  return sum;
}

int ParseSendRequests(const msghdr& message, SendRequests* out) {
  *out = {};
  std::vector<Request> requests;
  if (const int error = ReadAll(message, &requests); error != 0) return error;
  if (AreMixed(requests)) return EINVAL;
  for (Request& request : requests) {
    const int error = std::visit([out](auto& one) { return Take(std::move(one), out); }, request);
    if (error != 0) return error;
  }
  return 0;
}

// ---- out ----

ControlWriter::ControlWriter(const msghdr& message)
    : at_(static_cast<uint8_t*>(message.msg_control)),
      left_(message.msg_control == nullptr ? 0 : message.msg_controllen) {}

bool ControlWriter::HasRoom(size_t bytes) const { return left_ >= CMSG_LEN(bytes); }

bool ControlWriter::Add(int level, int type, const void* data, size_t bytes) {
  if (!HasRoom(bytes)) {
    truncated_ = true;
    return false;
  }
  ControlHeader header;
  header.length = CMSG_LEN(bytes);
  header.level = level;
  header.type = type;
  std::memcpy(at_, &header, sizeof header);
  std::memcpy(at_ + CMSG_LEN(0), data, bytes);
  const size_t step = std::min<size_t>(CMSG_SPACE(bytes), left_);
  at_ += step;
  left_ -= step;
  written_ += step;
  return true;
}

void ControlWriter::Finish(msghdr* message) const {
  message->msg_controllen = written_;
  if (truncated_) message->msg_flags |= MSG_CTRUNC;
}

}  // namespace softdat::rds
