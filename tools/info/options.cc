// SPDX-License-Identifier: BSD-3-Clause
// Command line of dat_info.
#include "tools/info/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <sstream>

#include "tools/common/exit_codes.h"

namespace softdat::tools {
namespace {

constexpr char kFooter[] = R"(
Without an option: a table of all IAs, those first that can be opened. Each is opened and closed again
to find its state, so an IA on hardware is really asked.
  NAME      of the IA, what dat_ia_open takes
  STATE     ok, or unavailable
  ADDRESS   of the IA, where peers reach it
  PROVIDER  library that serves it
  FROM      dat.conf line, "found" for a provider beside libdat2 or in SOFTDAT_PROVIDER_PATH,
            "registered" for one that announced itself
  REASON    what stands in the way; --why NAME prints the whole chain

Exit status: 0 all is well; 1 the IA that was asked for is unavailable, --check found something, or
with -e a variable has a value that is not understood; 2 the command line. The table of all IAs and
-l exit with 0 whatever the states are.

Environment: DAT_OVERRIDE names the dat.conf to use; SOFTDAT_PROVIDER_PATH more folders with
providers; dat_info -e lists all.

Examples:
  dat_info                         what is there
  dat_info -v softnet-lo           all attributes of one IA
  dat_info --why softnet-eth7      why an IA cannot be opened
  dat_info --check /etc/dat.conf   what is wrong with a dat.conf
  dat_info -e --json               all settings, for programs)";

}  // namespace

std::optional<InfoOptions> ParseInfoOptions(const std::vector<std::string>& arguments,
                                            int* exit_status, std::string* output) {
  InfoOptions options;
  bool names = false;
  bool settings = false;
  std::string why;
  CLI::App app("Lists interface adapters (IAs) of uDAPL, what they can do, and why not.",
               "dat_info");
  app.footer(kFooter);
  auto* name = app.add_option("NAME", options.ia, "this IA only");
  auto* list = app.add_flag("-l,--list", names, "names only, one a line; nothing is opened");
  auto* verbose = app.add_flag("-v,--verbose", options.verbose,
                               "all attributes of IA and provider, named ones included");
  auto* reason = app.add_option("--why", why, "open this IA and print the chain of reasons")
                     ->type_name("NAME");
  auto* check = app.add_option("--check", options.file,
                               "check a dat.conf: each line, and whether its library loads")
                    ->type_name("FILE");
  auto* environment =
      app.add_flag("-e,--env", settings,
                   "all settings of libdat2 and of each provider: default, value, source, help");
  app.add_flag("--json", options.json, "any of these as JSON");
  for (auto* mode : {list, reason, check, environment}) {
    mode->excludes(name)->excludes(verbose);
    for (auto* other : {list, reason, check, environment}) {
      if (mode != other) mode->excludes(other);
    }
  }
  try {
    auto reversed = arguments;
    std::reverse(reversed.begin(), reversed.end());
    app.parse(reversed);
    for (const auto* option : {name, reason, check}) {
      if (option->count() > 0 && option->results().back().empty())
        throw CLI::ValidationError(option->get_name(), "is empty");
    }
  } catch (const CLI::ParseError& error) {
    std::ostringstream out;
    std::ostringstream err;
    *exit_status = app.exit(error, out, err) == 0 ? kExitOk : kExitUsage;
    *output = *exit_status == kExitOk ? out.str() : "dat_info: " + err.str();
    return std::nullopt;
  }
  if (names) options.mode = InfoMode::kNames;
  if (settings) options.mode = InfoMode::kSettings;
  if (check->count() > 0) options.mode = InfoMode::kCheck;
  if (reason->count() > 0) {
    options.mode = InfoMode::kWhy;
    options.ia = why;
  }
  return options;
}

}  // namespace softdat::tools
