// SPDX-License-Identifier: BSD-3-Clause
// Windows. If the device has type 2, it is used: we choose its keys, it can be invalidated, and it
// works over the queue pair that bound it. Otherwise type 1 is used: it is valid on every queue
// pair of its domain, and drivers make its keys by the rule of ibv_inc_rkey, which NextKey
// predicts.
#include <errno.h>

#include "dat/base/log.h"
#include "provider_verbs/memory.h"
#include "provider_verbs/os_error.h"

namespace softdat::verbs {

Result<std::unique_ptr<transport::MemoryWindow>> MemoryWindow::Create(Device& device,
                                                                      ProtectionDomain& pd) {
  const bool type2 = device.traits.windows_type2;
  ibv_mw* const mw = ibv_alloc_mw(pd.hardware(), type2 ? IBV_MW_TYPE_2 : IBV_MW_TYPE_1);
  if (mw == nullptr) return OsStatus(errno, "ibv_alloc_mw");
  return std::unique_ptr<transport::MemoryWindow>(new MemoryWindow(device, mw, &pd, type2));
}

MemoryWindow::MemoryWindow(Device& device, ibv_mw* mw, const void* pd, bool type2)
    : device_(device) {
  core_.mw = mw;
  core_.pd = pd;
  core_.type2 = type2;
  core_.announced = mw->rkey;
}

MemoryWindow::~MemoryWindow() {
  if (core_.key != 0) device_.RemoveWindow(core_.key);
  if (device_.abandoned) return;
  const int error = ibv_dealloc_mw(core_.mw);
  if (error != 0) SOFTDAT_LOG(Warning, "ibv_dealloc_mw: {}", OsText(error));
}

uint32_t MemoryWindow::NextKey() {
  core_.announced = ibv_inc_rkey(core_.type2 ? core_.announced : core_.mw->rkey);
  return core_.announced;
}

bool MemoryWindow::IsBound(uint32_t key) const {
  bool bound = false;
  device_.WithWindow(key, [&](WindowCore& window) {
    bound = &window == &core_ && window.bound && window.completed;
  });
  return bound;
}

}  // namespace softdat::verbs
