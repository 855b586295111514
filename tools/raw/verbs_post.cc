// SPDX-License-Identifier: BSD-3-Clause
// VerbsConnection: posting to a queue pair, and taking its completions.
#include <fmt/format.h>
#include <poll.h>

#include <cerrno>
#include <utility>

#include "tools/raw/socket_io.h"
#include "tools/raw/verbs_connection.h"

namespace softdat::tools {

Outcome VerbsConnection::PostReceive() {
  ibv_sge inbox_part{reinterpret_cast<uintptr_t>(inbox()), box_, region_->lkey};
  ibv_recv_wr request{};
  request.sg_list = &inbox_part;
  request.num_sge = 1;
  ibv_recv_wr* bad = nullptr;
  errno = ibv_post_recv(connected_->qp, &request, &bad);
  return errno == 0 ? Outcome() : RawErrno("ibv_post_recv");
}

Outcome VerbsConnection::Post(ibv_wr_opcode opcode, uint32_t bytes, bool signalled) {
  const bool is_atomic =
      opcode == IBV_WR_ATOMIC_FETCH_AND_ADD || opcode == IBV_WR_ATOMIC_CMP_AND_SWP;
  const bool fetches = is_atomic || opcode == IBV_WR_RDMA_READ;
  ++posted_;
  ++unsignalled_;
  ibv_sge part{reinterpret_cast<uintptr_t>(fetches ? inbox() : outbox()), bytes, region_->lkey};
  ibv_send_wr request{};
  request.wr_id = unsignalled_;
  request.sg_list = &part;
  request.num_sge = 1;
  request.opcode = opcode;
  if (signalled) {
    request.send_flags = IBV_SEND_SIGNALED;
    unsignalled_ = 0;
  }
  if (!fetches && bytes <= inline_) request.send_flags |= IBV_SEND_INLINE;
  if (is_atomic) {
    request.wr.atomic = {
        .remote_addr = peer_.address, .compare_add = 1, .swap = 1, .rkey = peer_.key};
  } else {
    request.wr.rdma = {.remote_addr = peer_.address, .rkey = peer_.key};
  }
  ibv_send_wr* bad = nullptr;
  errno = ibv_post_send(connected_->qp, &request, &bad);
  return errno == 0 ? Outcome() : RawErrno("ibv_post_send");
}

void VerbsConnection::Poll() {
  constexpr int kMost = 16;
  ibv_wc completions[kMost];
  const int count = ibv_poll_cq(completions_.get(), kMost, completions);
  for (int i = 0; i < count; ++i) Take(completions[i]);
  if (count < 0) Note(Outcome::Fail("raw:verbs: ibv_poll_cq has failed"));
}

void VerbsConnection::Take(const ibv_wc& completion) {
  if (completion.status != IBV_WC_SUCCESS) {
    Note(Outcome::Fail(
        fmt::format("raw:verbs: a transfer has failed: {}", ibv_wc_status_str(completion.status))));
  } else if ((completion.opcode & IBV_WC_RECV) != 0) {
    ++received_;
    Note(PostReceive());
  } else {
    done_ += completion.wr_id;
  }
}

void VerbsConnection::Note(Outcome outcome) {
  if (!outcome.ok() && failure_.ok()) failure_ = std::move(outcome);
}

bool VerbsConnection::HasFailed() {
  Poll();
  pollfd news{channel_->fd, POLLIN, 0};
  if (poll(&news, 1, 0) > 0) Note(Outcome::Fail("raw:verbs: the other side has closed"));
  return !failure_.ok();
}

}  // namespace softdat::tools
