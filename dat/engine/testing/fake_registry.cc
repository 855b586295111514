// SPDX-License-Identifier: BSD-3-Clause
// What the engine needs of a registry and of provider.cc, for test programs that link the engine
// directly. It has one registered IA name, "fake-0", and passes on IA handles unchanged.
#include "dat/engine/backend.h"
#include "dat/engine/registration.h"
#include "dat/engine/testing/fake_backend.h"

namespace softdat::engine {

const Registration* FindRegistration(const std::string& ia_name, bool thread_safe) {
  static const Registration* registration = [] {
    auto* r = new Registration;
    FillProviderTable(&r->table, false);
    r->ia_name = "fake-0";
    r->info.dapl_version_major = 2;
    return r;
  }();
  return ia_name == registration->ia_name && !thread_safe ? registration : nullptr;
}

transport::Backend& TheBackend() { return testing::TheFakeBackend(); }

}  // namespace softdat::engine

extern "C" DAT_RETURN dats_get_ia_handle(DAT_IA_HANDLE, DAT_IA_HANDLE*) {
  return DAT_CLASS_ERROR | DAT_INVALID_HANDLE;
}

extern "C" DAT_RETURN dat_strerror(DAT_RETURN, const char**, const char**) {
  return DAT_CLASS_ERROR | DAT_INVALID_PARAMETER;
}
