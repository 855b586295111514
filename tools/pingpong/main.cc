// SPDX-License-Identifier: BSD-3-Clause
// dat_pingpong: a server and a client that bounce data over uDAPL. See --help.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "tools/common/address.h"
#include "tools/common/build_paths.h"
#include "tools/pingpong/demo.h"
#include "tools/pingpong/options.h"
#include "tools/pingpong/report.h"
#include "tools/traffic/link.h"
#include "tools/traffic/session.h"

namespace softdat::tools {
namespace {

void Print(const std::string& text) {
  fmt::print("{}", text);
  std::fflush(stdout);
}

std::string AddressLines(const Link& link) {
  return fmt::format("  local address:  {}\n  remote address: {}\n", link.LocalName(),
                     link.RemoteName());
}

LinkDepths Depths(const PingpongOptions& options) {
  LinkDepths depths;
  // One more receive, for the control message after the data.
  depths.receives = static_cast<int>(options.receive_depth) + 1;
  return depths;
}

std::string Result(const PingpongOptions& options, const Job& job, const JobResult& result) {
  if (options.json) return ResultJson(options.ia, options.IsServer(), job, result) + "\n";
  return ResultLines(job, result);
}

Outcome RunServer(const PingpongOptions& options) {
  Link link;
  SOFTDAT_TRY(link.Open(options.ia, Depths(options)));
  Session session(&link, options.receive_depth);
  SOFTDAT_TRY(session.Prepare());
  SOFTDAT_TRY(link.Listen(options.conn_qual));
  const std::string ready = ReadyLine(options.ia, link.conn_qual()) + "\n";
  if (options.json) {
    fmt::print(stderr, "{}", ready);
  } else {
    Print(ready);
  }
  SOFTDAT_TRY(link.Accept());
  if (!options.json) Print(AddressLines(link));

  Session::Hooks hooks;
  hooks.wait = options.events ? WaitMode::kWait : WaitMode::kPoll;
  hooks.examine = [&options](const Job& job) -> std::string {
    if (options.size && *options.size != job.size)
      return fmt::format("it was started with -s {}, not {}", *options.size, job.size);
    if (options.iterations && *options.iterations != job.iterations)
      return fmt::format("it was started with -n {}, not {}", *options.iterations, job.iterations);
    if (options.operation && *options.operation != job.operation)
      return fmt::format("it was started with --op {}, not {}", OperationName(*options.operation),
                         OperationName(job.operation));
    return "";
  };
  hooks.report = [&options](const Job& job, const JobResult& result) {
    Print(Result(options, job, result));
  };
  const Outcome served = session.Serve(hooks);
  if (!served.ok()) return Outcome::Fail(served.exit_code(), served.message());
  return link.AwaitDisconnect();
}

Outcome RunClient(const PingpongOptions& options) {
  sockaddr_storage address{};
  SOFTDAT_TRY(ResolveHost(options.host, options.ipv6 ? AF_INET6 : AF_UNSPEC, &address));
  Link link;
  SOFTDAT_TRY(link.Open(options.ia, Depths(options)));
  Session session(&link, options.receive_depth);
  SOFTDAT_TRY(session.Prepare());
  SOFTDAT_TRY(link.Connect(reinterpret_cast<sockaddr*>(&address), options.conn_qual,
                           options.timeout_ms * 1000));
  if (options.IsDemo()) {
    if (options.demo_transfer) {
      Print(fmt::format("  {:<13} {} to {}\n", "connected", link.LocalName(), link.RemoteName()));
      SOFTDAT_TRY(DemoTransfers(&session));
    }
    if (options.demo_table) SOFTDAT_TRY(DemoTable(&session));
  } else {
    if (!options.json) Print(AddressLines(link));
    const Job job = options.ToJob();
    JobResult result;
    SOFTDAT_TRY(session.Run(job, &result));
    Print(Result(options, job, result));
  }
  SOFTDAT_TRY(link.Disconnect());
  if (options.demo_transfer) Print(fmt::format("  {:<13} by the client\n", "disconnected"));
  return {};
}

int Main(const std::vector<std::string>& arguments) {
  int exit_status = kExitOk;
  std::string output;
  const auto options = ParsePingpongOptions(arguments, &exit_status, &output);
  if (!options) {
    fmt::print(exit_status == kExitOk ? stdout : stderr, "{}", output);
    return exit_status;
  }
  UseProvidersOfThisBuild();
  const Outcome outcome = options->IsServer() ? RunServer(*options) : RunClient(*options);
  if (!outcome.ok()) fmt::print(stderr, "dat_pingpong: {}\n", outcome.message());
  return outcome.exit_code();
}

}  // namespace
}  // namespace softdat::tools

int main(int argc, char** argv) {
  return softdat::tools::Main(std::vector<std::string>(argv + std::min(argc, 1), argv + argc));
}
