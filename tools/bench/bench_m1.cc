// SPDX-License-Identifier: BSD-3-Clause
// bench_m1: softnet against plain TCP, interleaved, as ratios. See --help.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "tools/bench/compare.h"
#include "tools/bench/peer.h"
#include "tools/bench/raw_link.h"
#include "tools/bench/unit.h"
#include "tools/common/address.h"
#include "tools/common/build_paths.h"
#include "tools/common/cpu.h"
#include "tools/traffic/link.h"
#include "tools/traffic/session.h"

namespace softdat::tools {
namespace {

constexpr char kFooter[] = R"(
Each row runs the loop without our stack (the floor) and the loop over DAT in turn, in short slices,
one client and one server process each, and compares the medians. In brackets: the smallest and the
largest slice. A latency is a whole round trip.

  polling            both sides spin: recv without blocking; dat_evd_dequeue
  dat_evd_wait       both sides wait: epoll_wait, recv; dat_evd_wait
  1 MiB RDMA write   a window of 8; a stream of 1 MiB writes that the server reads into one buffer

Numbers mean something on an otherwise idle machine only. For optimised code:
  bazel run --config=opt //tools/bench:m1

Exit status: 0 measured, whether the targets are met or not; 1 something failed; 2 the command line.)";

struct Options {
  std::string ia = "softnet-lo";
  std::string serve;  // this is a server process: "raw" or "dat"
  SlicePlan plan;
  std::string only;  // part of a row's name; empty: all of them
  bool quick = false;
  bool json = false;
};

constexpr uint64_t kReceiveDepth = 64;
constexpr uint32_t kConnectTimeoutUs = 10'000'000;
constexpr uint32_t kSmall = 64;
constexpr uint32_t kLarge = 1 << 20;
constexpr uint32_t kWindow = 8;

Outcome ServeRaw() {
  RawLink link;
  uint16_t port = 0;
  SOFTDAT_TRY(link.Listen(&port));
  AnnouncePort(port);
  SOFTDAT_TRY(link.Accept());
  return link.Serve();
}

Outcome ServeDat(const Options& options) {
  Link link;
  SOFTDAT_TRY(link.Open(options.ia, {}));
  Session session(&link, kReceiveDepth);
  SOFTDAT_TRY(session.Prepare());
  SOFTDAT_TRY(link.Listen(0));
  AnnouncePort(link.conn_qual());
  SOFTDAT_TRY(link.Accept());
  SOFTDAT_TRY(session.Serve({}));
  return link.AwaitDisconnect();
}

// A row before it is measured. The CPUs are indices into the list of those that we may use.
struct Plan {
  const char* what;
  Measure measure;
  double target;
  RawKind floor;
  JobKind dat;
  WaitMode wait;
  uint32_t size;
  size_t server_cpu;
};

constexpr Plan kPlans[] = {
    {"64 B send ping-pong, polling", Measure::kLatency, 1.20, RawKind::kPoll,
     JobKind::kSendPingPong, WaitMode::kPoll, kSmall, 1},
    {"64 B send ping-pong, dat_evd_wait", Measure::kLatency, 0.80, RawKind::kEpoll,
     JobKind::kSendPingPong, WaitMode::kWait, kSmall, 1},
    {"the same, both ends on one CPU", Measure::kLatency, 1.20, RawKind::kEpoll,
     JobKind::kSendPingPong, WaitMode::kWait, kSmall, 0},
    {"1 MiB RDMA write", Measure::kBandwidth, 0.85, RawKind::kStream, JobKind::kWriteStream,
     WaitMode::kWait, kLarge, 1},
};

Outcome MeasureRow(const Options& options, const Plan& plan, const std::vector<int>& cpus,
                   RawLink* raw_link, Session* session, Comparison* row) {
  if (plan.server_cpu >= cpus.size()) {
    row->impossible = "it needs two CPUs";
    return {};
  }
  const auto server_cpu = static_cast<int16_t>(cpus[plan.server_cpu]);
  if (!PinProcess(cpus[0])) return Outcome::Fail(fmt::format("cannot run on CPU {}", cpus[0]));
  RawJob raw_job;
  raw_job.kind = plan.floor;
  raw_job.server_cpu = server_cpu;
  raw_job.size = plan.size;
  Job job;
  job.kind = plan.dat;
  job.wait = plan.wait;
  job.server_decides_wait = false;
  job.server_cpu = server_cpu;
  job.size = plan.size;
  job.window = kWindow;
  RawUnit raw(raw_link, raw_job);
  DatUnit dat(options.ia, session, job);
  row->floor_name = raw.name();
  row->dat_name = dat.name();
  return RunInterleaved(&raw, &dat, options.plan, &row->floor, &row->dat);
}

bool Chosen(const Plan& plan, const std::string& only) {
  return std::string_view(plan.what).find(only) != std::string_view::npos;
}

Outcome RunBenchmark(const Options& options) {
  if (std::none_of(std::begin(kPlans), std::end(kPlans),
                   [&](const Plan& plan) { return Chosen(plan, options.only); }))
    return Outcome::Fail(fmt::format("no row has '{}' in its name", options.only));
  const std::vector<int> cpus = AllowedCpus();
  if (cpus.empty()) return Outcome::Fail("cannot tell which CPUs this process may use");
  Peer raw_peer;
  SOFTDAT_TRY(raw_peer.Start({"--serve=raw"}));
  Peer dat_peer;
  SOFTDAT_TRY(dat_peer.Start({"--serve=dat", "--ia=" + options.ia}));
  RawLink raw_link;
  SOFTDAT_TRY(raw_link.Connect(static_cast<uint16_t>(raw_peer.port())));
  Link link;
  SOFTDAT_TRY(link.Open(options.ia, {}));
  Session session(&link, kReceiveDepth);
  SOFTDAT_TRY(session.Prepare());
  sockaddr_storage address{};
  // The server is on the same adapter.
  const sockaddr* own = link.ia().attributes().ia_address_ptr;
  SOFTDAT_TRY(ResolveHost(FormatAddress(own), AF_UNSPEC, &address));
  SOFTDAT_TRY(
      link.Connect(reinterpret_cast<sockaddr*>(&address), dat_peer.port(), kConnectTimeoutUs));

  std::vector<Comparison> rows;
  for (const auto& plan : kPlans) {
    if (!Chosen(plan, options.only)) continue;
    if (isatty(STDERR_FILENO) != 0) fmt::print(stderr, "measuring: {}\n", plan.what);
    Comparison row;
    row.what = plan.what;
    row.measure = plan.measure;
    row.target = plan.target;
    row.bytes_per_iteration = plan.size;
    SOFTDAT_TRY(MeasureRow(options, plan, cpus, &raw_link, &session, &row));
    rows.push_back(std::move(row));
  }
  if (options.json) {
    const nlohmann::ordered_json json = {{"ia", options.ia},
                                         {"cpus", cpus},
                                         {"slices", options.plan.slices},
                                         {"seconds_per_slice", options.plan.seconds},
#ifdef __OPTIMIZE__
                                         {"optimised", true},
#else
                                         {"optimised", false},
#endif
                                         {"rows", ComparisonsJson(rows)}};
    fmt::print("{}\n", json.dump(2));
  } else {
    fmt::print("{}", RenderComparisons(rows));
  }
  return link.Disconnect();
}

int Main(int argc, char** argv) {
  Options options;
  CLI::App app("Softnet against plain TCP: ratios of latency and bandwidth.", "bench_m1");
  app.footer(kFooter);
  app.add_option("-d,--ia", options.ia, "interface adapter on this host")->capture_default_str();
  app.add_flag("--quick", options.quick, "5 slices instead of 41");
  app.add_option("--only", options.only, "the rows with TEXT in their name (a word of the table)");
  app.add_flag("--json", options.json, "all samples, medians and verdicts as JSON");
  app.add_option("--serve", options.serve, "internal: be the server process")
      ->group("")
      ->check(CLI::IsMember({"raw", "dat"}));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kExitOk : kExitUsage;
  }
  if (options.quick) options.plan.slices = 5;
  UseProvidersOfThisBuild();
  const Outcome outcome = options.serve == "raw"   ? ServeRaw()
                          : options.serve == "dat" ? ServeDat(options)
                                                   : RunBenchmark(options);
  if (!outcome.ok()) fmt::print(stderr, "bench_m1: {}\n", outcome.message());
  return outcome.exit_code();
}

}  // namespace
}  // namespace softdat::tools

int main(int argc, char** argv) { return softdat::tools::Main(argc, argv); }
