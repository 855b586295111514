// SPDX-License-Identifier: BSD-3-Clause
// The memory of a task that RDMA reads and writes.
#ifndef SOFTDAT_TOOLS_RDS_STRESS_MEMORY_H_
#define SOFTDAT_TOOLS_RDS_STRESS_MEMORY_H_

#include <linux/rds.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tools/common/outcome.h"
#include "tools/rds/stress_job.h"

namespace softdat::tools {

// As many pieces as there are slots, each on pages of its own.
class StressMemory {
 public:
  StressMemory() = default;
  StressMemory(const StressMemory&) = delete;
  StressMemory& operator=(const StressMemory&) = delete;
  ~StressMemory();

  Outcome Allocate(const StressJob& job, uint32_t slots);

  std::span<uint8_t> Of(uint32_t slot) const {
    return {base_ + size_t{slot} * stride_ + offset_, bytes_};
  }
  // The piece as vectors of the bytes of -D.
  std::vector<rds_iovec> VectorsOf(uint32_t slot) const;

 private:
  uint8_t* base_ = nullptr;
  size_t mapped_ = 0;
  size_t stride_ = 0;
  size_t offset_ = 0;  // in the first page
  size_t bytes_ = 0;
  uint32_t vectors_ = 1;
};

inline uint64_t AddressOf(const void* memory) { return reinterpret_cast<uintptr_t>(memory); }

}  // namespace softdat::tools

#endif  // SOFTDAT_TOOLS_RDS_STRESS_MEMORY_H_
