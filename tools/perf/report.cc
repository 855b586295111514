// SPDX-License-Identifier: BSD-3-Clause
// Results in the columns of perftest.
#include "tools/perf/report.h"

#include <fmt/format.h>

namespace softdat::tools {
namespace {

using nlohmann::ordered_json;

// The "MB" of perftest.
constexpr double kMegabyte = 1 << 20;

// The transfers of an iteration that count for bandwidths: one in each direction.
double TransfersPerIteration(const Job& job) { return job.both_ways ? 2 : 1; }

double MessagesPerSecond(const PerfResult& result) {
  return result.total.seconds > 0 ? static_cast<double>(result.job.iterations) *
                                        TransfersPerIteration(result.job) / result.total.seconds
                                  : 0;
}

// The bandwidth in the unit of the heads.
double Bandwidth(const PerfStyle& style, const Job& job, double messages_per_second) {
  const double bytes = messages_per_second * job.size;
  return style.gigabits ? bytes * 8 / 1e9 : bytes / kMegabyte;
}

double PeakBandwidth(const PerfStyle& style, const PerfResult& result) {
  if (result.peak_seconds <= 0) return 0;
  return Bandwidth(style, result.job, TransfersPerIteration(result.job) / result.peak_seconds);
}

// A message there and one back count as two.
double AverageLatency(const PerfResult& result) {
  return result.total.seconds * 1e6 / static_cast<double>(result.job.iterations) /
         (result.job.IsPingPong() ? 2 : 1);
}

// The CPU utilisation of both ends, in percent of one processor.
double CpuUtilisation(const PerfResult& result) {
  const double used = result.total.client_cpu + result.total.server_cpu;
  return result.total.seconds > 0 ? used / result.total.seconds * 100 : 0;
}

std::string LatencyRow(const PerfStyle& style, const PerfResult& result) {
  const Distribution& at = result.latency;
  if (style.by_duration) {
    const double each = AverageLatency(result);
    return fmt::format(" {:<7}       {}            {:<7.2f}        {:<7.2f}", result.job.size,
                       result.job.iterations, each, each > 0 ? 1e6 / each : 0);
  }
  return fmt::format(
      " {:<7} {}          {:<7.2f}        {:<7.2f}      {:<7.2f}  \t       {:<7.2f}     "
      "\t{:<7.2f}\t\t{:<7.2f} \t\t{:<7.2f}",
      result.job.size, result.job.iterations, at.least, at.most, at.typical, at.average,
      at.deviation, at.percent_99, at.percent_99_9);
}

std::string BandwidthRow(const PerfStyle& style, const PerfResult& result) {
  const double rate = MessagesPerSecond(result);
  const double average = Bandwidth(style, result.job, rate);
  return fmt::format(" {:<7}    {:<10}       {:<7.2f}            {:<7.2f}\t\t   {:<7.6f}",
                     result.job.size, result.job.iterations, PeakBandwidth(style, result), average,
                     rate / 1e6);
}

ordered_json LatencyJson(const PerfStyle& style, const PerfResult& result) {
  const Distribution& at = result.latency;
  const double each = AverageLatency(result);
  if (style.by_duration) return {{"t_avg", each}, {"tps_average", each > 0 ? 1e6 / each : 0}};
  return {{"t_min", at.least},
          {"t_max", at.most},
          {"t_typical", at.typical},
          {"t_avg", at.average},
          {"t_stdev", at.deviation},
          {"percentile_99", at.percent_99},
          {"percentile_99.9", at.percent_99_9}};
}

ordered_json ResultJson(const PerfTest& test, const PerfStyle& style, const PerfResult& result) {
  ordered_json json = {{"MsgSize", result.job.size}, {"n_iterations", result.job.iterations}};
  if (test.IsLatency()) {
    json.update(LatencyJson(style, result));
  } else {
    const double rate = MessagesPerSecond(result);
    json["BW_peak"] = PeakBandwidth(style, result);
    json["BW_average"] = Bandwidth(style, result.job, rate);
    json["MsgRate"] = rate / 1e6;
  }
  const auto count = static_cast<double>(result.job.iterations);
  json["seconds"] = result.total.seconds;
  json["client_cpu_us_per_iteration"] = result.total.client_cpu * 1e6 / count;
  json["server_cpu_us_per_iteration"] = result.total.server_cpu * 1e6 / count;
  json["CPU_Util"] = CpuUtilisation(result);
  return json;
}

const char* OnOff(bool on) { return on ? "ON" : "OFF"; }

}  // namespace

std::string Rule() { return std::string(87, '-') + "\n"; }

std::string Banner(const PerfTest& test, const PerfStyle& style, const Job& job) {
  std::string text = fmt::format(
      "{:>{}}\n", fmt::format("{}{}", job.both_ways ? "Bidirectional " : "", test.title),
      44 + test.title.size() / 2);
  text += fmt::format(" Device          : {}\n", style.ia);
  text += fmt::format(" Number of qps   : {}\t\tTransport type : DAT\n", style.connections);
  text += fmt::format(" Connection type : RC\t\tUsing SRQ      : OFF\n");
  if (!test.IsLatency())
    text +=
        fmt::format(" TX depth        : {}\n CQ Moderation   : {}\n", job.window, job.signal_every);
  text += fmt::format(" Waiting         : {}\n Data check      : {}\n", WaitModeName(job.wait),
                      OnOff(job.check));
  return text;
}

std::string Heads(const PerfTest& test, const PerfStyle& style) {
  std::string text;
  if (test.IsLatency()) {
    text =
        style.by_duration
            ? " #bytes        #iterations       t_avg[usec]    tps average"
            : " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]  "
              "  t_stdev[usec]   99% percentile[usec]   99.9% percentile[usec] ";
  } else {
    const char* unit = style.gigabits ? "Gb/sec" : "MB/sec";
    text = fmt::format(" #bytes     #iterations    BW peak[{}]    BW average[{}]   MsgRate[Mpps]",
                       unit, unit);
  }
  return text + (style.cpu ? "    CPU_Util[%]\n" : "\n");
}

std::string Row(const PerfTest& test, const PerfStyle& style, const PerfResult& result) {
  std::string row = test.IsLatency() ? LatencyRow(style, result) : BandwidthRow(style, result);
  if (style.cpu) row += fmt::format("\t    {:<3.2f}", CpuUtilisation(result));
  return row + "\n";
}

ordered_json PerfJson(const PerfTest& test, const PerfStyle& style,
                      const std::vector<PerfResult>& results) {
  const Job job = results.empty() ? Job() : results.front().job;
  ordered_json info = {{"test", test.name},
                       {"Device", style.ia},
                       {"Number_of_qps", style.connections},
                       {"Transport_type", "DAT"},
                       {"Connection_type", "RC"},
                       {"Using_SRQ", "OFF"},
                       {"TX_depth", job.window},
                       {"CQ_Moderation", job.signal_every},
                       {"Bidirectional", OnOff(job.both_ways)},
                       {"Waiting", WaitModeName(job.wait)},
                       {"BW_unit", style.gigabits ? "Gb/sec" : "MB/sec"}};
  auto list = ordered_json::array();
  for (const auto& result : results) list.push_back(ResultJson(test, style, result));
  // One size is an object, as in perftest. A sweep is a list of objects.
  ordered_json json = {{"test_info", std::move(info)}};
  json["results"] = list.size() == 1 ? list.front() : list;
  return json;
}

}  // namespace softdat::tools
