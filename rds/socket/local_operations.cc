// SPDX-License-Identifier: BSD-3-Clause
#include "rds/socket/local_operations.h"

#include <linux/rds.h>

#include <atomic>

#include "rds/socket/program_memory.h"

namespace softdat::rds {
namespace {

// The address of `bytes` at this place of the region, or 0 when they are not all in it.
uint64_t Resolve(const OwnRegion* region, rds_rdma_cookie_t cookie, uint64_t offset,
                 uint64_t bytes) {
  if (region == nullptr) return 0;
  uint64_t at = 0;
  if (__builtin_add_overflow(cookie >> 32, offset, &at)) return 0;
  if (__builtin_sub_overflow(at, region->open.offset, &at)) return 0;
  if (at > region->area.bytes || bytes > region->area.bytes - at) return 0;
  return region->area.address + at;
}

}  // namespace

int Carry(const RdmaOperation& operation, const OwnRegion* region) {
  uint64_t remote = Resolve(region, operation.cookie, operation.offset, operation.bytes);
  if (remote == 0) return RDS_RDMA_REMOTE_ERROR;
  for (const Area& local : operation.local) {
    const bool copied =
        operation.write
            ? CopyToProgram(remote, reinterpret_cast<const void*>(local.address), local.bytes)
            : CopyToProgram(local.address, reinterpret_cast<const void*>(remote), local.bytes);
    if (!copied) return RDS_RDMA_OTHER_ERROR;
    remote += local.bytes;
  }
  return RDS_RDMA_SUCCESS;
}

int Carry(const AtomicOperation& operation, const OwnRegion* region) {
  const uint64_t remote = Resolve(region, operation.cookie, operation.offset, sizeof(uint64_t));
  if (remote == 0 || remote % sizeof(uint64_t) != 0) return RDS_RDMA_REMOTE_ERROR;
  // It may have gone since it was opened.
  if (!IsWritable({remote, sizeof(uint64_t)})) return RDS_RDMA_OTHER_ERROR;
  std::atomic_ref<uint64_t> word(*reinterpret_cast<uint64_t*>(remote));
  uint64_t old = 0;
  if (operation.kind == AtomicOperation::Kind::kFetchAdd) {
    old = word.fetch_add(operation.swap_or_add);
  } else {
    old = operation.compare;
    word.compare_exchange_strong(old, operation.swap_or_add);
  }
  return CopyToProgram(operation.local, &old, sizeof old) ? RDS_RDMA_SUCCESS : RDS_RDMA_OTHER_ERROR;
}

}  // namespace softdat::rds
