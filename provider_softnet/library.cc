// SPDX-License-Identifier: BSD-3-Clause
// What makes libdaplsoftnet.so.2 softnet: the engine's one question to its library.
#include <utility>

#include "dat/engine/backend.h"
#include "dat/profile/profiled_backend.h"
#include "provider_softnet/adapter/backend.h"

namespace softdat {

std::unique_ptr<transport::Backend> MakeBackend() {
  auto softnet = softnet::MakeBackend();
  const Profile* const profile = ProfileFromSettings();
  return profile == nullptr ? std::move(softnet) : WithProfile(*profile, std::move(softnet));
}

}  // namespace softdat
