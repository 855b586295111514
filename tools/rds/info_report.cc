// SPDX-License-Identifier: BSD-3-Clause
#include "tools/rds/info_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>

namespace softdat::tools {
namespace {

constexpr int kIpv4Width = 15, kIpv6Width = 39;

int WidthOf(const InfoColumn& column, const InfoStyle& style) {
  return style.ipv6 && column.width == kIpv4Width ? kIpv6Width : column.width;
}

std::string TextOf(const InfoCell& cell) {
  if (const auto* const number = std::get_if<uint64_t>(&cell)) return std::to_string(*number);
  return std::get<std::string>(cell);
}

void Append(std::string* line, std::string_view text, int width) {
  if (!line->empty()) line->push_back(' ');
  fmt::format_to(std::back_inserter(*line), "{:>{}}", text, width);
}

bool IsCounters(const InfoList& list) { return list.kind->letter == 'c'; }

// Of counters that have changed.
std::map<std::string, int64_t> Changes(const InfoList& list, const InfoList& before) {
  std::map<std::string, int64_t> out;
  for (const InfoRow& row : list.rows)
    out[TextOf(row[0])] += static_cast<int64_t>(std::get<0>(row[1]));
  for (const InfoRow& row : before.rows) {
    out[TextOf(row[0])] -= static_cast<int64_t>(std::get<0>(row[1]));
  }
  return out;
}

}  // namespace

std::string InfoText(const InfoList& list, const InfoStyle& style, const InfoList* before) {
  constexpr int kChangeWidth = 12;
  const bool changes = before != nullptr && IsCounters(list);
  std::string line;
  const auto& columns = list.kind->columns;
  for (const InfoColumn& column : columns) {
    if (!column.verbose || style.verbose) Append(&line, column.title, WidthOf(column, style));
  }
  if (changes) Append(&line, "Change", kChangeWidth);
  std::string out = fmt::format("\n{}:\n{}\n", list.kind->title, line);
  const auto changed = changes ? Changes(list, *before) : std::map<std::string, int64_t>();
  for (const InfoRow& row : list.rows) {
    line.clear();
    for (size_t i = 0; i < std::min(row.size(), columns.size()); ++i) {
      if (columns[i].verbose && !style.verbose) continue;
      Append(&line, TextOf(row[i]), WidthOf(columns[i], style));
    }
    if (changes) Append(&line, fmt::format("{:+}", changed.at(TextOf(row[0]))), kChangeWidth);
    out += line + "\n";
  }
  return out;
}

std::string InfoJson(std::span<const InfoList> lists) {
  using Json = nlohmann::ordered_json;
  const auto value = [](const InfoCell& cell) {
    return std::visit([](const auto& content) { return Json(content); }, cell);
  };
  Json out = Json::object();
  for (const InfoList& list : lists) {
    Json& items = out[list.kind->key];
    items = IsCounters(list) ? Json::object() : Json::array();
    for (const InfoRow& row : list.rows) {
      if (IsCounters(list)) {
        items[TextOf(row[0])] = value(row[1]);
        continue;
      }
      Json item;
      for (size_t i = 0; i < row.size(); ++i) item[list.kind->columns[i].key] = value(row[i]);
      items.push_back(std::move(item));
    }
  }
  // Names come from elsewhere, and need not be text.
  return out.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace softdat::tools
