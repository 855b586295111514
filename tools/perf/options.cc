// SPDX-License-Identifier: BSD-3-Clause
// The command line of dat_perf.
#include "tools/perf/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <sstream>

#include "tools/common/exit_codes.h"
#include "tools/common/option_values.h"

namespace softdat::tools {
namespace {

constexpr char kSummary[] = R"(Latency, bandwidth, rates and processor time of transfers over uDAPL.

  dat_perf TEST [options]              the server of a test
  dat_perf TEST [options] HOST         its client, which prints the results
  dat_perf compare [options] A B ...   the same work over several adapters and floors, in turn
  dat_perf targets [options]           the table of targets: softnet beside plain sockets
  dat_perf scale [options]             memory of idle end points, and what connections leave)";

constexpr char kFooter[] = R"(
TEST is one of
  send_lat  write_lat  read_lat  write_imm_lat  fetch_add_lat  cmp_swap_lat
  send_bw   write_bw   read_bw   write_imm_bw   fetch_add_bw   cmp_swap_bw
  msg_lat   msg_read_lat
and the options are those of perftest's ib_send_lat, ib_write_bw and so on; both ends are given the
same. Results have perftest's columns: a latency is half of a round trip, but of reads and atomics
the whole of it; MB are 2^20 bytes. --out_json has perftest's names, and the processor time of each
end besides.

msg_lat and msg_read_lat move messages as a message-passing layer does: up to 16 KiB by a copy into a
receive that is posted already; above, both ends register the memory of each message, and its data
go by RDMA writes or by an RDMA read. With -q 2 the message that tells of the data goes over the
second end point.

How completions are awaited:
  --wait poll     dat_evd_dequeue in a loop (the default)
  --wait wait     dat_evd_wait; the same as -e
  --wait cno      dat_cno_wait, then dat_evd_dequeue
  --wait fd       epoll_wait on the descriptor of a CNO, then dat_evd_dequeue
  --wait memory   RDMA writes there and back: a look at memory and at nothing else
A write_lat that polls looks at the last byte and at its EVD in turn; one that waits, or any with
--messages 2, is told by an empty message behind the write.

compare runs every A, B, ... on this host with processes of its own, in short slices and in turn,
and prints the ratios to the first. Each is
  softnet-lo, verbs-eth0, ...          an adapter
  softnet-lo,SOFTDAT_CRC=on            the same with a setting
  softnet-lo@1000                      the same with that many end points, as by -q
  softnet-lo@4threads                  the same with four threads on one IA, end points of their own
  softnet-lo@4ias                      the same with four threads that each open the IA
  raw:tcp-poll   spinning recv         raw:udp      datagrams, spinning
  raw:tcp-epoll  epoll_wait, recv      raw:udp-gso  datagrams cut by the kernel
  raw:tcp-block  sleeping recv         raw:shm      a ring in shared memory, spinning
  raw:tcp-gather a window in a writev  raw:memcpy   two buffers of one process
  raw:tcp-confirm  half a window in a writev, spinning for its answer while the other is under way
  raw:tcp-thread   spinning on memory that a thread, asleep in recv, writes to; latencies only
  raw:tcp-rendezvous  a request and its answer before each message, spinning; latencies only
  raw:tcp-handshake   connections of targets: two small messages there and two back on each
  raw:udp-gso-crc  as udp-gso, and both ends compute a CRC-32
  raw:process-vm   process_vm_readv: the kernel copies from the other process
  raw:verbs      libibverbs; SOFTDAT_BENCH_VERBS_ADDRESS is an address of the device
  rds:softnet-lo RDS sockets over that adapter: send_lat, send_bw, and write_bw and read_bw by
                 cookie; --wait wait sleeps in sendmsg and recvmsg, --wait fd in poll
A ratio is that of the medians; in brackets the middle half of the ratios of all slices.

Numbers mean something on an otherwise idle machine and with optimised code only:
  bazel run --config=opt //tools:dat_perf -- targets

Exit status: 0 measured, whether targets are met or not; 1 something failed, the reasons are on
standard error; 2 the command line; 3 wrong data (with -c).

Examples:
  dat_perf send_lat -d softnet-lo &  dat_perf send_lat -d softnet-lo 127.0.0.1
  dat_perf write_bw -d softnet-eth0 -a --report_gbits server.example
  dat_perf compare --test write_bw -s 4096 -t 64 raw:tcp-gather softnet-lo
  dat_perf compare -e softnet-lo verbs-eth0
  dat_perf compare --test send_bw -s 8192 -t 32 softnet-lo rds:softnet-lo)";

