// SPDX-License-Identifier: BSD-3-Clause
// The contract's memory objects, which own entries in the key table.
#ifndef SOFTDAT_PROVIDER_TOY_REGISTERED_MEMORY_H_
#define SOFTDAT_PROVIDER_TOY_REGISTERED_MEMORY_H_

#include <cstdint>
#include <memory>
#include <utility>

#include "dat/transport/transport.h"
#include "provider_toy/fabric.h"
#include "provider_toy/memory.h"
#include "provider_toy/quota.h"

namespace softdat::toy {

class ProtectionDomain : public transport::ProtectionDomain {
 public:
  explicit ProtectionDomain(Quota::Slot slot) : slot_(std::move(slot)) {}

 private:
  const Quota::Slot slot_;
};

class MemoryRegion : public transport::MemoryRegion {
 public:
  MemoryRegion(Fabric& fabric, Quota::Slot slot, std::shared_ptr<RegionState> state)
      : fabric_(fabric), slot_(std::move(slot)), state_(std::move(state)) {}
  ~MemoryRegion() override {
    if (fabric_.abandoned()) return;
    const Fabric::Lock lock(fabric_);
    fabric_.keys().Deregister(*state_);
  }

  uint32_t local_key() const override { return state_->local_key; }
  uint32_t remote_key() const override { return state_->remote_key; }
  const std::shared_ptr<RegionState>& state() const { return state_; }

 private:
  Fabric& fabric_;
  const Quota::Slot slot_;
  const std::shared_ptr<RegionState> state_;
};

class MemoryWindow : public transport::MemoryWindow {
 public:
  MemoryWindow(Fabric& fabric, Quota::Slot slot, std::shared_ptr<WindowState> state)
      : fabric_(fabric), slot_(std::move(slot)), state_(std::move(state)) {}
  ~MemoryWindow() override {
    if (fabric_.abandoned()) return;
    const Fabric::Lock lock(fabric_);
    fabric_.keys().DestroyWindow(*state_);
  }

  uint32_t NextKey() override {
    const Fabric::Lock lock(fabric_);
    return fabric_.keys().FreshKey();
  }
  bool IsBound(uint32_t key) const override {
    const Fabric::Lock lock(fabric_);
    return state_->bound && state_->key == key;
  }
  const std::shared_ptr<WindowState>& state() const { return state_; }

 private:
  Fabric& fabric_;
  const Quota::Slot slot_;
  const std::shared_ptr<WindowState> state_;
};

}  // namespace softdat::toy

#endif  // SOFTDAT_PROVIDER_TOY_REGISTERED_MEMORY_H_
