// SPDX-License-Identifier: BSD-3-Clause
// What the registry of libdat2.so.2 knows: dat.conf, and the providers in the search folders.
#include <errno.h>
#include <fmt/format.h>
#include <string.h>
#include <sys/stat.h>

#include <utility>

#include "dat/base/log.h"
#include "dat/base/setting_values.h"
#include "dat/base/settings.h"
#include "dat/registry/discovery.h"
#include "dat/registry/registry.h"

namespace softdat::registry {

namespace {

// A mistyped folder must not go unnoticed: its providers would be missing, or others would take
// their place.
Status CheckFolders(const std::vector<std::string>& folders) {
  for (const std::string& folder : folders) {
    struct stat info {};
    if (stat(folder.c_str(), &info) != 0) {
      return Status(Code::kInvalidArgument, fmt::format("SOFTDAT_PROVIDER_PATH: {}: {}",
                                                        Printable(folder), strerrordesc_np(errno)));
    }
    if (!S_ISDIR(info.st_mode)) {
      return Status(Code::kInvalidArgument,
                    fmt::format("SOFTDAT_PROVIDER_PATH: {}: not a folder", Printable(folder)));
    }
  }
  return Status::Ok();
}

}  // namespace

RegistryConfig LibraryConfig() {
  RegistryConfig config;
  config.conf = ConfSourceFromSettings();
  // Folders that the user names come before those of the installation.
  config.provider_folders = SplitPath(GetSettings().provider_path);
  config.settings = CheckSettings();
  if (config.settings.ok()) config.settings = CheckFolders(config.provider_folders);
  static const char here = 0;
  for (auto& folder : FoldersBeside(&here)) {
    config.provider_folders.push_back(std::move(folder));
  }
  return config;
}

}  // namespace softdat::registry