constexpr uint32_t kScaleEndPoints = 1000;

// Letters of perftest that have no meaning for DAT.
struct Refused {
  const char* names;
  const char* why;
};
constexpr Refused kRefused[] = {
    {"-i,--ib-port", "the IA name says the port: -d verbs-mlx5_0-2"},
    {"-m,--mtu", "DAT has no path MTU, the transport finds it"},
    {"-x,--gid-index", "the address that HOST resolves to decides; -6 for IPv6"},
    {"-S,--sl", "DAT knows qualities of service instead, and best effort is used"},
    {"-I,--inline_size", "DAT has no inline data, the back end decides"},
    {"-u,--qp-timeout", "DAT has no time-out of the queue pair"},
    {"-g,--mcg", "DAT has no multicast"},
};

// Options like -F and -R of several commands. They do nothing, so that users need not change their
// habits.
void AddIgnored(CLI::App* app, std::vector<bool>* sink) {
  sink->reserve(2);
  app->add_flag_callback(
         "-F,--CPU-freq", [] {}, "accepted and ignored")
      ->group("");
  app->add_flag_callback(
         "-R,--rdma_cm", [] {}, "accepted: connections are always made so")
      ->group("");
}

void AddRefused(CLI::App* app, std::vector<std::string>* sink) {
  for (const auto& refused : kRefused) {
    const std::string why = refused.why;
    app->add_option(refused.names, *sink)
        ->group("")
        ->transform(CLI::Validator(
            [why](std::string&) { return std::string("not supported: ") + why; }, ""));
  }
}

// Texts that are converted after parsing.
struct Texts {
  std::string test = "send_lat";
  std::string wait;
  bool events = false;
  double slice_ms = 0;
  int slices = 0;
  std::vector<std::string> units;
  std::vector<std::string> refused;
  std::vector<bool> ignored;
};

void AddJson(CLI::App* app, PerfOptions* options) {
  app->add_flag("--out_json", options->json, "results as JSON, on standard output");
  app->add_option("--out_json_file", options->json_file, "results as JSON, into this file");
}

void AddCompletion(CLI::App* app, PerfOptions* options) {
  app->add_option("--completion", options->completion,
                  "what a completed send or write means on softnet: confirmed (in the peer's "
                  "memory, the default) or taken (by TCP); sets SOFTDAT_COMPLETION")
      ->check(CLI::IsMember({"confirmed", "taken"}));
}

void AddWork(CLI::App* app, PerfOptions* options, Texts* texts) {
  app->add_option("-s,--size", options->size, "bytes of a transfer (2; bandwidth: 65536)")
      ->transform(SizeValue(kMaxJobSize));
  app->add_option("-t,--tx-depth", options->tx_depth, "transfers outstanding, of bandwidth tests")
      ->check(CLI::Range(1u, kMaxWindow))
      ->capture_default_str();
  app->add_option("-Q,--cq-mod", options->cq_moderation,
                  "a completion for every so many transfers, of bandwidth tests")
      ->check(CLI::Range(1u, kMaxWindow))
      ->capture_default_str();
  app->add_option("-q,--qp", options->connections,
                  "end points; a latency test uses one of them (msg_lat: two), the others are idle")
      ->check(CLI::Range(1u, kMaxConnections))
      ->capture_default_str();
  app->add_flag("-b,--bidirectional", options->both_ways, "both ways at once, of bandwidth tests");
  app->add_flag("-e,--events", texts->events, "sleep in dat_evd_wait: --wait wait");
  app->add_option("--wait", texts->wait, "poll, wait, cno, fd or memory (poll)")
      ->check(CLI::IsMember({"poll", "wait", "cno", "fd", "memory"}));
  app->add_option("--messages", options->messages,
                  "in a row each way: so many sends of send_lat; 2 of write_lat: a write and a "
                  "message that tells of it (1)")
      ->check(CLI::Range(1u, kMaxMessages));
  AddCompletion(app, options);
  AddJson(app, options);
}

