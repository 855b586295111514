// SPDX-License-Identifier: BSD-3-Clause
// What makes libdapltoy.so.2 the toy: the engine's one question to its library.
#include "dat/decorate/decorate.h"
#include "dat/engine/backend.h"
#include "provider_toy/backend.h"

namespace softdat {

std::unique_ptr<transport::Backend> MakeBackend() { return Decorated(toy::MakeBackend()); }

}  // namespace softdat
