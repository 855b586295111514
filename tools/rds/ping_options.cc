// SPDX-License-Identifier: BSD-3-Clause
#include "tools/rds/ping_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <sstream>

#include "dat/base/setting_values.h"
#include "tools/common/exit_codes.h"

namespace softdat::tools {
namespace {

constexpr char kFooter[] = R"END(
A ping is an empty message to port 0 of HOST. No program answers it there: RDS itself sends an empty
message back. Without any RDS at HOST there is no answer and no error, because RDS keeps messages
until the host can be reached.

For each answer there is a line
     3: 116 usec
with " (ADDRESS)" behind it if the answer has come from another address than HOST, and " DUP!" if the
ping was answered before. An answer does not say which ping it answers. So pings leave from eight
sockets in turn, and an answer that takes longer than eight intervals is counted for a later ping.
If a ping cannot be sent, the line says " ERROR: REASON", and the next one is tried. The last line
sums up.

With --json each answer, and each ping that could not be sent, is an object on a line of its own:
  {"ping":3,"usec":116.2,"from":"10.0.0.2","duplicate":false}
  {"ping":4,"error":"ENOBUFS"}
and the last line is the sum:
  {"destination":..,"source":..,"sent":..,"answered":..,"duplicates":..,"errors":..,
   "usec":{"min":..,"average":..,"max":..}}

TIME is in seconds (1, 0.25), or has a unit: 200msec, 500usec.

Signals: SIGINT and SIGTERM end it, and the last line is still printed.

Environment: SOFTDAT_RDS_IA says which interface adapter has an address (docs/rds.md).

Exit status: 0 there was an answer; 1 there was none, or the sockets could not be made, the reasons
are on standard error; 2 the command line.

Examples:
  rds-softping 10.0.0.2                        once in a second, until Ctrl-C
  rds-softping -c 5 -i 100msec -I 10.0.0.1 10.0.0.2
  SOFTDAT_RDS_IA=softnet-udp- rds-softping -c 1 --json 10.0.0.2
  rds-softping --kernel -c 5 10.0.0.2          the same over the kernel's RDS)END";

CLI::Validator IntervalValue() {
  return CLI::Validator(
      [](std::string& text) -> std::string {
        const auto us = ParseInterval(text);
        if (!us) return fmt::format("'{}' is no time (1, 0.25, 200msec, 500usec)", Printable(text));
        text = std::to_string(*us);
        return "";
      },
      "TIME");
}

}  // namespace

int64_t PingOptions::LingerUs() const {
  return linger_us.value_or(std::max<int64_t>(interval_us, 1000000));
}

std::optional<int64_t> ParseInterval(std::string_view text) {
  static constexpr std::pair<std::string_view, double> kUnits[] = {
      {"msec", 1e3}, {"usec", 1}, {"ms", 1e3}, {"us", 1}, {"s", 1e6}};
  double factor = 1e6;
  for (const auto& [unit, us] : kUnits) {
    if (!text.ends_with(unit)) continue;
    text.remove_suffix(unit.size());
    factor = us;
    break;
  }
  if (text.empty() || text.find_first_not_of("0123456789.") != std::string_view::npos)
    return std::nullopt;
  const std::string number(text);
  char* end = nullptr;
  const double value = std::strtod(number.c_str(), &end) * factor;
  // A day is the most.
  if (*end != '\0' || !(value >= 0) || value > 86400e6) return std::nullopt;
  return std::llround(value);
}

std::optional<PingOptions> ParsePingOptions(const std::vector<std::string>& arguments,
                                            int* exit_status, std::string* output) {
  PingOptions options;
  CLI::App app(
      "Tests whether a host is reachable over RDS, and how long a message takes there and back.",
      "rds-softping");
  app.footer(kFooter);
  app.failure_message([](const CLI::App*, const CLI::Error& error) {
    return fmt::format("{}\nTry rds-softping --help.\n", error.what());
  });
  app.add_option("HOST", options.host, "name or address of the host")->required();
  app.add_option("-c,--count", options.count, "end after so many pings (go on until a signal)")
      ->check(CLI::Range(uint64_t{1}, uint64_t{1} << 40));
  app.add_option("-i,--interval", options.interval_us, "time between two pings (1 second)")
      ->transform(IntervalValue());
  app.add_option("-I,--source", options.source,
                 "own address (that from which HOST is reached by IP)");
  app.add_option("-Q,--tos", options.tos, "type of service")->check(CLI::Range(0, 255));
  app.add_option("-w,--wait", options.linger_us,
                 "time to wait for answers after the last ping (INTERVAL, at least 1 second)")
      ->transform(IntervalValue());
  app.add_flag("-6,--ipv6", options.ipv6, "resolve HOST to an IPv6 address");
  app.add_flag("--json", options.json, "lines of JSON on standard output");
  app.add_flag("--kernel", options.kernel, "use the kernel's RDS instead of librds.so");
  try {
    auto reversed = arguments;
    std::reverse(reversed.begin(), reversed.end());
    app.parse(reversed);
  } catch (const CLI::ParseError& error) {
    std::ostringstream out;
    std::ostringstream err;
    *exit_status = app.exit(error, out, err) == 0 ? kExitOk : kExitUsage;
    *output = *exit_status == kExitOk ? out.str() : "rds-softping: " + err.str();
    return std::nullopt;
  }
  return options;
}

}  // namespace softdat::tools
