// SPDX-License-Identifier: BSD-3-Clause
// dat_info --check.
#include "tools/info/conf_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "dat/registry/dat_conf.h"
#include "dat/registry/provider_library.h"
#include "tools/info/quiet_stdout.h"

namespace softdat::tools {
namespace {

using registry::ConfEntry;

constexpr int kLibraryField = static_cast<int>(registry::ConfField::kLibrary);

ConfFinding CheckEntry(std::string_view path, const ConfEntry& entry, const LibraryProbe& probe) {
  ConfFinding finding;
  finding.line = entry.line;
  finding.ia_name = entry.ia_name;
  const std::string where = fmt::format("{}:{}", path, entry.line);
  if (!entry.IsRegistered()) {
    finding.kind = ConfFinding::Kind::kNote;
    finding.text =
        fmt::format("{}: {} is not seen by programs: {}", where, entry.ia_name,
                    entry.is_user_api ? "it is marked nondefault" : "it is for the kernel API");
    return finding;
  }
  const std::string problem = probe(entry.library);
  if (problem.empty()) {
    finding.text = fmt::format("{}: {} is served by {}", where, entry.ia_name, entry.library);
  } else {
    finding.kind = ConfFinding::Kind::kProblem;
    finding.text = fmt::format("{}: field {} ({}): {}", where, kLibraryField,
                               registry::ConfFieldName(registry::ConfField::kLibrary), problem);
  }
  return finding;
}

}  // namespace

std::string ProbeLibrary(const std::string& library) {
  const QuietStdout quiet;
  auto opened = registry::ProviderLibrary::Open(library);
  if (!opened.ok()) return std::string(opened.status().reason());
  const auto& exports = opened.value().exports();
  std::string missing;
  if (exports.init == nullptr) missing = DAT_PROVIDER_INIT_FUNC_STR;
  if (exports.fini == nullptr)
    missing += (missing.empty() ? "" : " and ") + std::string(DAT_PROVIDER_FINI_FUNC_STR);
  if (missing.empty()) return "";
  return fmt::format("{} is no DAT provider: it does not export {}", library, missing);
}

std::vector<ConfFinding> CheckConf(std::string_view path, std::string_view text,
                                   const LibraryProbe& probe) {
  const registry::ParsedConf parsed = registry::ParseDatConf(text);
  std::vector<ConfFinding> findings;
  for (const auto& diagnostic : parsed.diagnostics) {
    findings.push_back({ConfFinding::Kind::kProblem, diagnostic.line, "",
                        registry::DescribeDiagnostic(path, diagnostic)});
  }
  for (const auto& entry : parsed.entries) findings.push_back(CheckEntry(path, entry, probe));
  std::stable_sort(findings.begin(), findings.end(),
                   [](const auto& a, const auto& b) { return a.line < b.line; });
  return findings;
}

}  // namespace softdat::tools
