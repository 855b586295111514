// SPDX-License-Identifier: BSD-3-Clause
// The null device while it holds posted work.
#include <errno.h>

#include <cstddef>
#include <utility>

#include "tests/nulldevice/null_parts.h"
#include "tests/nulldevice/null_verbs.h"

namespace softdat::nulldevice {
namespace {

std::mutex g_mutex;  // protects the next three
std::vector<NullPost> g_posts;
std::deque<int> g_send_errors;  // of the next requests; 0: the request is taken
int g_receive_error = 0;

ibv_wc Completion(const NullPair& pair, uint64_t wr_id, ibv_wc_status status, ibv_wc_opcode op) {
  ibv_wc wc{};
  wc.wr_id = wr_id;
  wc.status = status;
  wc.opcode = op;
  wc.qp_num = pair.base.qp_num;
  return wc;
}

int NextSendError() {
  const std::lock_guard<std::mutex> lock(g_mutex);
  if (g_send_errors.empty()) return 0;
  const int error = g_send_errors.front();
  g_send_errors.pop_front();
  return error;
}

void Note(const ibv_send_wr& wr, bool datagram) {
  NullPost post{.opcode = wr.opcode,
                .send_flags = wr.send_flags,
                .num_sge = wr.num_sge,
                .length = 0,
                .remote_address = wr.wr.rdma.remote_addr,
                .way = nullptr,
                .remote_qpn = 0,
                .remote_qkey = 0};
  if (datagram) {
    post.remote_address = 0;
    post.way = wr.wr.ud.ah;
    post.remote_qpn = wr.wr.ud.remote_qpn;
    post.remote_qkey = wr.wr.ud.remote_qkey;
  }
  for (int i = 0; i < wr.num_sge; ++i) post.length += wr.sg_list[i].length;
  const std::lock_guard<std::mutex> lock(g_mutex);
  g_posts.push_back(post);
}

// The pair's mutex is held. Completes everything that is there, in order.
void Flush(NullPair* pair) {
  for (HeldWork::Send& send : std::exchange(pair->held.sends, {})) {
    send.wc.status = IBV_WC_WR_FLUSH_ERR;
    PushCompletion(pair->base.send_cq, send.wc);
  }
  for (const uint64_t wr_id : std::exchange(pair->held.receives, {}))
    PushCompletion(pair->base.recv_cq, Completion(*pair, wr_id, IBV_WC_WR_FLUSH_ERR, IBV_WC_RECV));
}

// What arrives, and takes the oldest receive.
void Arrive(ibv_wc wc) {
  NullPair* const pair = LastPair();
  if (pair == nullptr) return;
  const std::lock_guard<std::mutex> lock(pair->held.mutex);
  if (pair->held.receives.empty()) return;
  wc.wr_id = pair->held.receives.front();
  wc.status = IBV_WC_SUCCESS;
  wc.opcode = IBV_WC_RECV;
  wc.qp_num = pair->base.qp_num;
  pair->held.receives.pop_front();
  PushCompletion(pair->base.recv_cq, wc);
}

}  // namespace

int PostSendHeld(ibv_qp* qp, ibv_send_wr* first, ibv_send_wr** bad) {
  auto* pair = reinterpret_cast<NullPair*>(qp);
  const std::lock_guard<std::mutex> lock(pair->held.mutex);
  for (ibv_send_wr* wr = first; wr != nullptr; wr = wr->next) {
    int error = NextSendError();
    if (TheNullDevice().iwarp && wr->opcode == IBV_WR_RDMA_READ && wr->num_sge > 1) error = EINVAL;
    if (error != 0) {
      *bad = wr;
      return error;
    }
    Note(*wr, qp->qp_type == IBV_QPT_UD);
    pair->held.sends.push_back({Completion(*pair, wr->wr_id, IBV_WC_SUCCESS, IBV_WC_RDMA_WRITE),
                                pair->signal_all || (wr->send_flags & IBV_SEND_SIGNALED) != 0});
  }
  if (pair->held.in_error && TheNullDevice().flushes) Flush(pair);
  return 0;
}

int PostRecvHeld(ibv_qp* qp, ibv_recv_wr* first, ibv_recv_wr** bad) {
  auto* pair = reinterpret_cast<NullPair*>(qp);
  {
    const std::lock_guard<std::mutex> lock(g_mutex);
    if (const int error = std::exchange(g_receive_error, 0); error != 0) {
      *bad = first;
      return error;
    }
  }
  const std::lock_guard<std::mutex> lock(pair->held.mutex);
  for (ibv_recv_wr* wr = first; wr != nullptr; wr = wr->next)
    pair->held.receives.push_back(wr->wr_id);
  if (pair->held.in_error && TheNullDevice().flushes) Flush(pair);
  return 0;
}

void EnterErrorHeld(NullPair* pair) {
  const std::lock_guard<std::mutex> lock(pair->held.mutex);
  pair->held.in_error = true;
  if (TheNullDevice().flushes) Flush(pair);
}

std::vector<NullPost> TakeNullPosts() {
  const std::lock_guard<std::mutex> lock(g_mutex);
  g_send_errors.clear();
  g_receive_error = 0;
  return std::exchange(g_posts, {});
}

size_t NullReceives() {
  NullPair* const pair = LastPair();
  if (pair == nullptr) return 0;
  const std::lock_guard<std::mutex> lock(pair->held.mutex);
  return pair->held.receives.size();
}

void CompleteNullSends(size_t count, ibv_wc_status status) {
  NullPair* const pair = LastPair();
  if (pair == nullptr) return;
  const std::lock_guard<std::mutex> lock(pair->held.mutex);
  while (count-- > 0 && !pair->held.sends.empty()) {
    HeldWork::Send send = pair->held.sends.front();
    pair->held.sends.pop_front();
    if (count == 0) send.wc.status = status;
    if (send.signalled || send.wc.status != IBV_WC_SUCCESS)
      PushCompletion(pair->base.send_cq, send.wc);
  }
}

void CompleteNullSendEarly(size_t older) {
  NullPair* const pair = LastPair();
  if (pair == nullptr) return;
  const std::lock_guard<std::mutex> lock(pair->held.mutex);
  if (older >= pair->held.sends.size()) return;
  const auto early = pair->held.sends.begin() + static_cast<std::ptrdiff_t>(older);
  PushCompletion(pair->base.send_cq, early->wc);
  pair->held.sends.erase(early);
}

void ArriveNullMessage(uint32_t length) {
  ibv_wc what{};
  what.byte_len = length;
  Arrive(what);
}

void ArriveNullDatagram(uint32_t length, uint32_t source_qpn) {
  ibv_wc what{};
  what.byte_len = length;
  what.src_qp = source_qpn;
  what.wc_flags = IBV_WC_GRH;
  Arrive(what);
}

void ArriveNullDatagramImmediate(uint32_t length, uint32_t immediate) {
  ibv_wc what{};
  what.byte_len = length;
  what.imm_data = immediate;
  what.wc_flags = static_cast<unsigned>(IBV_WC_GRH) | static_cast<unsigned>(IBV_WC_WITH_IMM);
  Arrive(what);
}

void RefuseNullSend(size_t after, int error) {
  const std::lock_guard<std::mutex> lock(g_mutex);
  g_send_errors.assign(after, 0);
  g_send_errors.push_back(error);
}

void RefuseNullReceive(int error) {
  const std::lock_guard<std::mutex> lock(g_mutex);
  g_receive_error = error;
}

}  // namespace softdat::nulldevice