void AddTest(CLI::App* app, PerfOptions* options, Texts* texts) {
  AddWork(app, options, texts);
  app->add_option("HOST", options->host,
                  "name or address of the server; without it: be the server");
  app->add_option("-d,--ib-dev,--ia", options->ia, "interface adapter; dat_info lists them")
      ->capture_default_str();
  app->add_option("-p,--port", options->conn_qual, "connection qualifier; server: 0 takes any")
      ->transform(ConnQualValue())
      ->capture_default_str();
  app->add_option("-n,--iters", options->iterations, "iterations (1000; bandwidth: 5000)");
  app->add_flag("-a,--all", options->all_sizes, "sizes from 2 to 2^23");
  app->add_option("-D,--duration", options->duration_s, "seconds to run, instead of iterations")
      ->check(CLI::Range(0.01, 86400.0));
  app->add_option("-r,--rx-depth", options->rx_depth, "receives to keep posted")
      ->check(CLI::Range(8u, 65536u))
      ->capture_default_str();
  app->add_flag("-c,--check", options->check, "fill the data with a pattern and verify it");
  app->add_flag("--report_gbits", options->gigabits, "bandwidths in Gb/s");
  app->add_flag("--cpu_util", options->cpu,
                "processor time of both ends, in percent of one processor");
  app->add_flag("-N,--noPeak", options->no_peak, "do not look for the peak of the bandwidth");
  app->add_flag("-6,--ipv6", options->ipv6, "resolve HOST to an IPv6 address");
  app->add_option("--timeout", options->timeout_ms, "milliseconds to wait for the connection")
      ->check(CLI::Range(1, 3600000))
      ->capture_default_str();
  AddRefused(app, &texts->refused);
  AddIgnored(app, &texts->ignored);
}

void AddSlices(CLI::App* app, PerfOptions* options, Texts* texts) {
  app->add_option("--slices", texts->slices, "slices of each (41)")->check(CLI::Range(1, 100000));
  app->add_option("--slice-ms", texts->slice_ms, "milliseconds of a slice (50)")
      ->check(CLI::Range(1.0, 60000.0));
  app->add_flag("--quick", options->quick, "5 slices");
}

void AddCompare(CLI::App* app, PerfOptions* options, Texts* texts) {
  AddWork(app, options, texts);
  app->add_option("UNIT", texts->units, "adapters and floors; the first is what the ratios are to")
      ->required();
  app->add_option("--test", texts->test, "what is compared (send_lat)")
      ->check(CLI::IsMember(PerfTestNames()));
  app->add_option("--cpus", options->cpus,
                  "CPUs of client and server: 0,1; 0,0; any. The first two without it");
  app->add_option("--busy", options->busy_cpu, "a CPU that another process keeps busy meanwhile");
  AddSlices(app, options, texts);
}

void AddScale(CLI::App* app, PerfOptions* options) {
  app->add_option("-d,--ia", options->ia, "interface adapter on this host")->capture_default_str();
  app->add_option("-q,--qp", options->connections, "idle end points (1000)")
      ->check(CLI::Range(1u, kMaxConnections - 1));
  app->add_option("-n,--iters", options->iterations, "connections one after the other (10000)")
      ->check(CLI::Range(uint64_t{1}, uint64_t{1} << 32));
  AddJson(app, options);
}

void AddTargets(CLI::App* app, PerfOptions* options, Texts* texts) {
  app->add_option("-d,--ia", options->ia, "interface adapter on this host")->capture_default_str();
  app->add_option("--only", options->only, "the rows with TEXT in their names");
  AddCompletion(app, options);
  AddJson(app, options);
  AddSlices(app, options, texts);
}

// Problems that the parser of the command line cannot find by itself.
std::string Inconsistent(const PerfOptions& options) {
  if (options.command == PerfCommand::kTargets || options.command == PerfCommand::kScale) return "";
  if (options.all_sizes && (options.size || IsAtomic(options.test.operation)))
    return "-a chooses the sizes itself";
  if (options.duration_s > 0 && options.iterations) return "-D and -n exclude each other";
  if (options.command == PerfCommand::kTest) {
    if (!options.IsServer() && options.conn_qual == 0)
      return "-p 0 (any free connection qualifier) is for a server";
    if (options.IsServer() && options.ipv6)
      return "-6 is for a client; a server is reached by all addresses of its IA";
    if (options.json && !options.json_file.empty())
      return "--out_json and --out_json_file exclude each other";
  }
  for (const uint32_t size : options.Sizes()) {
    if (std::string problem = JobProblem(options.ToJob(size)); !problem.empty()) return problem;
  }
  return "";
}

