// SPDX-License-Identifier: BSD-3-Clause
// Endpoint: the return codes of a post that was not taken. The way in is inline, in ep.h and
// api_ep_post.cc.
#include "dat/engine/ep.h"
#include "dat/engine/object/dat_error.h"

namespace softdat::engine {

namespace {

DAT_RETURN WrongService() {
  return Error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP,
               "an EP for datagrams has no peer of its own: dat_ib_post_send_ud() names one");
}

}  // namespace

DAT_RETURN Ep::PostDatagram(const transport::SendRequest& request) {
  const uint64_t bytes = EpCounters::Bytes(request.local);
  const Code code = qp_->PostSend(request);
  if (code != Code::kOk) return ToDat(code, Subject::kEp);
  counters_.CountSend(request.op, bytes);
  return DAT_SUCCESS;
}

DAT_RETURN Ep::RefusePost(DAT_EP_STATE now) {
  return datagrams() ? WrongService() : WrongEpState(now);
}

DAT_RETURN Ep::RefuseReceive() {
  return Error(DAT_INVALID_STATE, DAT_INVALID_STATE_SRQ_IN_USE,
               "the EP takes its receives from an SRQ");
}

DAT_RETURN Ep::FailedSend(Code code) { return datagrams() ? WrongService() : FailedPost(code); }

DAT_RETURN Ep::FailedPost(Code code) {
  if (code != Code::kInvalidState) return ToDat(code, Subject::kEp);
  // The back end has left the connected state already and its upcall is still on the way.
  const DAT_EP_STATE now = state();
  return WrongEpState(now == DAT_EP_STATE_CONNECTED ? DAT_EP_STATE_DISCONNECT_PENDING : now);
}

}  // namespace softdat::engine
