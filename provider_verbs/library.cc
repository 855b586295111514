// SPDX-License-Identifier: BSD-3-Clause
// Makes the provider library the verbs provider.
#include "dat/decorate/decorate.h"
#include "dat/engine/backend.h"
#include "provider_verbs/backend.h"

namespace softdat {

std::unique_ptr<transport::Backend> MakeBackend() { return Decorated(verbs::MakeBackend()); }

}  // namespace softdat
