// SPDX-License-Identifier: BSD-3-Clause
// dat_info -e: the settings of libdat2 and of the providers.
#ifndef SOFTDAT_TOOLS_INFO_SETTINGS_VIEW_H_
#define SOFTDAT_TOOLS_INFO_SETTINGS_VIEW_H_

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace softdat::tools {

// One table of settings, and the libraries that have exactly this table.
struct SettingsTable {
  std::vector<std::string> libraries;
  nlohmann::ordered_json rows;  // array of {name, kind, unit, range, default, value, source, help}
};

// Adds a library's table, given as JSON text. Libraries with equal tables share one. Returns false
// if the text is not such a table.
bool AddSettings(const std::string& library, const std::string& json,
                 std::vector<SettingsTable>* tables);

// The table of libdat2, then those of the providers that it would find. A provider of another make
// has none.
std::vector<SettingsTable> CollectSettings();

// One table for people: name, value, origin, default and range, with the help below.
std::string RenderSettings(const SettingsTable& table);

}  // namespace softdat::tools

#endif  // SOFTDAT_TOOLS_INFO_SETTINGS_VIEW_H_
