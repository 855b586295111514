// SPDX-License-Identifier: BSD-3-Clause
// Looking for providers in folders.
#include "dat/registry/discovery.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "dat/base/log.h"
#include "dat/base/setting_values.h"
#include "dat/registry/provider_library.h"

namespace softdat::registry {
namespace {

constexpr std::string_view kPrefix = "libdapl";
constexpr std::string_view kSuffix = ".so.2";
constexpr char kPattern[] = "libdapl*.so.2";
constexpr size_t kMaxNameBytes = 255;

std::vector<std::string> ListCandidates(const std::string& folder) {
  std::vector<std::string> names;
  DIR* dir = opendir(folder.c_str());
  if (dir == nullptr) {
    SOFTDAT_LOG_AREA(Debug, StaticRegistry, "no providers in {}: cannot read the folder",
                     Printable(folder));
    return names;
  }
  while (const dirent* entry = readdir(dir)) {
    if (fnmatch(kPattern, entry->d_name, 0) == 0) names.push_back(entry->d_name);
  }
  closedir(dir);
  std::sort(names.begin(), names.end());
  for (auto& name : names) name.insert(0, folder + "/");
  return names;
}

// The identity is the file's, so that each is listed once.
bool MentionsListIas(const std::string& path, ReadLibraries* read,
                     std::pair<dev_t, ino_t>* identity) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return false;
  struct stat info {};
  bool found = false;
  if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0) {
    *identity = {info.st_dev, info.st_ino};
    found = read->MentionsListIas(fd, info);
  }
  close(fd);
  return found;
}

struct Visit {
  const std::string* library;
  std::vector<DiscoveredIa>* found;
};

void AddIa(void* arg, const char* ia_name, const char* unavailable_reason) {
  auto* visit = static_cast<Visit*>(arg);
  if (ia_name == nullptr) return;
  const std::string_view name = ia_name;
  if (name.empty() || name.size() > kMaxNameBytes) return;
  for (const auto& ia : *visit->found) {
    if (ia.name == name) return;
  }
  visit->found->push_back({std::string(name), *visit->library,
                           unavailable_reason != nullptr ? unavailable_reason : ""});
}

// Whether the names of library and IA belong together: "softnet-lo" is an adapter of
// libdaplsoftnet.so.2.
bool IsNamedFor(std::string_view path, std::string_view ia_name) {
  std::string_view stem = path.substr(path.rfind('/') + 1);
  stem.remove_prefix(kPrefix.size());
  stem.remove_suffix(kSuffix.size());
  return ia_name.size() > stem.size() && ia_name.starts_with(stem) && ia_name[stem.size()] == '-';
}

bool Has(const std::vector<DiscoveredIa>& ias, const std::string& name) {
  return std::any_of(ias.begin(), ias.end(), [&](const auto& ia) { return ia.name == name; });
}

void AddFolder(std::string folder, std::vector<std::string>* folders) {
  if (std::find(folders->begin(), folders->end(), folder) == folders->end()) {
    folders->push_back(std::move(folder));
  }
}

std::string FolderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

int64_t Nanoseconds(const timespec& t) { return int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec; }

}  // namespace

bool ReadLibraries::MentionsListIas(int fd, const struct stat& info) {
  constexpr size_t kMostKnown = 256;
  const Identity identity(info.st_dev, info.st_ino, info.st_size, Nanoseconds(info.st_mtim),
                          Nanoseconds(info.st_ctim));
  if (const auto known = known_.find(identity); known != known_.end()) return known->second;
  const auto size = static_cast<size_t>(info.st_size);
  void* bytes = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
  if (bytes == MAP_FAILED) return false;
  constexpr char kName[] = SOFTDAT_PROVIDER_LIST_IAS_STR;
  const bool found = memmem(bytes, size, kName, sizeof kName) != nullptr;
  munmap(bytes, size);
  if (known_.size() >= kMostKnown) known_.clear();
  known_[identity] = found;
  return found;
}

std::vector<std::string> FindProviderLibraries(const std::vector<std::string>& folders,
                                               ReadLibraries* read) {
  ReadLibraries read_now;
  if (read == nullptr) read = &read_now;
  std::vector<std::string> libraries;
  std::set<std::pair<dev_t, ino_t>> seen;
  for (const auto& folder : folders) {
    for (auto& path : ListCandidates(folder)) {
      std::pair<dev_t, ino_t> identity;
      if (MentionsListIas(path, read, &identity) && seen.insert(identity).second) {
        libraries.push_back(std::move(path));
      }
    }
  }
  return libraries;
}

std::vector<DiscoveredIa> DiscoverIas(const std::vector<std::string>& folders,
                                      const std::string& wanted, ReadLibraries* read) {
  std::vector<DiscoveredIa> found;
  std::vector<std::string> libraries = FindProviderLibraries(folders, read);
  if (!wanted.empty()) {
    std::stable_partition(libraries.begin(), libraries.end(),
                          [&](const auto& path) { return IsNamedFor(path, wanted); });
  }
  for (const auto& path : libraries) {
    if (!wanted.empty() && Has(found, wanted)) break;
    auto library = ProviderLibrary::Open(path);
    if (!library.ok()) {
      SOFTDAT_LOG_AREA(Warning, StaticRegistry, "{}", library.status().reason());
      continue;
    }
    const auto list_ias = library.value().exports().list_ias;
    if (list_ias == nullptr) continue;
    Visit visit{&path, &found};
    list_ias(AddIa, &visit);
  }
  SOFTDAT_LOG_AREA(Debug, StaticRegistry, "{} IAs found without dat.conf", found.size());
  return found;
}

std::vector<std::string> FoldersBeside(const void* address) {
  std::vector<std::string> folders;
  Dl_info info{};
  if (dladdr(address, &info) == 0 || info.dli_fname == nullptr) return folders;
  AddFolder(FolderOf(info.dli_fname), &folders);
  if (char* resolved = realpath(info.dli_fname, nullptr)) {
    AddFolder(FolderOf(resolved), &folders);
    free(resolved);
  }
  return folders;
}

std::vector<std::string> SplitPath(const std::string& path) {
  std::vector<std::string> folders;
  std::string_view rest = path;
  while (!rest.empty()) {
    const size_t colon = rest.find(':');
    if (colon != 0) AddFolder(std::string(rest.substr(0, colon)), &folders);
    rest.remove_prefix(colon == std::string_view::npos ? rest.size() : colon + 1);
  }
  return folders;
}

}  // namespace softdat::registry
