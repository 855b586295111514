// SPDX-License-Identifier: BSD-3-Clause
#include "tools/rds/stress_rdma.h"

#include <fmt/format.h>

#include <cerrno>
#include <utility>

#include "tools/common/address.h"

namespace softdat::tools {
namespace {

const char* StatusName(int32_t status) {
  static constexpr const char* kNames[] = {"success", "the peer's memory could not be accessed",
                                           "cancelled", "dropped, because the connection broke",
                                           "another error"};
  return status >= 0 && status < 5 ? kNames[status] : "unknown";
}

// All 64 bits of a token are used, and come back.
uint64_t TokenOf(uint32_t slot, uint64_t sequence) { return sequence << 32 | slot; }

}  // namespace

StressMessage RequestOf(const StressMessage& ack) {
  StressMessage request = ack;
  request.ack = false;
  std::swap(request.task, request.to);
  return request;
}

const char* WayName(RdmaWay way) {
  if (way == RdmaWay::kNone) return "";
  return way == RdmaWay::kRead ? " RDMA read" : " RDMA write";
}

Outcome Verified(const std::string& problem, const char* what, const StressMessage& message) {
  if (problem.empty()) return {};
  return Outcome::Fail(kExitBadData, fmt::format("{} {} {} of task {}: {}", what,
                                                 message.ack ? "the ack of request" : "request",
                                                 message.sequence, message.task, problem));
}

Outcome StressRdma::Open(const RdsSocket& socket) {
  socket_ = &socket;
  if (!job_.HasRdma()) return {};
  // Releasing nothing succeeds where there is RDMA.
  const rds_free_mr_args nothing{};
  if (socket.calls().setsockopt(socket.fd(), SOL_RDS, RDS_FREE_MR, &nothing, sizeof nothing) != 0)
    return Outcome::Fail(fmt::format(
        "there is no RDMA at this address: setsockopt(RDS_FREE_MR) fails with {}\n"
        "  leave out -D, or choose an address {}",
        strerrorname_np(errno),
        socket.calls().kernel ? "of an adapter, with rds_rdma loaded" : "whose adapter has RDMA"));
  cookies_.resize(exchange_.slots());
  answers_.resize(exchange_.slots());
  SOFTDAT_TRY(memory_.Allocate(job_, exchange_.slots()));
  return answer_memory_.Allocate(job_, exchange_.slots());
}

Outcome StressRdma::Ask(const Outgoing& out, RdmaControl* control, msghdr* message) {
  if (out.message.way == RdmaWay::kNone) return {};
  if (!out.message.ack) return OpenMemory(out, control, message);
  Carry(out, control, message);
  return {};
}

Outcome StressRdma::OpenMemory(const Outgoing& out, RdmaControl* control, msghdr* message) {
  rds_rdma_cookie_t& cookie = cookies_[out.slot];
  const std::span<uint8_t> memory = memory_.Of(out.slot);
  if (job_.verify && out.message.way == RdmaWay::kRead) FillRdma(out.message, memory);
  rds_get_mr_args args{};
  args.vec = {AddressOf(memory.data()), memory.size()};
  args.cookie_addr = AddressOf(&cookie);
  args.flags = RDS_RDMA_READWRITE | (job_.use_once ? RDS_RDMA_USE_ONCE : 0);
  if (UsesMap()) {
    control->Set(RDS_CMSG_RDMA_MAP, args, message);
    return {};
  }
  if (cookie == 0) {
    const RdsCalls& calls = socket_->calls();
    if (calls.setsockopt(socket_->fd(), SOL_RDS, RDS_GET_MR, &args, sizeof args) != 0) {
      if (errno == EOPNOTSUPP)
        return Outcome::Fail(
            "setsockopt(RDS_GET_MR): Operation not supported\n"
            "  Linux has lost this option for InfiniBand in 5.8; leave out --rdma-use-get-mr and "
            "--rdma-cache-mrs");
      return RdsFailure(calls, "setsockopt(RDS_GET_MR)", errno);
    }
    CountKey(cookie);
  }
  control->Set(RDS_CMSG_RDMA_DEST, cookie, message);
  return {};
}

void StressRdma::Carry(const Outgoing& out, RdmaControl* control, msghdr* message) {
  const bool writes = out.message.way == RdmaWay::kWrite;
  if (job_.verify && writes) FillRdma(RequestOf(out.message), answer_memory_.Of(out.slot));
  control->vectors = answer_memory_.VectorsOf(out.slot);
  rds_rdma_args args{};
  args.cookie = out.message.cookie;
  args.remote_vec = {0, job_.RdmaTotal()};
  args.local_vec_addr = AddressOf(control->vectors.data());
  args.nr_local = control->vectors.size();
  args.flags = RDS_RDMA_NOTIFY_ME | (writes ? RDS_RDMA_READWRITE : 0) |
               (job_.fence && !writes ? RDS_RDMA_FENCE : 0);
  args.user_token = TokenOf(out.slot, out.message.sequence);
  control->Set(RDS_CMSG_RDMA_ARGS, args, message);
}

void StressRdma::Sent(const Outgoing& out) {
  if (!out.message.ack || out.message.way == RdmaWay::kNone) return;
  answers_[out.slot] = RequestOf(out.message);
  exchange_.RdmaStarted(out.slot);
}

Outcome StressRdma::OnStatus(const rds_rdma_notify& status) {
  const auto slot = static_cast<uint32_t>(status.user_token);
  if (!exchange_.RdmaDone(slot) || TokenOf(slot, answers_[slot].sequence) != status.user_token)
    return Outcome::Fail(kExitBadData,
                         fmt::format("a status of {} has come for token {:#x}, for which no RDMA "
                                     "is under way",
                                     status.status, status.user_token));
  const StressMessage& request = answers_[slot];
  if (status.status != RDS_RDMA_SUCCESS)
    return Outcome::Fail(fmt::format("the{} for request {} of task {} ended with status {}: {}",
                                     WayName(request.way), request.sequence, request.task,
                                     status.status, StatusName(status.status)));
  const bool read = request.way == RdmaWay::kRead;
  counts_.Add(read ? kRdmaBytesIn : kRdmaBytesOut, job_.RdmaTotal());
  if (!read || !job_.verify) return {};
  return Verified(RdmaProblem(request, answer_memory_.Of(slot)), "memory that was read for",
                  request);
}

Outcome StressRdma::OnAck(const StressMessage& ack, uint32_t slot) {
  const rds_rdma_cookie_t cookie = cookies_[slot];
  if (ack.cookie != cookie)
    return Outcome::Fail(kExitBadData,
                         fmt::format("cookie {:#x} came back as {:#x} in the ack of request {}",
                                     cookie, ack.cookie, ack.sequence));
  const bool written = ack.way == RdmaWay::kWrite;
  counts_.Add(written ? kRdmaBytesIn : kRdmaBytesOut, job_.RdmaTotal());
  if (written && job_.verify)
    SOFTDAT_TRY(Verified(RdmaProblem(RequestOf(ack), memory_.Of(slot)),
                         "memory that was written for", ack));
  if (UsesMap()) CountKey(cookie);
  if (job_.cache_mrs) return {};
  cookies_[slot] = 0;
  return CloseMemory(ack, cookie);
}

Outcome StressRdma::CloseMemory(const StressMessage& ack, rds_rdma_cookie_t cookie) {
  // RDS has closed it. Asking costs a call.
  if (job_.use_once && !job_.verify) return {};
  const rds_free_mr_args args = {cookie, 0};
  const RdsCalls& calls = socket_->calls();
  const bool closed =
      calls.setsockopt(socket_->fd(), SOL_RDS, RDS_FREE_MR, &args, sizeof args) == 0;
  if (!job_.use_once)
    return closed ? Outcome() : RdsFailure(calls, "setsockopt(RDS_FREE_MR)", errno);
  if (!closed && errno == EINVAL) return {};
  return Outcome::Fail(kExitBadData,
                       fmt::format("memory of request {} was still open when its ack had come, in "
                                   "spite of USE_ONCE",
                                   ack.sequence));
}

void StressRdma::CountKey(rds_rdma_cookie_t cookie) {
  if (!job_.key_meter) return;
  if (!keys_.insert(static_cast<uint32_t>(cookie)).second) counts_.Add(kKeysAgain, 1);
}

}  // namespace softdat::tools
