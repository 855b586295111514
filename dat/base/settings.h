// SPDX-License-Identifier: BSD-3-Clause
// Settings from the environment. settings_table.inc is the only list of them. This header turns
// each line of it into a typed member, so that reading one costs a load.
#ifndef SOFTDAT_DAT_BASE_SETTINGS_H_
#define SOFTDAT_DAT_BASE_SETTINGS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace softdat {

// One enum class for each CHOICE line: LogLevel, CrcMode, ...
#define BOOL(member, name, def, help)
#define INT(member, name, def, min, max, help)
#define SIZE(member, name, def, min, max, help)
#define DURATION_US(member, name, def, min, max, help)
#define DURATION_MS(member, name, def, min, max, help)
#define STRING(member, name, def, help)
#define CHOICE(member, name, Type, def, words, help, ...) enum class Type : int { __VA_ARGS__ };
#include "dat/base/settings_table.inc"
#undef BOOL
#undef INT
#undef SIZE
#undef DURATION_US
#undef DURATION_MS
#undef STRING
#undef CHOICE

// The values; a default-constructed one holds the defaults of the table.
struct Settings {
#define BOOL(member, name, def, help) bool member = def;
#define INT(member, name, def, min, max, help) int64_t member = def;
#define SIZE(member, name, def, min, max, help) int64_t member = def;
#define DURATION_US(member, name, def, min, max, help) int64_t member = def;
#define DURATION_MS(member, name, def, min, max, help) int64_t member = def;
#define STRING(member, name, def, help) std::string member = def;
#define CHOICE(member, name, Type, def, words, help, ...) Type member = Type::def;
#include "dat/base/settings_table.inc"
#undef BOOL
#undef INT
#undef SIZE
#undef DURATION_US
#undef DURATION_MS
#undef STRING
#undef CHOICE
};

// One line of the table with the value in force, as text, for `dat_info -e` and the log.
struct SettingRow {
  std::string_view name;      // "SOFTDAT_SPIN_US"
  std::string_view kind;      // "bool", "int", "size", "duration", "string" or "enum"
  std::string_view unit;      // "us", "ms", "bytes" or ""
  std::string range;          // "0..1000000", "auto|on|off" or ""
  std::string default_value;  // as one would write it in the environment
  std::string value;          // the value in force, in the same form
  // False when the variable was set to something invalid, too. True when another variable implies
  // the value, too.
  bool from_environment = false;
  std::string_view help;
};

// What an environment says.
struct ParsedSettings {
  Settings values;
  std::vector<SettingRow> rows;  // in the order of the table
  std::vector<std::string>
      problems;  // one sentence for each invalid value or unknown SOFTDAT_ name
  // Those of the problems that are SOFTDAT_ variables of this version with a value that is not
  // understood. No IA is opened then (CheckSettings in log.h), since we do not know what the user
  // wanted.
  std::vector<std::string> refused;
};

// Parses an environment in the form of environ: "NAME=value" strings, the last one nullptr. nullptr
// itself counts as empty. An invalid value is a problem and leaves the default in force. A name
// that starts with SOFTDAT_ and is not in the table is a problem, too. What SOFTDAT_PROFILE implies
// for other settings overrides what they say themselves. Pure: reads and writes nothing else.
ParsedSettings ParseSettings(const char* const* environment);

// The settings of this process: environ as it was at the first call, or the defaults in a set-uid
// program. Thread-safe. The reference is good for the life of the process, and reading a member
// takes no lock.
const Settings& GetSettings();

// Everything that was parsed at that first call. StartLog() (log.h) reports the problems.
const ParsedSettings& GetParsedSettings();

// The rows as a JSON array of objects {name, kind, unit, range, default, value, source, help}. The
// source is "default" or "environment".
std::string SettingsJson(const std::vector<SettingRow>& rows);

}  // namespace softdat

#endif  // SOFTDAT_DAT_BASE_SETTINGS_H_
