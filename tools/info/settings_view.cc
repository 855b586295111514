// SPDX-License-Identifier: BSD-3-Clause
// dat_info -e.
#include "tools/info/settings_view.h"

#include <dat2/softdat.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include "dat/base/settings.h"
#include "dat/registry/discovery.h"
#include "tools/common/text.h"
#include "tools/info/environment.h"
#include "tools/info/quiet_stdout.h"

namespace softdat::tools {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kColumns[] = {"name",    "kind",  "unit",   "range",
                                    "default", "value", "source", "help"};
constexpr size_t kWidth = 96;

// The settings table of a provider, or "" if it has none.
std::string SettingsOf(const std::string& library) {
  const QuietStdout quiet;
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return "";
  const auto settings = reinterpret_cast<softdat_provider_settings_func>(
      dlsym(handle, SOFTDAT_PROVIDER_SETTINGS_STR));
  std::string text = settings != nullptr ? settings() : "";
  dlclose(handle);
  return text;
}

std::string Shown(const Json& row, const char* column) {
  const std::string text = row.at(column).get<std::string>();
  return text.empty() ? "\"\"" : text;
}

}  // namespace

bool AddSettings(const std::string& library, const std::string& json,
                 std::vector<SettingsTable>* tables) {
  Json rows = Json::parse(json, nullptr, false);
  if (!rows.is_array()) return false;
  for (const auto& row : rows) {
    for (const char* column : kColumns) {
      if (!row.is_object() || !row.contains(column) || !row[column].is_string()) return false;
    }
  }
  for (auto& table : *tables) {
    if (table.rows != rows) continue;
    table.libraries.push_back(library);
    return true;
  }
  tables->push_back({{library}, std::move(rows)});
  return true;
}

std::vector<SettingsTable> CollectSettings() {
  std::vector<SettingsTable> tables;
  // libdat2 is built from the same table and sees the same environment as this program.
  AddSettings(LibraryFile(), SettingsJson(GetParsedSettings().rows), &tables);
  for (const auto& library : registry::FindProviderLibraries(ProviderFoldersOfProcess()))
    AddSettings(library, SettingsOf(library), &tables);
  return tables;
}

std::string RenderSettings(const SettingsTable& table) {
  std::string text = "Read by:\n";
  for (const auto& library : table.libraries) text += "  " + library + "\n";
  for (const auto& row : table.rows) {
    std::string range = row.at("range").get<std::string>();
    const std::string unit = row.at("unit").get<std::string>();
    if (range.empty()) range = row.at("kind").get<std::string>();
    text += fmt::format("\n{} = {}   [{}; default {}; {}{}{}]\n", row.at("name").get<std::string>(),
                        Shown(row, "value"), row.at("source").get<std::string>(),
                        Shown(row, "default"), range, unit.empty() ? "" : " ", unit);
    for (const auto& line : WrapText(row.at("help").get<std::string>(), kWidth))
      text += "    " + line + "\n";
  }
  return text;
}

}  // namespace softdat::tools
