// SPDX-License-Identifier: BSD-3-Clause
// The cost of a copy, without anybody at the other end. An iteration of a latency is two copies,
// there and back.
#include <cstring>
#include <vector>

#include "tools/raw/transfer.h"

namespace softdat::tools {
namespace {

class MemcpyTransfer : public RawTransfer {
 public:
  MemcpyTransfer(const RawJob& job, bool is_server)
      : RawTransfer(job, is_server), from_(job.size), to_(job.size) {}

  Outcome Run() override {
    if (is_server_) return {};
    for (uint64_t i = 0; i < job_.iterations; ++i) {
      Copy(from_.data(), to_.data());
      if (job_.shape == Shape::kLatency) Copy(to_.data(), from_.data());
    }
    return {};
  }

 private:
  // Makes the compiler believe that somebody looks at each copy.
  void Copy(uint8_t* from, uint8_t* to) const {
    std::memcpy(to, from, job_.size);
    asm volatile("" : : "r"(to) : "memory");
  }

  std::vector<uint8_t> from_;
  std::vector<uint8_t> to_;
};

}  // namespace

std::unique_ptr<RawTransfer> MakeMemcpyTransfer(const RawJob& job, bool is_server) {
  return std::make_unique<MemcpyTransfer>(job, is_server);
}

}  // namespace softdat::tools
