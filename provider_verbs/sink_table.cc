// SPDX-License-Identifier: BSD-3-Clause
// SinkTable.
#include "provider_verbs/sink_table.h"

#include <errno.h>

#include "dat/base/log.h"
#include "provider_verbs/os_error.h"

namespace softdat::verbs {

void SinkTable::Add(ibv_mr* mr, bool zero_based, int access) {
  const std::lock_guard<std::mutex> lock(mutex_);
  regions_[mr->lkey] = {mr, zero_based, access, nullptr};
}

void SinkTable::Remove(uint32_t local_key) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = regions_.find(local_key);
  if (found == regions_.end()) return;
  if (ibv_mr* const open = found->second.open; open != nullptr) {
    region_of_.erase(open->lkey);
    const int error = ibv_dereg_mr(open);
    if (error != 0) SOFTDAT_LOG(Warning, "ibv_dereg_mr of a sink: {}", OsText(error));
  }
  regions_.erase(found);
}

Code SinkTable::Open(uint32_t local_key, uint32_t* key) {
  const std::lock_guard<std::mutex> lock(mutex_);
  *key = local_key;
  const auto found = regions_.find(local_key);
  if (found == regions_.end()) return Code::kOk;
  Region& region = found->second;
  if (region.open == nullptr) {
    const int access = region.access | IBV_ACCESS_REMOTE_WRITE;
    ibv_pd* const pd = region.mr->pd;
    void* const address = region.mr->addr;
    const size_t length = region.mr->length;
    region.open = region.zero_based ? ibv_reg_mr_iova(pd, address, length, 0, access)
                                    : ibv_reg_mr(pd, address, length, access);
    if (region.open == nullptr) {
      const Status status = OsStatus(
          errno,
          "ibv_reg_mr of a sink of RDMA reads, which this adapter wants open to remote writes");
      SOFTDAT_LOG(Warning, "{}", status.reason());
      return status.code();
    }
    region_of_[region.open->lkey] = local_key;
    SOFTDAT_LOG(Info,
                "region {:#x} is the sink of an RDMA read: this adapter wants it open to remote "
                "writes, which it is now for the peers of its reads",
                local_key);
  }
  *key = region.open->lkey;
  return Code::kOk;
}

uint32_t SinkTable::RegionOf(uint32_t key) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = region_of_.find(key);
  return found == region_of_.end() ? key : found->second;
}

}  // namespace softdat::verbs
