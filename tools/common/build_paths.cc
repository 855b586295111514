// SPDX-License-Identifier: BSD-3-Clause
// The folders in which Bazel put the providers.
#include "tools/common/build_paths.h"

#include <glob.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace softdat::tools {
namespace {

constexpr char kVariable[] = "SOFTDAT_PROVIDER_PATH";
// tools/X and tools/bench/X are one and two folders below bazel-bin.
constexpr int kLevels = 3;

std::string EscapeGlob(const std::string& path) {
  std::string escaped;
  for (const char c : path) {
    if (c == '*' || c == '?' || c == '[' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

}  // namespace

std::vector<std::string> ProviderFoldersNear(const std::string& program) {
  std::vector<std::string> folders;
  std::filesystem::path folder = std::filesystem::path(program).parent_path();
  for (int level = 0; level < kLevels && folders.empty() && folder.has_relative_path(); ++level) {
    glob_t found{};
    const std::string pattern = EscapeGlob(folder.string()) + "/provider_*/libdapl*.so.2";
    if (glob(pattern.c_str(), 0, nullptr, &found) == 0) {
      for (size_t i = 0; i < found.gl_pathc; ++i) {
        std::string path = std::filesystem::path(found.gl_pathv[i]).parent_path().string();
        if (std::find(folders.begin(), folders.end(), path) == folders.end())
          folders.push_back(std::move(path));
      }
    }
    globfree(&found);
    folder = folder.parent_path();
  }
  return folders;
}

void UseProvidersOfThisBuild() {
  if (getenv(kVariable) != nullptr) return;
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return;
  std::string joined;
  for (const auto& folder : ProviderFoldersNear(program.string())) {
    if (!joined.empty()) joined += ':';
    joined += folder;
  }
  if (!joined.empty()) setenv(kVariable, joined.c_str(), 1);
}

}  // namespace softdat::tools
