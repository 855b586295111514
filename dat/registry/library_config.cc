// SPDX-License-Identifier: BSD-3-Clause
// What the registry of libdat2.so.2 knows: dat.conf, and the providers in the search folders.
#include <utility>

#include "dat/base/settings.h"
#include "dat/registry/discovery.h"
#include "dat/registry/registry.h"

namespace softdat::registry {

RegistryConfig LibraryConfig() {
  RegistryConfig config;
  config.conf = ConfSourceFromSettings();
  // What the user names goes before what was installed.
  config.provider_folders = SplitPath(GetParsedSettings().values.provider_path);
  static const char here = 0;
  for (auto& folder : FoldersBeside(&here)) {
    config.provider_folders.push_back(std::move(folder));
  }
  return config;
}

}  // namespace softdat::registry
