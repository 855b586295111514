// SPDX-License-Identifier: BSD-3-Clause
// What the tasks of rds-softstress count, and the rates that follow. Pure.
#ifndef SOFTDAT_TOOLS_RDS_STRESS_COUNTS_H_
#define SOFTDAT_TOOLS_RDS_STRESS_COUNTS_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace softdat::tools {

enum StressCount : size_t {
  kRequestsSent,
  kRequestsReceived,
  kAcksReceived,
  kBytesSent,  // of messages
  kBytesReceived,
  kRdmaBytesIn,  // into memory of this end, whoever has carried them
  kRdmaBytesOut,
  kSendCalls,  // successful ones
  kSendNs,     // in them
  kRttNs,      // of all acks
  kQueueFull,  // sends refused with EAGAIN
  kCongestionMet,
  kCongestionUnannounced,  // ended without RDS_CMSG_CONG_UPDATE
  kKeysAgain,
  kRequestsGivenUp,
  kStressCounts
};

// Round trips by their time: four buckets for each power of two, in nanoseconds.
constexpr size_t kRttBuckets = 4 * 40;
size_t RttBucket(int64_t ns);
// The least time of the bucket, in nanoseconds.
int64_t RttOfBucket(size_t bucket);

struct StressCounts {
  std::array<uint64_t, kStressCounts> counts{};
  std::array<uint64_t, kRttBuckets> rtts{};

  uint64_t operator[](StressCount count) const { return counts[count]; }
  StressCounts& operator+=(const StressCounts& other);
  StressCounts operator-(const StressCounts& earlier) const;
  // The time below which `part` of the round trips lie, in microseconds. 0 without any.
  double RttUsec(double part) const;
};

// In memory that the task and its parent share. The task alone writes.
struct SharedCounts {
  std::array<std::atomic<uint64_t>, kStressCounts> counts;
  std::array<std::atomic<uint64_t>, kRttBuckets> rtts;

  void Add(StressCount count, uint64_t amount) { Increase(&counts[count], amount); }
  void AddRtt(int64_t ns) {
    Add(kAcksReceived, 1);
    Add(kRttNs, static_cast<uint64_t>(ns));
    Increase(&rtts[RttBucket(ns)], 1);
  }
  StressCounts Read() const;

 private:
  // There is one writer, so that no locked instruction is needed.
  static void Increase(std::atomic<uint64_t>* value, uint64_t amount) {
    value->store(value->load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
  }
};

// The columns of rds-stress.
struct StressRates {
  double requests_sent = 0;      // a second
  double requests_received = 0;  // a second
  double kib = 0;                // of messages, both ways, a second
  double rdma_in_kib = 0;        // a second
  double rdma_out_kib = 0;
  double send_usec = 0;  // a call
  double rtt_usec = 0;
};
StressRates RatesOf(const StressCounts& counts, double seconds);

// The part of the time of all processors that was not idle between two contents of /proc/stat, in
// percent. -1 if they do not tell.
double CpuPercent(const std::string& before, const std::string& after);

}  // namespace softdat::tools

#endif  // SOFTDAT_TOOLS_RDS_STRESS_COUNTS_H_
