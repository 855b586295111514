// SPDX-License-Identifier: BSD-3-Clause
// The tests by name.
#include "tools/perf/tests.h"

#include <algorithm>
#include <iterator>

namespace softdat::tools {
namespace {

constexpr PerfTest kTests[] = {
    {"send_lat", "Send Latency Test", Operation::kSend, Shape::kLatency},
    {"send_bw", "Send BW Test", Operation::kSend, Shape::kStream},
    {"write_lat", "RDMA_Write Latency Test", Operation::kWrite, Shape::kLatency},
    {"write_bw", "RDMA_Write BW Test", Operation::kWrite, Shape::kStream},
    {"read_lat", "RDMA_Read Latency Test", Operation::kRead, Shape::kLatency},
    {"read_bw", "RDMA_Read BW Test", Operation::kRead, Shape::kStream},
    {"write_imm_lat", "RDMA_Write_with_imm Latency Test", Operation::kWriteImmediate,
     Shape::kLatency},
    {"write_imm_bw", "RDMA_Write_with_imm BW Test", Operation::kWriteImmediate, Shape::kStream},
    {"fetch_add_lat", "Atomic FETCH_AND_ADD Latency Test", Operation::kFetchAndAdd,
     Shape::kLatency},
    {"fetch_add_bw", "Atomic FETCH_AND_ADD BW Test", Operation::kFetchAndAdd, Shape::kStream},
    {"cmp_swap_lat", "Atomic CMP_AND_SWAP Latency Test", Operation::kCompareAndSwap,
     Shape::kLatency},
    {"cmp_swap_bw", "Atomic CMP_AND_SWAP BW Test", Operation::kCompareAndSwap, Shape::kStream},
    {"msg_lat", "Message Layer Latency Test", Operation::kMessage, Shape::kLatency},
    {"msg_read_lat", "Message Layer (by RDMA_Read) Latency Test", Operation::kMessageByRead,
     Shape::kLatency},
};

}  // namespace

std::vector<std::string> PerfTestNames() {
  std::vector<std::string> names;
  for (const auto& test : kTests) names.emplace_back(test.name);
  return names;
}

std::optional<PerfTest> FindPerfTest(std::string_view name) {
  const auto* at = std::find_if(std::begin(kTests), std::end(kTests),
                                [&](const PerfTest& test) { return test.name == name; });
  if (at == std::end(kTests)) return std::nullopt;
  return *at;
}

uint32_t DefaultSize(const PerfTest& test) {
  if (IsAtomic(test.operation)) return kAtomicBytes;
  return test.IsLatency() ? 2 : 65536;
}

uint64_t DefaultIterations(const PerfTest& test) { return test.IsLatency() ? 1000 : 5000; }

}  // namespace softdat::tools
