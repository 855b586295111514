// SPDX-License-Identifier: BSD-3-Clause
// What makes libdaplsoftnet.so.2 softnet: the engine's one question to its library.
#include "dat/decorate/decorate.h"
#include "dat/engine/backend.h"
#include "provider_softnet/adapter/backend.h"

namespace softdat {

std::unique_ptr<transport::Backend> MakeBackend() { return Decorated(softnet::MakeBackend()); }

}  // namespace softdat
