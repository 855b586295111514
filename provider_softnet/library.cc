// SPDX-License-Identifier: BSD-3-Clause
// Makes libdaplsoftnet.so.2 the softnet provider: answers the one question that the engine asks its
// library.
#include "dat/decorate/decorate.h"
#include "dat/engine/backend.h"
#include "provider_softnet/adapter/backend.h"

namespace softdat {

std::unique_ptr<transport::Backend> MakeBackend() { return Decorated(softnet::MakeBackend()); }

}  // namespace softdat
