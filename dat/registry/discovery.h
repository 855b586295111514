// SPDX-License-Identifier: BSD-3-Clause
// IAs that need no dat.conf. Asks the provider libraries in given folders which IAs they can open.
#ifndef SOFTDAT_DAT_REGISTRY_DISCOVERY_H_
#define SOFTDAT_DAT_REGISTRY_DISCOVERY_H_

#include <sys/stat.h>

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace softdat::registry {

// Which files contain the name of softdat_provider_list_ias. A program that opens an IA again and
// again has each library read once, not every time. Not for several threads at once.
class ReadLibraries {
 public:
  // Whether the file `fd` contains it. `info` is what fstat(2) says of it.
  bool MentionsListIas(int fd, const struct stat& info);

 private:
  // Device, inode, size, and when it was changed, in nanoseconds: a file that is replaced is read
  // again.
  using Identity = std::tuple<dev_t, ino_t, off_t, int64_t, int64_t>;
  std::map<Identity, bool> known_;
};

struct DiscoveredIa {
  std::string name;
  std::string library;             // path for dlopen
  std::string unavailable_reason;  // "" when the IA can be opened now
};

// Paths of the provider libraries (libdapl*.so.2) in these folders that export
// softdat_provider_list_ias. The folders come in the given order, the names sorted, and each file
// once. A file is loaded only if it contains the name of that symbol, so that no foreign library
// runs its constructors here.
//   read     remembers what the files contain; null: all are read.
std::vector<std::string> FindProviderLibraries(const std::vector<std::string>& folders,
                                               ReadLibraries* read = nullptr);

// The IAs of those libraries. A name is listed once, for the first library that has it. This loads
// and unloads libraries, so hold no lock.
//   wanted   "" for all; else an IA name. Libraries named for it (libdaplsoftnet.so.2 for
//            "softnet-lo") are asked first, and none after the first that has it. So opening one
//            adapter does not load what only others need.
std::vector<DiscoveredIa> DiscoverIas(const std::vector<std::string>& folders,
                                      const std::string& wanted = "",
                                      ReadLibraries* read = nullptr);

// The folders of the library that contains `address`: the one it was loaded from, and the one that
// it lies in when links are resolved.
std::vector<std::string> FoldersBeside(const void* address);

// Splits "a:b" into {"a", "b"}. Empty parts are left out.
std::vector<std::string> SplitPath(const std::string& path);

}  // namespace softdat::registry

#endif  // SOFTDAT_DAT_REGISTRY_DISCOVERY_H_
