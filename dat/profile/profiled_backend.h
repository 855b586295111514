// SPDX-License-Identifier: BSD-3-Clause
// A back end that behaves like a device: a forwarding wrapper over any other.
#ifndef SOFTDAT_DAT_PROFILE_PROFILED_BACKEND_H_
#define SOFTDAT_DAT_PROFILE_PROFILED_BACKEND_H_

#include <memory>

#include "dat/profile/profile.h"
#include "dat/transport/transport.h"

namespace softdat {

// `below` with the limits and deviations of `profile`, which outlives it.
std::unique_ptr<transport::Backend> WithProfile(const Profile& profile,
                                                std::unique_ptr<transport::Backend> below);

}  // namespace softdat

#endif  // SOFTDAT_DAT_PROFILE_PROFILED_BACKEND_H_
