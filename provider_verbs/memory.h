// SPDX-License-Identifier: BSD-3-Clause
// Protection domains, regions and windows.
#ifndef SOFTDAT_PROVIDER_VERBS_MEMORY_H_
#define SOFTDAT_PROVIDER_VERBS_MEMORY_H_

#include <infiniband/verbs.h>

#include <memory>
#include <utility>

#include "dat/transport/transport.h"
#include "provider_verbs/device.h"

namespace softdat::verbs {

class ProtectionDomain : public transport::ProtectionDomain {
 public:
  static Result<std::unique_ptr<transport::ProtectionDomain>> Create(Device& device);

  ibv_pd* hardware() const { return pd_.get(); }
  // A share for objects that may outlive this one.
  std::shared_ptr<ibv_pd> share() const { return pd_; }

 private:
  explicit ProtectionDomain(std::shared_ptr<ibv_pd> pd) : pd_(std::move(pd)) {}
  const std::shared_ptr<ibv_pd> pd_;
};

class MemoryRegion : public transport::MemoryRegion {
 public:
  static Result<std::unique_ptr<transport::MemoryRegion>> Create(
      Device& device, ProtectionDomain& pd, const transport::RegionParameters& p);
  ~MemoryRegion() override;

  uint32_t local_key() const override { return mr_->lkey; }
  uint32_t remote_key() const override { return remote_key_; }

  ibv_mr* hardware() const { return mr_; }
  const void* pd() const { return pd_; }
  uint64_t first() const { return first_; }
  uint64_t length() const { return length_; }
  uint32_t privileges() const { return privileges_; }

 private:
  MemoryRegion(Device& device, const void* pd, ibv_mr* mr, const transport::RegionParameters& p);

  Device& device_;
  const void* const pd_;
  ibv_mr* const mr_;
  const uint64_t first_;  // address of the first byte, as triplets give it
  const uint64_t length_;
  const uint32_t privileges_;
  uint32_t remote_key_ = 0;
};

// A window's state. The device's window lock protects it where several threads can change it.
class WindowCore {
 public:
  ibv_mw* mw = nullptr;
  const void* pd = nullptr;
  const void* qp = nullptr;  // type 2: the pair over which it was bound
  bool type2 = false;
  uint32_t announced = 0;  // the key of the last NextKey
  bool bound = false;      // a bind was posted, and nothing since has ended it
  bool completed = false;  // the bind has succeeded
  uint32_t key = 0;        // the key of that bind
  // What that bind set, for reads that sink into the window.
  uint64_t first = 0;
  uint64_t length = 0;
  uint32_t local_key = 0;
  uint64_t region_address = 0;  // the address in a local segment that stands for `first`
  bool writable = false;
};

class MemoryWindow : public transport::MemoryWindow {
 public:
  static Result<std::unique_ptr<transport::MemoryWindow>> Create(Device& device,
                                                                 ProtectionDomain& pd);
  ~MemoryWindow() override;
  uint32_t NextKey() override;
  bool IsBound(uint32_t key) const override;

  WindowCore& core() { return core_; }

 private:
  MemoryWindow(Device& device, ibv_mw* mw, const void* pd, bool type2);
  Device& device_;
  WindowCore core_;
};

// The ibv_access_flags for DAT privileges.
int AccessFlags(const DeviceTraits& traits, uint32_t privileges);

}  // namespace softdat::verbs

#endif  // SOFTDAT_PROVIDER_VERBS_MEMORY_H_
