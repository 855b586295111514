// SPDX-License-Identifier: BSD-3-Clause
// The places where libdat2 looks, in this process.
#include "tools/info/environment.h"

#include <dat2/udat.h>
#include <dlfcn.h>

#include "dat/base/settings.h"
#include "dat/registry/discovery.h"

namespace softdat::tools {
namespace {

// Any function of libdat2 tells where it was loaded from.
const void* AddressInLibrary() { return dlsym(RTLD_DEFAULT, "dat_ia_openv"); }

}  // namespace

registry::ConfSource ConfSourceOfProcess() {
  const ParsedSettings& parsed = GetParsedSettings();
  registry::ConfSource source;
  source.override_path = parsed.values.dat_override;
  for (const auto& row : parsed.rows) {
    if (row.name == "DAT_OVERRIDE") source.has_override = row.from_environment;
  }
  return source;
}

std::vector<std::string> ProviderFoldersOfProcess() {
  auto folders = registry::SplitPath(GetSettings().provider_path);
  for (auto& folder : registry::FoldersBeside(AddressInLibrary()))
    folders.push_back(std::move(folder));
  return folders;
}

std::string LibraryFile() {
  Dl_info info{};
  if (dladdr(AddressInLibrary(), &info) == 0 || info.dli_fname == nullptr) return "libdat2.so.2";
  return info.dli_fname;
}

}  // namespace softdat::tools
