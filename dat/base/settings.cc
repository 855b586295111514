// SPDX-License-Identifier: BSD-3-Clause
// Walks settings_table.inc over an environment.
#include "dat/base/settings.h"

#include <fmt/format.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <optional>
#include <utility>

#include "dat/base/fork_safe_once.h"
#include "dat/base/setting_values.h"

namespace softdat {
namespace {

constexpr std::string_view kOurPrefix = "SOFTDAT_";

// Static storage, for two reasons. Threads of ours that still run at exit can go on reading
// numbers, and a library that is unloaded leaves nothing behind.
constinit ForkSafeOnce g_once;
constinit std::optional<ParsedSettings> g_parsed;

// The value of a name, or nothing when it is not set. The first occurrence counts, as in getenv.
std::optional<std::string_view> Lookup(const char* const* environment, std::string_view name) {
  if (environment == nullptr) return std::nullopt;
  for (; *environment != nullptr; ++environment) {
    std::string_view entry = *environment;
    if (entry.size() > name.size() && entry.substr(0, name.size()) == name &&
        entry[name.size()] == '=') {
      return entry.substr(name.size() + 1);
    }
  }
  return std::nullopt;
}

// Fills one row and one member; shared by all kinds. `parse` returns the value or nothing.
template <typename T, typename Parse, typename Show>
void TakeRow(const char* const* environment, SettingRow row, T* member, Parse parse, Show show,
             ParsedSettings* out) {
  row.default_value = show(*member);
  if (auto text = Lookup(environment, row.name)) {
    if (auto value = parse(*text)) {
      *member = *value;
      row.from_environment = true;
    } else {
      out->problems.push_back(
          fmt::format("{}={} is not valid ({}{}{}); the default is {}", row.name, Printable(*text),
                      row.kind, row.range.empty() ? "" : ", ", row.range, row.default_value));
      if (row.name.starts_with(kOurPrefix)) out->refused.push_back(out->problems.back());
    }
  }
  row.value = show(*member);
  out->rows.push_back(std::move(row));
}

void TakeNumber(const char* const* environment, SettingRow row, int64_t* member, int64_t min,
                int64_t max, std::optional<int64_t> (*parse)(std::string_view),
                ParsedSettings* out) {
  row.range = fmt::format("{}..{}", min, max);
  TakeRow(
      environment, std::move(row), member,
      [&](std::string_view text) -> std::optional<int64_t> {
        auto value = parse(text);
        if (!value || *value < min || *value > max) return std::nullopt;
        return value;
      },
      [](int64_t value) { return fmt::format("{}", value); }, out);
}

template <typename Type>
void TakeChoice(const char* const* environment, SettingRow row, Type* member,
                std::string_view words, ParsedSettings* out) {
  row.range = std::string(words);
  TakeRow(
      environment, std::move(row), member,
      [words](std::string_view text) -> std::optional<Type> {
        auto index = FindWord(words, text);
        if (!index) return std::nullopt;
        return static_cast<Type>(*index);
      },
      [words](Type value) { return std::string(WordAt(words, static_cast<int>(value))); }, out);
}

// What librds.so reads, which opens IAs for its program.
constexpr std::string_view kOfRds = "SOFTDAT_RDS_";

void NoteUnknownNames(const char* const* environment, ParsedSettings* out) {
  if (environment == nullptr) return;
  for (; *environment != nullptr; ++environment) {
    std::string_view entry = *environment;
    if (entry.substr(0, kOurPrefix.size()) != kOurPrefix) continue;
    std::string_view name = entry.substr(0, entry.find('='));
    bool known = name.starts_with(kOfRds);
    for (const auto& row : out->rows) known = known || row.name == name;
    if (!known) {
      out->problems.push_back(
          fmt::format("{} is not a setting of this version and has no effect", Printable(name)));
    }
  }
}

// Ways of a device that only the back end can copy. The back end has settings of its own for them,
// and so needs to know nothing of profiles. (`dat/profile` has what a wrapper can do over any back
// end.)
std::vector<const char*> ImpliedBy(const Settings& values) {
  if (values.profile != DeviceProfile::kSiw) return {};
  return {"SOFTDAT_COMPLETION=taken", "SOFTDAT_RECEIVER_MUST_BE_READY=on"};
}

ParsedSettings ParseTable(const char* const* environment) {
  ParsedSettings out;
  Settings& v = out.values;
#define BOOL(member, name, def, help)                                                       \
  TakeRow(                                                                                  \
      environment, {name, "bool", "", "on|off", "", "", false, help}, &v.member, ParseBool, \
      [](bool value) { return std::string(value ? "on" : "off"); }, &out);
#define INT(member, name, def, min, max, help)                                             \
  TakeNumber(environment, {name, "int", "", "", "", "", false, help}, &v.member, min, max, \
             ParseInt, &out);
#define SIZE(member, name, def, min, max, help)                                                  \
  TakeNumber(environment, {name, "size", "bytes", "", "", "", false, help}, &v.member, min, max, \
             ParseSize, &out);
#define DURATION_US(member, name, def, min, max, help)                                            \
  TakeNumber(environment, {name, "duration", "us", "", "", "", false, help}, &v.member, min, max, \
             ParseDurationUs, &out);
#define DURATION_MS(member, name, def, min, max, help)                                            \
  TakeNumber(environment, {name, "duration", "ms", "", "", "", false, help}, &v.member, min, max, \
             ParseDurationMs, &out);
#define STRING(member, name, def, help)                                       \
  TakeRow(                                                                    \
      environment, {name, "string", "", "", "", "", false, help}, &v.member,  \
      [](std::string_view text) { return std::optional<std::string>(text); }, \
      [](const std::string& value) { return value; }, &out);
#define CHOICE(member, name, Type, def, words, help, ...) \
  TakeChoice(environment, {name, "enum", "", "", "", "", false, help}, &v.member, words, &out);
#include "dat/base/settings_table.inc"
#undef BOOL
#undef INT
#undef SIZE
#undef DURATION_US
#undef DURATION_MS
#undef STRING
#undef CHOICE
  NoteUnknownNames(environment, &out);
  return out;
}

}  // namespace

ParsedSettings ParseSettings(const char* const* environment) {
  ParsedSettings plain = ParseTable(environment);
  std::vector<const char*> all = ImpliedBy(plain.values);
  if (all.empty()) return plain;
  // The implied values stand in front, and the first occurrence of a name counts.
  for (; *environment != nullptr; ++environment) all.push_back(*environment);
  all.push_back(nullptr);
  ParsedSettings out = ParseTable(all.data());
  // A value that is not understood is a problem even when another variable implies the value.
  out.problems = std::move(plain.problems);
  out.refused = std::move(plain.refused);
  return out;
}

const ParsedSettings& GetParsedSettings() {
  // A set-uid program must not take folders of code, or files to write, from its caller.
  g_once.Call(
      [] { g_parsed.emplace(ParseSettings(getauxval(AT_SECURE) != 0 ? nullptr : environ)); });
  return *g_parsed;
}

const Settings& GetSettings() { return GetParsedSettings().values; }

std::string SettingsJson(const std::vector<SettingRow>& rows) {
  std::string text = "[";
  for (const auto& row : rows) {
    if (text.size() > 1) text += ',';
    text += fmt::format(
        "\n{{\"name\":{},\"kind\":{},\"unit\":{},\"range\":{},\"default\":{},\"value\":{},"
        "\"source\":{},\"help\":{}}}",
        JsonString(row.name), JsonString(row.kind), JsonString(row.unit), JsonString(row.range),
        JsonString(row.default_value), JsonString(row.value),
        JsonString(row.from_environment ? "environment" : "default"), JsonString(row.help));
  }
  text += "\n]\n";
  return text;
}

}  // namespace softdat
