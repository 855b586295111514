// SPDX-License-Identifier: BSD-3-Clause
// Protection domains and regions. Windows are in memory_window.cc.
#include "provider_verbs/memory.h"

#include <errno.h>
#include <fmt/format.h>

#include "dat/base/log.h"
#include "dat2/dat_ib_extensions.h"
#include "provider_verbs/os_error.h"

namespace softdat::verbs {

Result<std::unique_ptr<transport::ProtectionDomain>> ProtectionDomain::Create(Device& device) {
  ibv_pd* const pd = ibv_alloc_pd(device.context);
  if (pd == nullptr) return OsStatus(errno, "ibv_alloc_pd");
  const auto destroy = [&device](ibv_pd* p) {
    if (device.abandoned) return;
    const int error = ibv_dealloc_pd(p);
    if (error != 0) SOFTDAT_LOG(Warning, "ibv_dealloc_pd: {}", OsText(error));
  };
  return std::unique_ptr<transport::ProtectionDomain>(
      new ProtectionDomain(std::shared_ptr<ibv_pd>(pd, destroy)));
}

int AccessFlags(const DeviceTraits& traits, uint32_t privileges) {
  int access = 0;
  if ((privileges & DAT_MEM_PRIV_LOCAL_WRITE_FLAG) != 0) access |= IBV_ACCESS_LOCAL_WRITE;
  if ((privileges & DAT_MEM_PRIV_REMOTE_READ_FLAG) != 0) access |= IBV_ACCESS_REMOTE_READ;
  // Verbs grant remote writes and atomics only together with local writes.
  if ((privileges & DAT_MEM_PRIV_REMOTE_WRITE_FLAG) != 0) {
    access |= IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_LOCAL_WRITE;
  }
  if ((privileges & DAT_IB_MEM_PRIV_REMOTE_ATOMIC) != 0 && traits.atomics) {
    access |= IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_LOCAL_WRITE;
  }
  return access;
}

Result<std::unique_ptr<transport::MemoryRegion>> MemoryRegion::Create(
    Device& device, ProtectionDomain& pd, const transport::RegionParameters& p) {
  if (p.length == 0) return Status(Code::kLength, "a region of no bytes");
  int access = AccessFlags(device.traits, p.privileges);
  if (device.traits.windows_type1 || device.traits.windows_type2) access |= IBV_ACCESS_MW_BIND;
  const auto reg = [&pd, &p](int rights) {
    return p.zero_based ? ibv_reg_mr_iova(pd.hardware(), p.address, p.length, 0, rights)
                        : ibv_reg_mr(pd.hardware(), p.address, p.length, rights);
  };
  ibv_mr* mr = reg(access);
  // The kernel takes memory that windows can be bound over for memory that is written to. So it
  // refuses read-only memory.
  if (mr == nullptr && errno == EFAULT && (access & IBV_ACCESS_MW_BIND) != 0 &&
      (access & IBV_ACCESS_LOCAL_WRITE) == 0) {
    access &= ~IBV_ACCESS_MW_BIND;
    mr = reg(access);
  }
  if (mr == nullptr) {
    return OsStatus(errno, fmt::format("ibv_reg_mr of {} bytes at {}{}", p.length, p.address,
                                       p.zero_based ? ", zero-based" : ""));
  }
  if (device.traits.read_sink_remote_write && (access & IBV_ACCESS_LOCAL_WRITE) != 0 &&
      (access & IBV_ACCESS_REMOTE_WRITE) == 0) {
    device.sinks.Add(mr, p.zero_based, access);
  }
  return std::unique_ptr<transport::MemoryRegion>(new MemoryRegion(device, &pd, mr, p));
}

MemoryRegion::MemoryRegion(Device& device, const void* pd, ibv_mr* mr,
                           const transport::RegionParameters& p)
    : device_(device),
      pd_(pd),
      mr_(mr),
      first_(p.zero_based ? 0 : reinterpret_cast<uintptr_t>(p.address)),
      length_(p.length),
      privileges_(p.privileges) {
  constexpr uint32_t kRemote = uint32_t{DAT_MEM_PRIV_REMOTE_READ_FLAG} |
                               uint32_t{DAT_MEM_PRIV_REMOTE_WRITE_FLAG} |
                               uint32_t{DAT_IB_MEM_PRIV_REMOTE_ATOMIC};
  if ((p.privileges & kRemote) != 0) remote_key_ = mr_->rkey;
  device_.regions.Add(mr_->lkey, {.first = first_,
                                  .length = length_,
                                  .pd = pd_,
                                  .writable = (p.privileges & DAT_MEM_PRIV_LOCAL_WRITE_FLAG) != 0,
                                  .zero_based = p.zero_based});
}

MemoryRegion::~MemoryRegion() {
  device_.regions.Remove(mr_->lkey);
  if (device_.abandoned) return;
  device_.sinks.Remove(mr_->lkey);
  const int error = ibv_dereg_mr(mr_);
  if (error != 0) SOFTDAT_LOG(Warning, "ibv_dereg_mr: {}", OsText(error));
}

}  // namespace softdat::verbs
