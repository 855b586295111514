// SPDX-License-Identifier: BSD-3-Clause
// DAT objects with an owner.
#include "tools/common/objects.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "dat2/dat_ib_extensions.h"
#include "tools/common/dat_error.h"

namespace softdat::tools {
namespace {

// Asynchronous errors are rare: one of each kind fits.
constexpr DAT_COUNT kAsyncQueueLength = 8;

}  // namespace

Outcome Ia::Open(const std::string& name) {
  Close();
  if (name.size() >= DAT_NAME_MAX_LENGTH)
    return Outcome::Fail(kExitUsage, "the IA name is longer than DAT_NAME_MAX_LENGTH");
  name_ = name;
  DAT_EVD_HANDLE async_evd = DAT_HANDLE_NULL;
  const std::string call = fmt::format("dat_ia_open(\"{}\")", name);
  SOFTDAT_TRY(
      Check(call.c_str(), dat_ia_open(name_.data(), kAsyncQueueLength, &async_evd, &handle_)));
  return Check("dat_ia_query",
               dat_ia_query(handle_, nullptr, DAT_IA_FIELD_ALL, &attributes_, 0, nullptr));
}

void Ia::Close() {
  if (is_open()) dat_ia_close(handle_, DAT_CLOSE_ABRUPT_FLAG);
  handle_ = DAT_HANDLE_NULL;
}

Outcome Memory::Allocate(const Ia& ia, const Pz& pz, size_t bytes) {
  Free();
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return Outcome::Fail(fmt::format("cannot get {} bytes of memory: {}", bytes, strerror(errno)));
  data_ = static_cast<uint8_t*>(memory);
  size_ = bytes;
  DAT_REGION_DESCRIPTION region{};
  region.for_va = memory;
  DAT_VLEN registered_size = 0;
  DAT_VADDR registered_address = 0;
  const auto create = [&](int privileges) {
    return dat_lmr_create(ia.get(), DAT_MEM_TYPE_VIRTUAL, region, bytes, pz.get(),
                          static_cast<DAT_MEM_PRIV_FLAGS>(privileges), DAT_VA_TYPE_VA, lmr_.out(),
                          &lmr_context_, &rmr_context_, &registered_size, &registered_address);
  };
  // Not every adapter with the extension has atomics.
  if (ia.attributes().extension_supported == DAT_EXTENSION_IB &&
      create(int{DAT_MEM_PRIV_ALL_FLAG} | int{DAT_IB_MEM_PRIV_REMOTE_ATOMIC}) == DAT_SUCCESS)
    return {};
  return Check("dat_lmr_create", create(DAT_MEM_PRIV_ALL_FLAG));
}

void Memory::Free() {
  lmr_.Reset();
  if (data_ != nullptr) munmap(data_, size_);
  data_ = nullptr;
  size_ = 0;
}

DAT_LMR_TRIPLET Memory::Local(size_t offset, size_t bytes) const {
  return DAT_LMR_TRIPLET{address() + offset, static_cast<DAT_SEG_LENGTH>(bytes), lmr_context_};
}

}  // namespace softdat::tools
