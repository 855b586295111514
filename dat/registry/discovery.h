// SPDX-License-Identifier: BSD-3-Clause
// IAs that need no dat.conf: asks provider libraries in given folders which IAs they can open.
#ifndef SOFTDAT_DAT_REGISTRY_DISCOVERY_H_
#define SOFTDAT_DAT_REGISTRY_DISCOVERY_H_

#include <string>
#include <vector>

namespace softdat::registry {

struct DiscoveredIa {
  std::string name;
  std::string library;             // path for dlopen
  std::string unavailable_reason;  // "" when the IA can be opened now
};

// Paths of the provider libraries (libdapl*.so.2) in these folders that export
// softdat_provider_list_ias: folders in the given order, names sorted, each file once. A file is
// loaded only if it contains that name, so that no foreign library runs its constructors here.
std::vector<std::string> FindProviderLibraries(const std::vector<std::string>& folders);

// The IAs of those libraries; a name is listed once, for the first library that has it. Loads and
// unloads libraries: hold no lock.
//   wanted   "" for all; else an IA name: libraries named for it (libdaplsoftnet.so.2 for
//            "softnet-lo") are asked first and none after the first that has it, so that opening
//            one adapter does not load what only others need
std::vector<DiscoveredIa> DiscoverIas(const std::vector<std::string>& folders,
                                      const std::string& wanted = "");

// Folders of the library that contains `address`: as it was loaded, and with links resolved.
std::vector<std::string> FoldersBeside(const void* address);

// "a:b" as {"a", "b"}; empty parts are left out.
std::vector<std::string> SplitPath(const std::string& path);

}  // namespace softdat::registry

#endif  // SOFTDAT_DAT_REGISTRY_DISCOVERY_H_
