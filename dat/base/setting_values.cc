// SPDX-License-Identifier: BSD-3-Clause
// Parsing and showing single values. No locale, no allocation except for results.
#include "dat/base/setting_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

namespace softdat {
namespace {

constexpr size_t kMaxShown = 200;
constexpr size_t kShownHead = 60;

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool SameWord(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return Lower(x) == Lower(y); });
}

// Splits "16M" into 16 and "M". Returns nothing when the text does not start with a number.
std::optional<int64_t> TakeNumber(std::string_view* text) {
  int64_t value = 0;
  const char* end = text->data() + text->size();
  auto [stop, error] = std::from_chars(text->data(), end, value, 10);
  if (error != std::errc() || value < 0) return std::nullopt;
  text->remove_prefix(static_cast<size_t>(stop - text->data()));
  return value;
}

std::optional<int64_t> Times(int64_t value, int64_t factor) {
  if (value > std::numeric_limits<int64_t>::max() / factor) return std::nullopt;
  return value * factor;
}

std::optional<int64_t> ParseDuration(std::string_view text, int64_t unit_us) {
  auto value = TakeNumber(&text);
  if (!value) return std::nullopt;
  int64_t factor_us = 0;
  if (text.empty()) {
    return value;
  } else if (SameWord(text, "us")) {
    factor_us = 1;
  } else if (SameWord(text, "ms")) {
    factor_us = 1000;
  } else if (SameWord(text, "s")) {
    factor_us = 1000000;
  } else {
    return std::nullopt;
  }
  if (factor_us >= unit_us) return Times(*value, factor_us / unit_us);
  const int64_t divisor = unit_us / factor_us;
  return *value / divisor + (*value % divisor != 0 ? 1 : 0);
}

}  // namespace

std::optional<bool> ParseBool(std::string_view text) {
  for (std::string_view word : {"on", "yes", "true", "1"}) {
    if (SameWord(text, word)) return true;
  }
  for (std::string_view word : {"off", "no", "false", "0"}) {
    if (SameWord(text, word)) return false;
  }
  return std::nullopt;
}

std::optional<int64_t> ParseInt(std::string_view text) {
  int base = 10;
  if (text.size() > 2 && text[0] == '0' && Lower(text[1]) == 'x') {
    text.remove_prefix(2);
    base = 16;
    if (text[0] == '-') return std::nullopt;
  }
  int64_t value = 0;
  const char* end = text.data() + text.size();
  auto [stop, error] = std::from_chars(text.data(), end, value, base);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

std::optional<int64_t> ParseSize(std::string_view text) {
  auto value = TakeNumber(&text);
  if (!value) return std::nullopt;
  if (text.empty()) return value;
  const std::string_view tail = text.substr(1);
  if (!tail.empty() && !SameWord(tail, "B") && !SameWord(tail, "iB")) return std::nullopt;
  switch (Lower(text[0])) {
    case 'k':
      return Times(*value, int64_t{1} << 10);
    case 'm':
      return Times(*value, int64_t{1} << 20);
    case 'g':
      return Times(*value, int64_t{1} << 30);
    default:
      return std::nullopt;
  }
}

std::optional<int64_t> ParseDurationUs(std::string_view text) { return ParseDuration(text, 1); }
std::optional<int64_t> ParseDurationMs(std::string_view text) { return ParseDuration(text, 1000); }

std::optional<int> FindWord(std::string_view words, std::string_view text) {
  for (int index = 0;; ++index) {
    std::string_view word = WordAt(words, index);
    if (word.empty()) return std::nullopt;
    if (SameWord(word, text)) return index;
  }
}

std::string_view WordAt(std::string_view words, int index) {
  for (; index > 0; --index) {
    const size_t bar = words.find('|');
    if (bar == std::string_view::npos) return "";
    words.remove_prefix(bar + 1);
  }
  return words.substr(0, words.find('|'));
}

namespace {

void AppendPrintable(std::string_view text, std::string* shown) {
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7F) {
      *shown += c;
    } else {
      *shown += fmt::format("\\x{:02x}", byte);
    }
  }
}

}  // namespace

std::string Printable(std::string_view text) {
  std::string shown;
  if (text.size() <= kMaxShown) {
    AppendPrintable(text, &shown);
    return shown;
  }
  // The end of a long path says more than its middle.
  AppendPrintable(text.substr(0, kShownHead), &shown);
  shown += "...";
  AppendPrintable(text.substr(text.size() - (kMaxShown - kShownHead)), &shown);
  return shown;
}

std::string JsonString(std::string_view text) {
  std::string quoted = "\"";
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (byte >= 0x20 && byte < 0x7F) {
      quoted += c;
    } else {
      quoted += fmt::format("\\u{:04x}", byte);
    }
  }
  quoted += '"';
  return quoted;
}

}  // namespace softdat
