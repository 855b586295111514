// SPDX-License-Identifier: BSD-3-Clause
#include "tools/rds/stress_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace softdat::tools {
namespace {

using nlohmann::ordered_json;

ordered_json IntervalJson(const StressInterval& interval) {
  const StressRates rates = RatesOf(interval.counts, interval.seconds);
  ordered_json json = {{"seconds", interval.seconds},
                       {"requests_sent_per_second", rates.requests_sent},
                       {"requests_received_per_second", rates.requests_received},
                       {"kib_per_second", rates.kib},
                       {"rdma_in_kib_per_second", rates.rdma_in_kib},
                       {"rdma_out_kib_per_second", rates.rdma_out_kib},
                       {"usec_per_send", rates.send_usec},
                       {"rtt_usec", rates.rtt_usec}};
  if (interval.cpu >= 0) json["cpu_percent"] = interval.cpu;
  return json;
}

constexpr std::pair<StressCount, const char*> kNames[] = {
    {kRequestsSent, "requests_sent"},   {kRequestsReceived, "requests_received"},
    {kAcksReceived, "acks_received"},   {kBytesSent, "bytes_sent"},
    {kBytesReceived, "bytes_received"}, {kRdmaBytesIn, "rdma_bytes_in"},
    {kRdmaBytesOut, "rdma_bytes_out"},  {kQueueFull, "queue_full"},
    {kCongestionMet, "congestion_met"}, {kCongestionUnannounced, "congestion_unannounced"},
    {kKeysAgain, "keys_again"},         {kRequestsGivenUp, "requests_given_up"},
};

}  // namespace

std::string StressHeading() {
  return "tsks   tx/s   rx/s  tx+rx K/s    mbi K/s    mbo K/s tx us/c   rtt us cpu %\n";
}

std::string StressRow(uint32_t tasks, const StressInterval& interval) {
  const StressRates rates = RatesOf(interval.counts, interval.seconds);
  return fmt::format("{:4} {:6.0f} {:6.0f} {:10.2f} {:10.2f} {:10.2f} {:7.2f} {:8.2f} {:5.2f}\n",
                     tasks, rates.requests_sent, rates.requests_received, rates.kib,
                     rates.rdma_in_kib, rates.rdma_out_kib, rates.send_usec, rates.rtt_usec,
                     interval.cpu);
}

std::string StressAverage(uint32_t tasks, const StressInterval& total, const StressCounts& counts) {
  std::string text = std::string(45, '-') + "\n" + StressRow(tasks, total);
  text.insert(text.size() - 1, "  (average)");
  if (counts[kCongestionMet] > 0)
    text += fmt::format("a port was congested: {} times, {} of them ended without being told\n",
                        counts[kCongestionMet], counts[kCongestionUnannounced]);
  if (counts[kQueueFull] > 0)
    text += fmt::format("a send buffer was full: {} times\n", counts[kQueueFull]);
  if (counts[kKeysAgain] > 0)
    text += fmt::format("an R_Key was given out again: {} times\n", counts[kKeysAgain]);
  if (counts[kRequestsGivenUp] > 0)
    text += fmt::format("requests given up: {}\n", counts[kRequestsGivenUp]);
  return text;
}

std::string StressHistogram(const StressCounts& counts) {
  uint64_t most = 0;
  for (const uint64_t count : counts.rtts) most = std::max(most, count);
  if (most == 0) return "no round trips\n";
  constexpr uint64_t kWidth = 50;
  std::string text = "     usec from      requests\n";
  for (size_t i = 0; i < kRttBuckets; ++i) {
    const uint64_t count = counts.rtts[i];
    if (count == 0) continue;
    // Every bucket that is not empty shows.
    const uint64_t bar = (count * kWidth + most - 1) / most;
    text += fmt::format("{:14.3f} {:13}  {}\n", static_cast<double>(RttOfBucket(i)) / 1e3, count,
                        std::string(bar, '#'));
  }
  return text;
}

std::string StressParameters(const StressJob& job) {
  std::string text = "agreed on:\n";
  const ordered_json json = JobToJson(job);
  for (const auto& [name, value] : json.items())
    text += fmt::format("  {} {}\n", name, value.dump());
  return text;
}

std::string StressJson(const StressResult& result) {
  ordered_json json = {{"role", result.active ? "active" : "passive"},
                       {"rds", result.kernel ? "kernel" : "library"},
                       {"address", result.address},
                       {"peer", result.peer},
                       {"job", JobToJson(result.job)}};
  json["average"] = IntervalJson(result.total);
  const StressCounts& counts = result.final_counts;
  json["rtt_usec"] = {{"percentile_50", counts.RttUsec(0.5)},
                      {"percentile_99", counts.RttUsec(0.99)},
                      {"percentile_99.9", counts.RttUsec(0.999)}};
  ordered_json& all = json["counts"];
  for (const auto& [count, name] : kNames) all[name] = counts[count];
  json["intervals"] = ordered_json::array();
  for (const StressInterval& interval : result.intervals)
    json["intervals"].push_back(IntervalJson(interval));
  return json.dump() + "\n";
}

}  // namespace softdat::tools
