// SPDX-License-Identifier: BSD-3-Clause
// One test between a client and a server.
#include "tools/perf/run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <optional>

#include "tools/bench/interleave.h"
#include "tools/common/address.h"
#include "tools/perf/output.h"
#include "tools/perf/report.h"
#include "tools/traffic/latency_log.h"
#include "tools/traffic/link.h"
#include "tools/traffic/session.h"

namespace softdat::tools {
namespace {

PerfStyle StyleOf(const PerfOptions& options) {
  PerfStyle style;
  style.ia = options.ia;
  style.connections = options.connections;
  style.by_duration = options.duration_s > 0;
  style.gigabits = options.gigabits;
  style.cpu = options.cpu;
  return style;
}

LinkDepths DepthsOf(const PerfOptions& options) {
  LinkDepths depths;
  depths.requests = static_cast<int>(std::max(options.tx_depth, 16u));
  // One more receive, for the control message after the data.
  depths.receives = static_cast<int>(options.rx_depth) + 1;
  return depths;
}

// For streams: the seconds per transfer in the fastest stretch of completions.
double Peak(const std::vector<double>& nanoseconds, uint64_t per_completion) {
  constexpr size_t kLeast = 8;  // completions of a stretch
  const size_t stretch = std::max(kLeast, nanoseconds.size() / 10);
  if (nanoseconds.size() < stretch) return 0;
  double sum = 0;
  double best = 0;
  for (size_t i = 0; i < nanoseconds.size(); ++i) {
    sum += nanoseconds[i];
    if (i >= stretch) sum -= nanoseconds[i - stretch];
    if (i + 1 >= stretch && (best == 0 || sum < best)) best = sum;
  }
  return best / 1e9 / static_cast<double>(stretch * per_completion);
}

Outcome RunOnce(Session* session, const Job& job, LatencyLog* log, PerfResult* result) {
  result->job = job;
  SOFTDAT_TRY(session->Run(job, &result->total, log));
  if (log == nullptr) return {};
  if (job.IsStream()) {
    result->peak_seconds = Peak(log->nanoseconds(), job.signal_every);
    return {};
  }
  Samples halves;
  const double trips = job.IsPingPong() ? 2 : 1;
  for (const double sample : log->nanoseconds()) halves.push_back(sample / 1000 / trips);
  result->latency = Summarize(std::move(halves));
  return {};
}

// Runs jobs of about a second until the time is over.
Outcome RunFor(Session* session, Job job, double seconds, PerfResult* result) {
  JobResult trial;
  job.iterations = std::max<uint64_t>(16, job.window);
  SOFTDAT_TRY(session->Run(job, &trial));
  job.iterations = ScaleIterations(job.iterations, trial.seconds, 0.05);
  uint64_t iterations = 0;
  while (result->total.seconds < seconds) {
    JobResult part;
    SOFTDAT_TRY(session->Run(job, &part));
    iterations += job.iterations;
    result->total.seconds += part.seconds;
    result->total.bytes += part.bytes;
    result->total.client_cpu += part.client_cpu;
    result->total.server_cpu += part.server_cpu;
    const double left = seconds - result->total.seconds;
    if (left <= 0) break;
    job.iterations = ScaleIterations(job.iterations, part.seconds, std::min(1.0, left));
  }
  result->job = job;
  result->job.iterations = iterations;
  return {};
}

// Runs transfers to warm up caches and pools. perftest makes so few iterations that cold ones would
// show.
Outcome WarmUp(Session* session, Job job) {
  JobResult unused;
  job.iterations = std::min<uint64_t>(job.iterations, 100);
  return session->Run(job, &unused);
}

Outcome RunSizes(const PerfOptions& options, Session* session, const PerfStyle& style,
                 std::vector<PerfResult>* results) {
  LatencyLog log;
  Progress progress;
  const auto sizes = options.Sizes();
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (options.duration_s >= 1 || sizes.size() > 1)
      progress.Show(fmt::format("{} bytes, {} of {} sizes", sizes[i], i + 1, sizes.size()));
    const Job job = options.ToJob(sizes[i]);
    PerfResult result;
    if (options.duration_s > 0) {
      SOFTDAT_TRY(RunFor(session, job, options.duration_s, &result));
    } else {
      SOFTDAT_TRY(WarmUp(session, job));
      SOFTDAT_TRY(
          RunOnce(session, job, job.IsStream() && options.no_peak ? nullptr : &log, &result));
    }
    progress.Clear();
    if (!options.json) Print(Row(options.test, style, result));
    results->push_back(result);
  }
  return {};
}

}  // namespace

Outcome RunPerfServer(const PerfOptions& options) {
  Link link;
  SOFTDAT_TRY(link.Open(options.ia, DepthsOf(options), options.connections));
  Session session(&link, static_cast<uint64_t>(link.depths().receives - 1));
  SOFTDAT_TRY(session.Prepare());
  SOFTDAT_TRY(link.Listen(options.conn_qual));
  fmt::print(options.json ? stderr : stdout,
             "waiting for a client on {}, connection qualifier {}\n", options.ia, link.conn_qual());
  std::fflush(stdout);
  SOFTDAT_TRY(link.Accept());
  if (!options.json)
    Print(Rule() + Banner(options.test, StyleOf(options), options.ToJob(0)) + Rule());
  SOFTDAT_TRY(session.Serve({}));
  return link.AwaitDisconnect();
}

Outcome RunPerfClient(const PerfOptions& options) {
  sockaddr_storage address{};
  SOFTDAT_TRY(ResolveHost(options.host, options.ipv6 ? AF_INET6 : AF_UNSPEC, &address));
  Link link;
  SOFTDAT_TRY(link.Open(options.ia, DepthsOf(options), options.connections));
  Session session(&link, static_cast<uint64_t>(link.depths().receives - 1));
  SOFTDAT_TRY(session.Prepare());
  SOFTDAT_TRY(link.Connect(reinterpret_cast<sockaddr*>(&address), options.conn_qual,
                           options.timeout_ms * 1000));
  const PerfStyle style = StyleOf(options);
  if (!options.json) {
    Print(Rule() + Banner(options.test, style, options.ToJob(options.Sizes().front())) +
          fmt::format(" local address : {}\n remote address: {}\n", link.LocalName(),
                      link.RemoteName()) +
          Rule() + Heads(options.test, style));
  }
  std::vector<PerfResult> results;
  SOFTDAT_TRY(RunSizes(options, &session, style, &results));
  if (!options.json) Print(Rule());
  const auto json = PerfJson(options.test, style, results);
  if (options.json) Print(json.dump(2) + "\n");
  if (!options.json_file.empty()) SOFTDAT_TRY(WriteFile(options.json_file, json.dump(2) + "\n"));
  return link.Disconnect();
}

}  // namespace softdat::tools
