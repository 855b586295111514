// SPDX-License-Identifier: BSD-3-Clause
// Values of settings as text: one pure function for each kind of settings_table.inc, and the two
// ways to show untrusted text.
#ifndef SOFTDAT_DAT_BASE_SETTING_VALUES_H_
#define SOFTDAT_DAT_BASE_SETTING_VALUES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace softdat {

// on/off, yes/no, true/false, 1/0; upper or lower case.
std::optional<bool> ParseBool(std::string_view text);

// A whole number, decimal ("-3", "007" is 7) or hexadecimal ("0xFF"). Nothing may precede or follow
// it.
std::optional<int64_t> ParseInt(std::string_view text);

// Bytes: a number that is not negative, with K, M or G (powers of 1024; "KiB" and "KB" likewise).
std::optional<int64_t> ParseSize(std::string_view text);

// A duration that is not negative. It is in microseconds (in milliseconds) unless it ends in us, ms
// or s. A unit finer than the result can hold is rounded up, so that 1us never turns into "no
// wait".
std::optional<int64_t> ParseDurationUs(std::string_view text);
std::optional<int64_t> ParseDurationMs(std::string_view text);

// Position of text in a list such as "auto|on|off", compared without regard to case.
std::optional<int> FindWord(std::string_view words, std::string_view text);

// The word at that position; "" beyond the end.
std::string_view WordAt(std::string_view words, int index);

// Text from outside, made safe for one line of a log. Control and non-ASCII bytes become \xNN, and
// a text of more than 200 bytes loses its middle ("...").
std::string Printable(std::string_view text);

// A JSON string literal with its quotes. Bytes that are not ASCII are written as \u00NN, one by
// one.
std::string JsonString(std::string_view text);

}  // namespace softdat

#endif  // SOFTDAT_DAT_BASE_SETTING_VALUES_H_
