// SPDX-License-Identifier: BSD-3-Clause
// Text for people: broken lines, tables, sizes. Pure.
#ifndef SOFTDAT_TOOLS_COMMON_TEXT_H_
#define SOFTDAT_TOOLS_COMMON_TEXT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace softdat::tools {

// Breaks the text at blanks, so that no line is longer than `width`, except for a longer word.
std::vector<std::string> WrapText(std::string_view text, size_t width);

// "64 B", "4 KiB", "1 MiB". A size that is not a whole number of the unit stays in bytes.
std::string FormatSize(uint64_t bytes);

// Rows of cells, in columns that are as wide as their widest cell and two blanks apart. Short rows
// get empty cells at their end. Lines have no blanks at their end. The text ends with a newline.
class Table {
 public:
  enum class Align : uint8_t { kLeft, kRight };

  explicit Table(std::vector<std::string> header, std::vector<Align> align = {});

  void AddRow(std::vector<std::string> row);
  std::string Render() const;

 private:
  std::vector<Align> align_;                    // by column; the columns after it are left-aligned
  std::vector<std::vector<std::string>> rows_;  // the header first
};

}  // namespace softdat::tools

#endif  // SOFTDAT_TOOLS_COMMON_TEXT_H_