void Interpret(const Texts& texts, PerfOptions* options) {
  if (options->command == PerfCommand::kCompare) options->test = *FindPerfTest(texts.test);
  if (texts.events) options->wait = WaitMode::kWait;
  if (!texts.wait.empty()) {
    if (texts.events && texts.wait != "wait")
      throw CLI::ValidationError("-e and --wait " + texts.wait + " exclude each other");
    options->wait = *FindWaitMode(texts.wait);
  }
  if (options->quick) options->slices.slices = 5;
  if (texts.slices > 0) options->slices.slices = texts.slices;
  if (texts.slice_ms > 0) options->slices.seconds = texts.slice_ms / 1000;
  for (const auto& text : texts.units) {
    std::string problem;
    auto unit = ParseUnitSpec(text, &problem);
    if (!unit) throw CLI::ValidationError(problem);
    options->units.push_back(std::move(*unit));
  }
  if (std::string problem = Inconsistent(*options); !problem.empty())
    throw CLI::ValidationError(problem);
}

}  // namespace

Job PerfOptions::ToJob(uint32_t size_of_one) const {
  Job job;
  job.operation = test.operation;
  job.shape = test.shape;
  job.both_ways = both_ways;
  job.check = check;
  job.wait = wait;
  job.server_decides_wait = false;
  job.size = size_of_one;
  job.messages = messages;
  if (test.shape == Shape::kStream) {
    job.window = tx_depth;
    job.signal_every = std::min(cq_moderation, tx_depth);
  }
  job.iterations = iterations.value_or(DefaultIterations(test));
  return job;
}

std::vector<uint32_t> PerfOptions::Sizes() const {
  if (!all_sizes) return {size.value_or(DefaultSize(test))};
  std::vector<uint32_t> sizes;
  for (int power = 1; power <= 23; ++power) sizes.push_back(1u << power);
  return sizes;
}

std::optional<PerfOptions> ParsePerfOptions(const std::vector<std::string>& arguments,
                                            int* exit_status, std::string* output) {
  PerfOptions options;
  Texts texts;
  CLI::App app(kSummary, "dat_perf");
  app.footer(kFooter);
  app.require_subcommand(1);
  app.failure_message([](const CLI::App*, const CLI::Error& error) {
    return fmt::format("{}\nTry dat_perf --help.\n", error.what());
  });
  AddCompare(app.add_subcommand("compare", "the same work over several adapters and floors"),
             &options, &texts);
  AddTargets(app.add_subcommand("targets", "the table of targets"), &options, &texts);
  AddScale(app.add_subcommand("scale", "memory of idle end points, and what connections leave"),
           &options);
  // All tests have the same options, so one of them stands for all in the help.
  for (const auto& name : PerfTestNames()) {
    CLI::App* test = app.add_subcommand(name, std::string(FindPerfTest(name)->title));
    AddTest(test, &options, &texts);
  }
  try {
    auto reversed = arguments;
    std::reverse(reversed.begin(), reversed.end());
    app.parse(reversed);
    const std::string chosen = app.get_subcommands().front()->get_name();
    if (chosen == "compare") {
      options.command = PerfCommand::kCompare;
    } else if (chosen == "targets") {
      options.command = PerfCommand::kTargets;
    } else if (chosen == "scale") {
      options.command = PerfCommand::kScale;
      if (app.get_subcommand("scale")->count("-q") == 0) options.connections = kScaleEndPoints;
    } else {
      options.test = *FindPerfTest(chosen);
    }
    Interpret(texts, &options);
  } catch (const CLI::ParseError& error) {
    std::ostringstream out;
    std::ostringstream err;
    *exit_status = app.exit(error, out, err) == 0 ? kExitOk : kExitUsage;
    *output = *exit_status == kExitOk ? out.str() : "dat_perf: " + err.str();
    return std::nullopt;
  }
  return options;
}

}  // namespace softdat::tools
