// SPDX-License-Identifier: BSD-3-Clause
// Registers memory and binds windows.
#include "dat/client/memory.h"

#include <sys/mman.h>

#include <utility>

namespace softdat::client {

Result Lmr::Register(const Ia& ia, const Pz& pz, void* data, size_t bytes, int privileges) {
  return Register(ia, pz, data, bytes, privileges, DAT_VA_TYPE_VA);
}

Result Lmr::RegisterZeroBased(const Ia& ia, const Pz& pz, void* data, size_t bytes,
                              int privileges) {
  return Register(ia, pz, data, bytes, privileges, DAT_VA_TYPE_ZB);
}

Result Lmr::Register(const Ia& ia, const Pz& pz, void* data, size_t bytes, int privileges,
                     DAT_VA_TYPE kind) {
  DAT_REGION_DESCRIPTION region{};
  region.for_va = data;
  address_ = kind == DAT_VA_TYPE_ZB ? 0 : reinterpret_cast<uintptr_t>(data);
  // These results are not needed, but not every provider accepts NULL for them.
  DAT_VLEN registered_size = 0;
  DAT_VADDR registered_address = 0;
  return Make("dat_lmr_create", ia.life(), [&](DAT_LMR_HANDLE* handle) {
    return dat_lmr_create(ia, DAT_MEM_TYPE_VIRTUAL, region, bytes, pz,
                          static_cast<DAT_MEM_PRIV_FLAGS>(privileges), kind, handle,
                          &local_context_, &remote_context_, &registered_size, &registered_address);
  });
}

DAT_LMR_TRIPLET Lmr::Local(size_t offset, size_t bytes) const {
  DAT_LMR_TRIPLET triplet{};
  triplet.virtual_address = address_ + offset;
  triplet.segment_length = static_cast<DAT_SEG_LENGTH>(bytes);
  triplet.lmr_context = local_context_;
  return triplet;
}

Memory::Memory(Memory&& other) noexcept { *this = std::move(other); }

Memory& Memory::operator=(Memory&& other) noexcept {
  if (this == &other) return *this;
  Reset();
  data_ = std::exchange(other.data_, nullptr);
  size_ = std::exchange(other.size_, 0);
  lmr_ = std::move(other.lmr_);
  return *this;
}

bool Memory::Map(size_t bytes) {
  Reset();
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return false;
  data_ = static_cast<uint8_t*>(memory);
  size_ = bytes;
  return true;
}

void Memory::Reset() {
  lmr_.Reset();
  if (data_ != nullptr) munmap(data_, size_);
  data_ = nullptr;
  size_ = 0;
}

Result Window::Bind(const Lmr& lmr, size_t offset, size_t bytes, int privileges, DAT_EP_HANDLE ep,
                    uint64_t cookie, DAT_COMPLETION_FLAGS flags) {
  const DAT_LMR_TRIPLET part = lmr.Local(offset, bytes);
  DAT_RMR_COOKIE user_cookie{};
  user_cookie.as_64 = cookie;
  DAT_RMR_CONTEXT context = 0;
  const Result result("dat_rmr_bind",
                      dat_rmr_bind(get(), lmr, &part, static_cast<DAT_MEM_PRIV_FLAGS>(privileges),
                                   DAT_VA_TYPE_VA, ep, user_cookie, flags, &context));
  if (result.ok()) remote_ = RemoteSegment(part.virtual_address, context, bytes);
  return result;
}

}  // namespace softdat::client
