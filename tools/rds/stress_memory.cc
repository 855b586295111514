// SPDX-License-Identifier: BSD-3-Clause
#include "tools/rds/stress_memory.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>

namespace softdat::tools {
namespace {

constexpr size_t kPage = 4096;

}  // namespace

StressMemory::~StressMemory() {
  if (base_ != nullptr) munmap(base_, mapped_);
}

Outcome StressMemory::Allocate(const StressJob& job, uint32_t slots) {
  vectors_ = job.rdma_vectors;
  bytes_ = job.RdmaTotal();
  offset_ = job.rdma_alignment;
  stride_ = (offset_ + bytes_ + kPage - 1) / kPage * kPage;
  mapped_ = stride_ * slots;
  void* const memory =
      mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return Outcome::Fail(
        fmt::format("no {} bytes of memory for RDMA: {}", mapped_, strerrordesc_np(errno)));
  base_ = static_cast<uint8_t*>(memory);
  return {};
}

std::vector<rds_iovec> StressMemory::VectorsOf(uint32_t slot) const {
  const std::span<uint8_t> whole = Of(slot);
  const size_t each = bytes_ / vectors_;
  std::vector<rds_iovec> vectors;
  for (size_t at = 0; at < bytes_; at += each)
    vectors.push_back({AddressOf(whole.subspan(at).data()), each});
  return vectors;
}

}  // namespace softdat::tools
