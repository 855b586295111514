// SPDX-License-Identifier: BSD-3-Clause
// dat_info: which IAs there are, what they can do, and why one cannot be opened. See --help.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "dat/base/log.h"
#include "dat/base/settings.h"
#include "dat/registry/conf_file.h"
#include "tools/common/build_paths.h"
#include "tools/common/dat_calls.h"
#include "tools/info/conf_check.h"
#include "tools/info/environment.h"
#include "tools/info/ia_list.h"
#include "tools/info/options.h"
#include "tools/info/render.h"
#include "tools/info/settings_view.h"

namespace softdat::tools {
namespace {

using Json = nlohmann::ordered_json;

// Text from files and libraries may contain any bytes.
void Print(const Json& json) {
  fmt::print("{}\n", json.dump(2, ' ', false, Json::error_handler_t::replace));
}

ExitCode Fail(const Outcome& outcome) {
  fmt::print(stderr, "dat_info: {}\n", outcome.message());
  return outcome.exit_code();
}

// Checks that DAT_OVERRIDE, if it is set, names a file that can be read. Otherwise no other source
// of names takes its place.
Outcome ConfOfProcess() {
  const Status problem = registry::LoadConf(ConfSourceOfProcess()).problem;
  return problem.ok() ? Outcome() : Outcome::Fail(std::string(problem.reason()));
}

// Returns the entry of a name. A name that is in no list may still be opened, or give a reason why
// not.
ProbedIa ProbeByName(const std::vector<IaEntry>& entries, const std::string& name) {
  ProbedIa ia;
  ia.entry.from = "nowhere";
  // What follows a slash is the provider's, of those that libdat2 finds by itself.
  const std::string listed = name.substr(0, name.find('/'));
  for (const auto& entry : entries) {
    if (entry.name == name || (entry.name == listed && entry.from == "found")) {
      ia.entry = entry;
      break;
    }
  }
  ia.entry.name = name;
  ia.state = ProbeIa(name, false);
  return ia;
}

ExitCode ShowNames(const InfoOptions& options, const std::vector<IaEntry>& entries) {
  Json names = Json::array();
  for (const auto& entry : entries) {
    if (options.json) {
      names.push_back(entry.name);
    } else {
      fmt::print("{}\n", entry.name);
    }
  }
  if (options.json) Print(names);
  const Outcome conf = ConfOfProcess();
  return conf.ok() ? kExitOk : Fail(conf);
}

ExitCode ShowTable(const InfoOptions& options, const std::vector<IaEntry>& entries) {
  std::vector<ProbedIa> ias;
  if (!options.ia.empty()) {
    ias.push_back(ProbeByName(entries, options.ia));
  } else {
    for (const auto& entry : entries) ias.push_back({entry, ProbeIa(entry.name, true)});
  }
  if (options.json) {
    Json list = Json::array();
    for (const auto& ia : ias) list.push_back(IaJson(ia, options.verbose));
    Print(options.ia.empty() ? list : list[0]);
  } else if (options.verbose) {
    for (size_t i = 0; i < ias.size(); ++i)
      fmt::print("{}{}", i > 0 ? "\n" : "", RenderVerbose(ias[i]));
  } else if (const Outcome conf = ConfOfProcess(); ias.empty() && !conf.ok()) {
    fmt::print("no IA: {}\n", conf.message());
  } else if (ias.empty()) {
    fmt::print(
        "no IA: no dat.conf names one, and no provider is beside {} or in SOFTDAT_PROVIDER_PATH\n",
        LibraryFile());
  } else {
    fmt::print("{}", RenderTable(ias));
  }
  if (options.ia.empty()) return ConfOfProcess().ok() ? kExitOk : kExitFailed;
  return ias[0].state.ok ? kExitOk : kExitFailed;
}

ExitCode ShowWhy(const InfoOptions& options, const std::vector<IaEntry>& entries) {
  const ProbedIa ia = ProbeByName(entries, options.ia);
  if (options.json) {
    Print(IaJson(ia, false));
  } else {
    fmt::print("{}", RenderWhy(ia));
  }
  return ia.state.ok ? kExitOk : kExitFailed;
}

ExitCode ShowCheck(const InfoOptions& options) {
  auto text = registry::ReadConfFile(options.file);
  if (!text.ok()) return Fail(Outcome::Fail(std::string(text.status().reason())));
  const auto findings = CheckConf(options.file, text.value(), ProbeLibrary);
  constexpr const char* kWords[] = {"ok", "note", "problem"};
  size_t counts[3] = {};
  Json list = Json::array();
  for (const auto& finding : findings) {
    const auto kind = static_cast<size_t>(finding.kind);
    ++counts[kind];
    if (options.json) {
      list.push_back({{"kind", kWords[kind]},
                      {"line", finding.line},
                      {"ia", finding.ia_name},
                      {"text", finding.text}});
    } else {
      fmt::print("{:<8} {}\n", kWords[kind], finding.text);
    }
  }
  if (options.json) {
    Print({{"file", options.file}, {"problems", counts[2]}, {"findings", list}});
  } else {
    fmt::print("{}: {} good, {} not seen by programs, {} with a problem\n", options.file, counts[0],
               counts[1], counts[2]);
  }
  return counts[2] == 0 ? kExitOk : kExitFailed;
}

ExitCode ShowSettings(const InfoOptions& options) {
  const auto tables = CollectSettings();
  std::vector<std::string> problems = GetParsedSettings().problems;
  if (std::string log = LogProblem(); !log.empty()) problems.push_back(std::move(log));
  if (const Outcome conf = ConfOfProcess(); !conf.ok()) problems.push_back(conf.message());
  if (options.json) {
    Json list = Json::array();
    for (const auto& table : tables)
      list.push_back({{"libraries", table.libraries}, {"settings", table.rows}});
    Print({{"version", client::LibraryVersion()}, {"tables", list}, {"problems", problems}});
  } else {
    for (size_t i = 0; i < tables.size(); ++i)
      fmt::print("{}{}", i > 0 ? "\n" : "", RenderSettings(tables[i]));
    for (const auto& problem : problems) fmt::print("\nproblem: {}\n", problem);
  }
  return problems.empty() ? kExitOk : kExitFailed;
}

int Main(const std::vector<std::string>& arguments) {
  int exit_status = kExitOk;
  std::string output;
  const auto options = ParseInfoOptions(arguments, &exit_status, &output);
  if (!options) {
    fmt::print(exit_status == kExitOk ? stdout : stderr, "{}", output);
    return exit_status;
  }
  UseProvidersOfThisBuild();
  if (options->mode == InfoMode::kCheck) return ShowCheck(*options);
  if (options->mode == InfoMode::kSettings) return ShowSettings(*options);
  std::vector<IaEntry> entries;
  if (const Outcome listed = ListIas(&entries); !listed.ok()) return Fail(listed);
  if (options->mode == InfoMode::kNames) return ShowNames(*options, entries);
  if (options->mode == InfoMode::kWhy) return ShowWhy(*options, entries);
  return ShowTable(*options, entries);
}

}  // namespace
}  // namespace softdat::tools

int main(int argc, char** argv) {
  return softdat::tools::Main(std::vector<std::string>(argv + std::min(argc, 1), argv + argc));
}
