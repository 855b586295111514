// SPDX-License-Identifier: BSD-3-Clause
// The destinations of results and progress.
#include "tools/perf/output.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace softdat::tools {

void Print(const std::string& text) {
  fmt::print("{}", text);
  std::fflush(stdout);
}

Outcome WriteFile(const std::string& path, const std::string& text) {
  std::FILE* file = std::fopen(path.c_str(), "we");
  const bool written =
      file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const int error = errno;
  const bool closed = file != nullptr && std::fclose(file) == 0;
  if (written && closed) return {};
  return Outcome::Fail(fmt::format("cannot write {}: {}", path, strerror(written ? errno : error)));
}

void Progress::Show(const std::string& text) {
  if (isatty(STDERR_FILENO) == 0) return;
  fmt::print(stderr, "\r\033[K{}", text);
  shown_ = true;
}

void Progress::Clear() {
  if (shown_) fmt::print(stderr, "\r\033[K");
  shown_ = false;
}

}  // namespace softdat::tools
