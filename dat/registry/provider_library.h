// SPDX-License-Identifier: BSD-3-Clause
// One loaded provider library and what it exports.
#ifndef SOFTDAT_DAT_REGISTRY_PROVIDER_LIBRARY_H_
#define SOFTDAT_DAT_REGISTRY_PROVIDER_LIBRARY_H_

#include <dat2/dat_registry.h>
#include <dat2/softdat.h>
#include <dat2/udat.h>

#include <string>

#include "dat/base/status.h"

namespace softdat::registry {

// What libdat2 looks for in a library. A member is nullptr when it is not exported.
struct ProviderExports {
  DAT_PROVIDER_INIT_FUNC init = nullptr;
  DAT_PROVIDER_FINI_FUNC fini = nullptr;
  bool has_extensions = false;  // the tables of this library have slot 80
  // Exported only by providers of SoftDAT.
  softdat_provider_reason_func reason = nullptr;
  softdat_provider_reason_time_func reason_time = nullptr;
  softdat_provider_list_ias_func list_ias = nullptr;
  softdat_provider_handle_arena_func handle_arena = nullptr;
};

// Owns a reference to a shared library. Movable, not copyable. Its destruction unloads the library.
class ProviderLibrary {
 public:
  ProviderLibrary() = default;
  ProviderLibrary(ProviderLibrary&& other) noexcept { *this = std::move(other); }
  ProviderLibrary& operator=(ProviderLibrary&& other) noexcept;
  ~ProviderLibrary() { Close(); }

  // Loads a library. A name without a slash is searched as in dlopen(3). This may block and runs
  // the library's constructors, so hold no lock. kNotFound carries the loader's words.
  static Result<ProviderLibrary> Open(const std::string& path);

  // The loaded library or program that an address belongs to. kNotFound if there is none.
  static Result<ProviderLibrary> OfAddress(const void* address);

  bool is_open() const { return handle_ != nullptr; }
  const std::string& path() const { return path_; }
  const ProviderExports& exports() const { return exports_; }

  // Whether this code or data address belongs to this library.
  bool Contains(const void* address) const;

  // After this Close() does not unload, because code of the library may still be needed.
  void KeepLoaded();
  void Close();

 private:
  void* handle_ = nullptr;
  const void* load_base_ = nullptr;
  std::string path_;
  ProviderExports exports_;
};

}  // namespace softdat::registry

#endif  // SOFTDAT_DAT_REGISTRY_PROVIDER_LIBRARY_H_
