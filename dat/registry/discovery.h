// SPDX-License-Identifier: BSD-3-Clause
// IAs that need no dat.conf. Asks the provider libraries in given folders which IAs they can open.
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
// softdat_provider_list_ias. The folders come in the given order, the names sorted, and each file
// once. A file is loaded only if it contains the name of that symbol, so that no foreign library
// runs its constructors here.
std::vector<std::string> FindProviderLibraries(const std::vector<std::string>& folders);

// The IAs of those libraries. A name is listed once, for the first library that has it. This loads
// and unloads libraries, so hold no lock.
//   wanted   "" for all; else an IA name. Libraries named for it (libdaplsoftnet.so.2 for
//            "softnet-lo") are asked first, and none after the first that has it. So opening one
//            adapter does not load what only others need.
std::vector<DiscoveredIa> DiscoverIas(const std::vector<std::string>& folders,
                                      const std::string& wanted = "");

// The folders of the library that contains `address`: the one it was loaded from, and the one that
// it lies in when links are resolved.
std::vector<std::string> FoldersBeside(const void* address);

// Splits "a:b" into {"a", "b"}. Empty parts are left out.
std::vector<std::string> SplitPath(const std::string& path);

}  // namespace softdat::registry

#endif  // SOFTDAT_DAT_REGISTRY_DISCOVERY_H_
