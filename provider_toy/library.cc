// SPDX-License-Identifier: BSD-3-Clause
// Makes libdapltoy.so.2 the toy provider: answers the one question that the engine asks its
// library.
#include "dat/decorate/decorate.h"
#include "dat/engine/backend.h"
#include "provider_toy/backend.h"

namespace softdat {

std::unique_ptr<transport::Backend> MakeBackend() { return Decorated(toy::MakeBackend()); }

}  // namespace softdat
