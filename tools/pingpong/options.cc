// SPDX-License-Identifier: BSD-3-Clause
// Command line of dat_pingpong.
#include "tools/pingpong/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <sstream>

#include "dat/base/setting_values.h"
#include "tools/common/exit_codes.h"
#include "tools/common/option_values.h"

namespace softdat::tools {
namespace {

constexpr char kFooter[] = R"(
Without HOST it is the server of one client; with HOST the client of the server there. The client's
-s -n -c --op hold for both ends; a server that was given -s, -n or --op refuses a client that asks
for something else. -e and -r are each end's own, but for "--op write", where the client's -e counts.

Results are those of the ibv_*_pingpong programs: an iteration is there and back (a read: one read).
  --op send   a message there, a message back
  --op write  an RDMA write there, one back; the receiver looks at the last byte, or with -e waits
              for an empty message that follows the write
  --op read   the client reads the server's memory, whose program takes no part

Options of the ibv programs that mean nothing here (-i -m -l -g -o -O -P -t -j -N) are refused with
the reason.

Exit status: 0 done; 1 the connection or a DAT call failed, the reasons are on standard error;
2 the command line; 3 wrong data (with -c, or of --demo).

Examples:
  dat_pingpong -d softnet-lo &  dat_pingpong -d softnet-lo 127.0.0.1
  dat_pingpong -d softnet-eth0 --op write -s 64 -n 100000 server.example
  dat_pingpong --demo 127.0.0.1      step by step, then a table of latencies and bandwidths)";

// Letters of the ibv programs that have no meaning for DAT.
struct Refused {
  const char* names;
  bool takes_value;
  const char* why;
};
constexpr Refused kRefused[] = {
    {"-i,--ib-port", true, "the IA name says the port: -d verbs-mlx5_0-2"},
    {"-m,--mtu", true, "DAT has no path MTU, the transport finds it"},
    {"-l,--sl", true, "DAT knows qualities of service instead, and best effort is used"},
    {"-g,--gid-idx", true, "the address that HOST resolves to decides; -6 for IPv6"},
    {"-o,--odp", false, "DAT has no on-demand paging"},
    {"-O,--iodp", false, "DAT has no on-demand paging"},
    {"-P,--prefetch", false, "DAT has no on-demand paging"},
    {"-t,--ts", false, "DAT completions carry no time stamp"},
    {"-j,--dm", false, "DAT has no device memory"},
    {"-N,--new_send", false, "DAT has one way to post"},
};

CLI::Validator Refuse(const char* why) {
  return CLI::Validator([why](std::string&) { return std::string("not supported: ") + why; }, "");
}

void AddRefused(CLI::App* app, std::vector<std::string>* sink) {
  for (const auto& refused : kRefused) {
    if (refused.takes_value) {
      app->add_option(refused.names, *sink)->group("")->transform(Refuse(refused.why));
    } else {
      app->add_flag_callback(refused.names,
                             [refused] {
                               throw CLI::ValidationError(
                                   refused.names, std::string("not supported: ") + refused.why);
                             })
          ->group("");
    }
  }
}

// Problems that the parser of the command line cannot find by itself.
std::string Inconsistent(const PingpongOptions& options) {
  if (!options.IsServer() && options.conn_qual == 0)
    return "-p 0 (any free connection qualifier) is for a server";
  if (options.IsServer() && options.ipv6)
    return "-6 is for a client; a server is reached by all addresses of its IA";
  if (options.IsServer() && options.IsDemo())
    return "--demo is for a client; any server without -s, -n and --op will do for it";
  if (options.IsDemo() && (options.size || options.iterations || options.operation || options.json))
    return "--demo chooses sizes, iterations and operations itself, and prints text only";
  if (!options.IsServer()) return JobProblem(options.ToJob());
  return "";
}

}  // namespace

Job PingpongOptions::ToJob() const {
  Job job;
  job.operation = operation.value_or(Operation::kSend);
  job.check = check;
  job.wait = events ? WaitMode::kWait : WaitMode::kPoll;
  job.size = size.value_or(4096);
  job.iterations = iterations.value_or(1000);
  return job;
}

std::optional<PingpongOptions> ParsePingpongOptions(const std::vector<std::string>& arguments,
                                                    int* exit_status, std::string* output) {
  PingpongOptions options;
  std::string operation;
  std::string demo;
  std::vector<std::string> refused;
  CLI::App app("Ping-pong between two processes over uDAPL: latency and data check.",
               "dat_pingpong");
  app.footer(kFooter);
  app.add_option("HOST", options.host, "name or address of the server; without it: be the server");
  app.add_option(
         "-p,--port", options.conn_qual,
         "connection qualifier to listen on or connect to; server: 0 takes any that is free")
      ->transform(ConnQualValue())
      ->capture_default_str();
  app.add_option("-d,--ia,--ib-dev", options.ia, "interface adapter; dat_info lists them")
      ->capture_default_str();
  app.add_option("-s,--size", options.size, "bytes of a transfer (4096)")
      ->transform(SizeValue(kMaxJobSize));
  app.add_option("-n,--iters", options.iterations, "iterations (1000)");
  app.add_option("-r,--rx-depth", options.receive_depth, "receives to keep posted")
      ->check(CLI::Range(uint64_t{1}, uint64_t{1} << 20))
      ->capture_default_str();
  app.add_flag("-e,--events", options.events, "sleep in dat_evd_wait (default: poll)");
  app.add_flag("-c,--check,--chk", options.check, "fill the data with a pattern and verify it");
  app.add_option("--op", operation, "send, write or read (send)")
      ->check(CLI::IsMember({"send", "write", "read"}));
  app.add_flag("-6,--ipv6", options.ipv6, "resolve HOST to an IPv6 address");
  app.add_option("--timeout", options.timeout_ms, "milliseconds to wait for the connection")
      ->check(CLI::Range(1, 3600000))
      ->capture_default_str();
  app.add_flag("--json", options.json, "the result as one JSON object on standard output");
  app.add_flag("--demo{all}", demo,
               "send, write and read with data checked, then a table; --demo=transfer, "
               "--demo=table: one of them");
  AddRefused(&app, &refused);
  try {
    auto reversed = arguments;
    std::reverse(reversed.begin(), reversed.end());
    app.parse(reversed);
    if (!demo.empty() && demo != "all" && demo != "transfer" && demo != "table")
      throw CLI::ValidationError("--demo", "'" + Printable(demo) + "' is none of transfer, table");
    if (!operation.empty()) options.operation = FindOperation(operation);
    options.demo_transfer = demo == "all" || demo == "transfer";
    options.demo_table = demo == "all" || demo == "table";
    const std::string problem = Inconsistent(options);
    if (!problem.empty()) throw CLI::ValidationError(problem);
  } catch (const CLI::ParseError& error) {
    std::ostringstream out;
    std::ostringstream err;
    *exit_status = app.exit(error, out, err) == 0 ? kExitOk : kExitUsage;
    *output = *exit_status == kExitOk ? out.str() : "dat_pingpong: " + err.str();
    return std::nullopt;
  }
  return options;
}

}  // namespace softdat::tools
