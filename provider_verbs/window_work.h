// SPDX-License-Identifier: BSD-3-Clause
// How requests on windows are carried out: binds and unbinds, and reads that sink into a window.
#ifndef SOFTDAT_PROVIDER_VERBS_WINDOW_WORK_H_
#define SOFTDAT_PROVIDER_VERBS_WINDOW_WORK_H_

#include <infiniband/verbs.h>

#include <array>

#include "dat/transport/transport.h"
#include "provider_verbs/device.h"
#include "provider_verbs/memory.h"
#include "provider_verbs/work_slots.h"

namespace softdat::verbs {

// One bind or unbind, from the request to the state of its window.
class WindowBind {
 public:
  // The rules that need no device (semantics 7.3).
  static Code Check(const transport::SendRequest& request, const void* pd);

  // For a request that passed Check(). Fills the slot and the verbs requests except for their
  // signalling.
  WindowBind(Device& device, const transport::SendRequest& request, SendSlot* slot);
  WindowBind(const WindowBind&) = delete;
  WindowBind& operator=(const WindowBind&) = delete;

  // Windows of type 1 are bound by their own call, the others by the requests of first().
  bool type2() const { return core_.type2; }
  ibv_send_wr* first() { return chain_.data(); }
  ibv_send_wr* last() { return &chain_[count_ - 1]; }

  // Enters the state that the window has when the request has been carried out. This comes before
  // the post, because the completion may come at once. `qp`: the pair over which the window is
  // bound.
  void Enter(const ibv_qp* qp);
  // Undo() restores the state from before Enter(), because the device refused the request. Posted()
  // says that the device took it.
  void Undo();
  void Posted();

 private:
  void FillBind();

  Device& device_;
  const transport::SendRequest& request_;
  WindowCore& core_;
  const bool unbind_;
  std::array<ibv_send_wr, 2> chain_{};
  size_t count_ = 0;
  WindowCore before_;
};

// Verbs know only regions as local memory. So a read into a window goes to the window's part of the
// region. The window's key and bounds are checked here. The invalidation follows the read, with a
// fence.
class WindowRead {
 public:
  // Returns kOk, or why the window does not accept the read.
  Code Fill(Device& device, const transport::SendRequest& request, const void* pd, SendSlot* slot);

  ibv_send_wr* first() { return chain_.data(); }
  ibv_send_wr* last() { return chain_[0].next != nullptr ? &chain_[1] : &chain_[0]; }

 private:
  std::array<ibv_send_wr, 2> chain_{};
};

}  // namespace softdat::verbs

#endif  // SOFTDAT_PROVIDER_VERBS_WINDOW_WORK_H_
