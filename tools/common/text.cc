// SPDX-License-Identifier: BSD-3-Clause
// Text for people.
#include "tools/common/text.h"

#include <fmt/format.h>

#include <algorithm>

namespace softdat::tools {

std::vector<std::string> WrapText(std::string_view text, size_t width) {
  std::vector<std::string> lines;
  std::string line;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (word.empty()) continue;
    if (!line.empty() && line.size() + 1 + word.size() > width) {
      lines.push_back(line);
      line.clear();
    }
    if (!line.empty()) line += ' ';
    line += word;
  }
  if (!line.empty()) lines.push_back(line);
  return lines;
}

std::string FormatSize(uint64_t bytes) {
  constexpr std::string_view kUnits[] = {"B", "KiB", "MiB", "GiB"};
  size_t unit = 0;
  while (unit + 1 < std::size(kUnits) && bytes >= 1024 && bytes % 1024 == 0) {
    bytes /= 1024;
    ++unit;
  }
  return fmt::format("{} {}", bytes, kUnits[unit]);
}

Table::Table(std::vector<std::string> header, std::vector<Align> align)
    : align_(std::move(align)), rows_{std::move(header)} {}

void Table::AddRow(std::vector<std::string> row) { rows_.push_back(std::move(row)); }

std::string Table::Render() const {
  std::vector<size_t> widths;
  for (const auto& row : rows_) {
    if (widths.size() < row.size()) widths.resize(row.size(), 0);
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const auto& row : rows_) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      const bool right = i < align_.size() && align_[i] == Align::kRight;
      if (i > 0) line += "  ";
      line += right ? fmt::format("{:>{}}", row[i], widths[i])
                    : fmt::format("{:<{}}", row[i], widths[i]);
    }
    const size_t end = line.find_last_not_of(' ');
    text += end == std::string::npos ? "" : line.substr(0, end + 1);
    text += '\n';
  }
  return text;
}

}  // namespace softdat::tools
