// SPDX-License-Identifier: BSD-3-Clause
// The floor over libibverbs on a device. SOFTDAT_BENCH_VERBS_ADDRESS is an address of the device.
// This is a program for hosts that have one, such as the guest of tests/vm.
#include <algorithm>

#include "tools/raw/link_fixture.h"

namespace softdat::tools {
namespace {

TEST_F(RawLinkTest, EachOperationThatTheDeviceHas) {
  for (const Operation operation :
       {Operation::kSend, Operation::kWrite, Operation::kRead, Operation::kWriteImmediate,
        Operation::kFetchAndAdd, Operation::kCompareAndSwap}) {
    for (const uint32_t size : {1u, 8u, 64u, 257u, 70001u, 1u << 20}) {
      if (IsAtomic(operation) && size != kAtomicBytes) continue;
      for (const uint32_t window : {0u, 1u, 5u, 64u}) {
        RawJob job = RawJobOf(RawKind::kVerbs, window == 0 ? Shape::kLatency : Shape::kStream, size,
                              std::max(1u, window), size < 65536 ? 201 : 11);
        job.operation = operation;
        JobResult result;
        const std::string why = client_->Run(job, &result).message();
        // Operations that iWARP does not have are refused, and no others.
        if (why.find(fmt::format("has no {}", OperationName(operation))) != std::string::npos)
          continue;
        ASSERT_EQ(why, "") << Text(job);
      }
    }
  }
  Finish();
  EXPECT_EQ(server_message_, "");
}

}  // namespace
}  // namespace softdat::tools
