// SPDX-License-Identifier: BSD-3-Clause
#include "dat/decorate/decorate.h"

#include <utility>

#include "dat/base/settings.h"
#include "dat/profile/profiled_backend.h"

namespace softdat {

std::unique_ptr<transport::Backend> Decorated(std::unique_ptr<transport::Backend> plain) {
  const Profile* const profile = FindProfile(GetSettings().profile);
  return profile == nullptr ? std::move(plain) : WithProfile(*profile, std::move(plain));
}

}  // namespace softdat
