// SPDX-License-Identifier: BSD-3-Clause
#include "tools/rds/stress_counts.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <optional>
#include <sstream>
#include <vector>

namespace softdat::tools {
namespace {

struct CpuTimes {
  uint64_t all = 0;
  uint64_t idle = 0;
};

// The line "cpu  USER NICE SYSTEM IDLE IOWAIT IRQ SOFTIRQ STEAL ...".
std::optional<CpuTimes> CpuTimesIn(const std::string& stat) {
  std::istringstream line(stat);
  std::string name;
  if (!(line >> name) || name != "cpu") return std::nullopt;
  CpuTimes times;
  uint64_t value = 0;
  for (int column = 0; column < 8 && line >> value; ++column) {
    times.all += value;
    if (column == 3 || column == 4) times.idle += value;
  }
  return times.all == 0 ? std::nullopt : std::optional(times);
}

}  // namespace

size_t RttBucket(int64_t ns) {
  const auto value = static_cast<uint64_t>(std::max<int64_t>(ns, 0));
  if (value < 4) return value;
  // The highest bit and the two below it.
  const auto high = static_cast<size_t>(std::bit_width(value) - 1);
  return std::min((high - 1) * 4 + (value >> (high - 2) & 3), kRttBuckets - 1);
}

int64_t RttOfBucket(size_t bucket) {
  if (bucket < 4) return static_cast<int64_t>(bucket);
  return static_cast<int64_t>((4 + bucket % 4) << (bucket / 4 - 1));
}

StressCounts& StressCounts::operator+=(const StressCounts& other) {
  for (size_t i = 0; i < kStressCounts; ++i) counts[i] += other.counts[i];
  for (size_t i = 0; i < kRttBuckets; ++i) rtts[i] += other.rtts[i];
  return *this;
}

StressCounts StressCounts::operator-(const StressCounts& earlier) const {
  StressCounts difference;
  for (size_t i = 0; i < kStressCounts; ++i) difference.counts[i] = counts[i] - earlier.counts[i];
  for (size_t i = 0; i < kRttBuckets; ++i) difference.rtts[i] = rtts[i] - earlier.rtts[i];
  return difference;
}

double StressCounts::RttUsec(double part) const {
  const uint64_t all = std::accumulate(rtts.begin(), rtts.end(), uint64_t{0});
  if (all == 0) return 0;
  const auto wanted = static_cast<uint64_t>(part * static_cast<double>(all - 1));
  uint64_t below = 0;
  for (size_t i = 0; i < kRttBuckets; ++i) {
    if (below + rtts[i] > wanted) {
      // In the middle of the bucket, for want of knowing better.
      return static_cast<double>(RttOfBucket(i) + RttOfBucket(i + 1)) / 2e3;
    }
    below += rtts[i];
  }
  return 0;
}

StressCounts SharedCounts::Read() const {
  StressCounts read;
  for (size_t i = 0; i < kStressCounts; ++i)
    read.counts[i] = counts[i].load(std::memory_order_relaxed);
  for (size_t i = 0; i < kRttBuckets; ++i) read.rtts[i] = rtts[i].load(std::memory_order_relaxed);
  return read;
}

StressRates RatesOf(const StressCounts& counts, double seconds) {
  StressRates rates;
  if (seconds > 0) {
    const auto rate = [&](uint64_t amount) { return static_cast<double>(amount) / seconds; };
    rates.requests_sent = rate(counts[kRequestsSent]);
    rates.requests_received = rate(counts[kRequestsReceived]);
    rates.kib = rate(counts[kBytesSent] + counts[kBytesReceived]) / 1024;
    rates.rdma_in_kib = rate(counts[kRdmaBytesIn]) / 1024;
    rates.rdma_out_kib = rate(counts[kRdmaBytesOut]) / 1024;
  }
  const auto mean = [&](StressCount sum, StressCount number) {
    return counts[number] == 0
               ? 0
               : static_cast<double>(counts[sum]) / 1e3 / static_cast<double>(counts[number]);
  };
  rates.send_usec = mean(kSendNs, kSendCalls);
  rates.rtt_usec = mean(kRttNs, kAcksReceived);
  return rates;
}

double CpuPercent(const std::string& before, const std::string& after) {
  const auto first = CpuTimesIn(before);
  const auto second = CpuTimesIn(after);
  if (!first || !second || second->all <= first->all || second->idle < first->idle) return -1;
  const auto all = static_cast<double>(second->all - first->all);
  return 100 * (1 - static_cast<double>(second->idle - first->idle) / all);
}

}  // namespace softdat::tools
