// SPDX-License-Identifier: BSD-3-Clause
// The small objects: protection domain, memory region, memory window. Each is a key in the memory
// table.
#ifndef SOFTDAT_PROVIDER_SOFTNET_OBJECTS_OBJECTS_H_
#define SOFTDAT_PROVIDER_SOFTNET_OBJECTS_OBJECTS_H_

#include <memory>
#include <utility>

#include "dat/transport/transport.h"
#include "provider_softnet/objects/adapter_shared.h"

namespace softdat::softnet {

class SoftnetProtectionDomain final : public transport::ProtectionDomain {
 public:
  explicit SoftnetProtectionDomain(uint32_t id) : id_(id) {}
  uint32_t id() const { return id_; }

 private:
  const uint32_t id_;
};

class SoftnetMemoryRegion final : public transport::MemoryRegion {
 public:
  SoftnetMemoryRegion(std::shared_ptr<AdapterShared> adapter, uint32_t key, bool remote)
      : adapter_(std::move(adapter)), key_(key), remote_(remote) {}
  ~SoftnetMemoryRegion() override { adapter_->memory.DeregisterRegion(key_); }
  uint32_t local_key() const override { return key_; }
  uint32_t remote_key() const override { return remote_ ? key_ : 0; }

 private:
  const std::shared_ptr<AdapterShared> adapter_;
  const uint32_t key_;
  const bool remote_;
};

class SoftnetMemoryWindow final : public transport::MemoryWindow {
 public:
  SoftnetMemoryWindow(std::shared_ptr<AdapterShared> adapter, uint32_t key)
      : adapter_(std::move(adapter)), key_(key) {}
  ~SoftnetMemoryWindow() override { adapter_->memory.DestroyWindow(key_); }
  uint32_t NextKey() override { return adapter_->memory.NextWindowKey(key_); }
  bool IsBound(uint32_t key) const override { return adapter_->memory.IsLive(key); }

 private:
  const std::shared_ptr<AdapterShared> adapter_;
  const uint32_t key_;  // names the window, whatever key is live
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_OBJECTS_OBJECTS_H_
