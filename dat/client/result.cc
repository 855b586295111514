// SPDX-License-Identifier: BSD-3-Clause
// Describes failures of DAT calls as text.
#include "dat/client/result.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <sstream>

namespace softdat::client {
namespace {

// Looks the function up by name, so that a program also runs with another implementation's libdat2.
template <typename Function>
Function FindInLibrary(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

}  // namespace

std::string Result::Describe(std::string_view detail) const {
  return DescribeFailure(detail.empty() ? call_ : fmt::format("{}({})", call_, detail), value_);
}

std::string DescribeReturn(DAT_RETURN value) {
  const char* type = nullptr;
  const char* subtype = nullptr;
  dat_strerror(value, &type, &subtype);
  std::string text = type != nullptr ? type : "unknown return value";
  if (subtype != nullptr && *subtype != '\0' && DAT_GET_SUBTYPE(value) != DAT_NO_SUBTYPE) {
    text += ' ';
    text += subtype;
  }
  return fmt::format("{} ({:#010x})", text, value);
}

std::vector<std::string> ReasonChain() {
  using LastReason = size_t (*)(char*, size_t);
  static const auto last_reason = FindInLibrary<LastReason>("softdat_last_reason");
  if (last_reason == nullptr) return {};
  std::string text(last_reason(nullptr, 0), '\0');
  last_reason(text.data(), text.size() + 1);
  std::vector<std::string> reasons;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) reasons.push_back(line);
  return reasons;
}

std::string DescribeFailure(std::string_view call, DAT_RETURN value) {
  std::string text = fmt::format("{}: {}", call, DescribeReturn(value));
  for (const auto& reason : ReasonChain()) text += "\n  because: " + reason;
  return text;
}

std::string LibraryVersion() {
  using Version = const char* (*)();
  static const auto version = FindInLibrary<Version>("softdat_version");
  return version != nullptr ? version() : "unknown";
}

}  // namespace softdat::client
