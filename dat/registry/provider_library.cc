// SPDX-License-Identifier: BSD-3-Clause
// Loading of provider libraries.
#include "dat/registry/provider_library.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include <utility>

#include "dat/base/setting_values.h"

namespace softdat::registry {
namespace {

const void* LoadBase(const void* address) {
  Dl_info info{};
  return dladdr(address, &info) != 0 ? info.dli_fbase : nullptr;
}

const void* LoadBaseOfHandle(void* handle) {
  link_map* map = nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0) return nullptr;
  return map->l_ld != nullptr ? LoadBase(map->l_ld) : nullptr;
}

// A symbol of this library itself. dlsym would also find it in a library that this one depends on.
template <typename Function>
Function Find(void* handle, const void* load_base, const char* name) {
  void* symbol = dlsym(handle, name);
  if (symbol == nullptr || LoadBase(symbol) != load_base) return nullptr;
  return reinterpret_cast<Function>(symbol);
}

ProviderExports FindExports(void* handle, const void* load_base) {
  ProviderExports exports;
  exports.init = Find<DAT_PROVIDER_INIT_FUNC>(handle, load_base, DAT_PROVIDER_INIT_FUNC_STR);
  exports.fini = Find<DAT_PROVIDER_FINI_FUNC>(handle, load_base, DAT_PROVIDER_FINI_FUNC_STR);
  exports.reason =
      Find<softdat_provider_reason_func>(handle, load_base, SOFTDAT_PROVIDER_REASON_STR);
  exports.reason_time =
      Find<softdat_provider_reason_time_func>(handle, load_base, SOFTDAT_PROVIDER_REASON_TIME_STR);
  exports.list_ias =
      Find<softdat_provider_list_ias_func>(handle, load_base, SOFTDAT_PROVIDER_LIST_IAS_STR);
  exports.handle_arena = Find<softdat_provider_handle_arena_func>(
      handle, load_base, SOFTDAT_PROVIDER_HANDLE_ARENA_STR);
  // A provider that was built with extensions exports this symbol (semantics 15.1). It is looked up
  // and never called. Our own providers always have extensions.
  exports.has_extensions = exports.handle_arena != nullptr ||
                           Find<void (*)()>(handle, load_base, "dapl_extensions") != nullptr;
  return exports;
}

}  // namespace

ProviderLibrary& ProviderLibrary::operator=(ProviderLibrary&& other) noexcept {
  if (this == &other) return *this;
  Close();
  handle_ = std::exchange(other.handle_, nullptr);
  load_base_ = std::exchange(other.load_base_, nullptr);
  path_ = std::move(other.path_);
  exports_ = std::exchange(other.exports_, ProviderExports());
  return *this;
}

Result<ProviderLibrary> ProviderLibrary::Open(const std::string& path) {
  // RTLD_LOCAL, so that two providers do not bind to each other's symbols.
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* why = dlerror();
    return Status(Code::kNotFound,
                  fmt::format("cannot load {}: {}", Printable(path),
                              Printable(why != nullptr ? why : "no reason given")));
  }
  ProviderLibrary library;
  library.handle_ = handle;
  library.path_ = path;
  library.load_base_ = LoadBaseOfHandle(handle);
  library.exports_ = FindExports(handle, library.load_base_);
  return library;
}

Result<ProviderLibrary> ProviderLibrary::OfAddress(const void* address) {
  Dl_info info{};
  if (dladdr(address, &info) == 0 || info.dli_fname == nullptr) {
    return Status(Code::kNotFound, "the address belongs to no loaded library");
  }
  void* handle = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr || LoadBaseOfHandle(handle) != info.dli_fbase) {
    if (handle != nullptr) dlclose(handle);
    handle = dlopen(nullptr, RTLD_LAZY);  // dlopen knows no name for the program itself
  }
  if (handle == nullptr) return Status(Code::kNotFound, "the program is not dynamic");
  ProviderLibrary library;
  library.handle_ = handle;
  library.path_ = info.dli_fname;
  library.load_base_ = info.dli_fbase;
  library.exports_ = FindExports(handle, library.load_base_);
  return library;
}

bool ProviderLibrary::Contains(const void* address) const {
  return handle_ != nullptr && LoadBase(address) == load_base_;
}

void ProviderLibrary::KeepLoaded() { handle_ = nullptr; }

void ProviderLibrary::Close() {
  if (handle_ != nullptr) dlclose(handle_);
  handle_ = nullptr;
  load_base_ = nullptr;
  exports_ = ProviderExports();
}

}  // namespace softdat::registry
