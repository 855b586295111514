// SPDX-License-Identifier: BSD-3-Clause
#include "tools/rds/info_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <sstream>

#include "dat/base/setting_values.h"
#include "tools/common/exit_codes.h"
#include "tools/rds/info_lists.h"
#include "tools/rds/ping_options.h"

namespace softdat::tools {
namespace {

constexpr char kFooter[] = R"END(
The lists are those of getsockopt, RDS_INFO_COUNTERS and its like, in the columns of rds-info.
Without a letter there are all that this RDS has.

librds.so tells of the processes of the same user, or of all of them for root, in this network
namespace. A process that is stopped is left out. One that has ended has taken what it has counted
with it. The RDMA connections of librds.so are those of an interface adapter of DAT.

Sequence numbers are those of the next message. The flags of a connection: s it is sending, c it is
being made, C it is up. Buffers are in octets, half of what SO_SNDBUF and SO_RCVBUF say.

With --watch the lists come again and again, each time behind a line with the time, and counters
show how much they have changed.

With --json there is one object on one line, or one for each look:
  {"counters":{"conn_reset":0,..},
   "sockets":[{"bound_address":"10.0.0.1","bound_port":4000,..}],
   "connections":[..],"received":[..],"unsent":[..],"unacknowledged":[..],"rdma_connections":[..]}

Signals: SIGINT and SIGTERM end --watch.

Exit status: 0 everything that was asked for is shown; 1 this RDS has no such list, or it could not
be asked, the reasons are on standard error; 2 the command line.

Examples:
  rds-softinfo                          everything
  rds-softinfo -kn                      sockets and connections
  rds-softinfo -c --watch 1             how counters change
  rds-softinfo --json | jq .sockets
  rds-softinfo --kernel -n              the same of the kernel's RDS)END";

CLI::Validator IntervalValue() {
  return CLI::Validator(
      [](std::string& text) -> std::string {
        const auto us = ParseInterval(text);
        if (!us || *us == 0) {
          return fmt::format("'{}' is no time above 0 (1, 0.25, 200msec)", Printable(text));
        }
        text = std::to_string(*us);
        return "";
      },
      "TIME");
}

}  // namespace

std::optional<RdsInfoOptions> ParseRdsInfoOptions(const std::vector<std::string>& arguments,
                                                  int* exit_status, std::string* output) {
  RdsInfoOptions options;
  CLI::App app("Shows the sockets, connections, messages and counters of RDS.", "rds-softinfo");
  app.footer(kFooter);
  app.failure_message([](const CLI::App*, const CLI::Error& error) {
    return fmt::format("{}\nTry rds-softinfo --help.\n", error.what());
  });
  std::map<char, bool> wanted;
  for (const InfoListKind& kind : InfoListKinds()) {
    app.add_flag(fmt::format("-{}", kind.letter), wanted[kind.letter], kind.about);
  }
  app.add_flag("-v,--verbose", options.verbose, "more columns of connections");
  app.add_flag("-6,--ipv6", options.ipv6,
               "with IPv6 addresses; IPv4 ones are shown as ::ffff:ADDRESS");
  CLI::Option* const watch =
      app.add_option("--watch", options.watch_us, "look again after each TIME, in seconds")
          ->transform(IntervalValue());
  app.add_option("--count", options.count, "end after so many looks (go on until a signal)")
      ->check(CLI::Range(uint64_t{1}, uint64_t{1} << 40))
      ->needs(watch);
  app.add_flag("--json", options.json, "JSON on standard output");
  app.add_flag("--kernel", options.kernel, "of the kernel's RDS instead of librds.so");
  try {
    auto reversed = arguments;
    std::reverse(reversed.begin(), reversed.end());
    app.parse(reversed);
  } catch (const CLI::ParseError& error) {
    std::ostringstream out;
    std::ostringstream err;
    *exit_status = app.exit(error, out, err) == 0 ? kExitOk : kExitUsage;
    *output = *exit_status == kExitOk ? out.str() : "rds-softinfo: " + err.str();
    return std::nullopt;
  }
  for (const InfoListKind& kind : InfoListKinds()) {
    if (wanted[kind.letter]) options.letters += kind.letter;
  }
  return options;
}

}  // namespace softdat::tools
