// SPDX-License-Identifier: BSD-3-Clause
// The time as callers give it.
#ifndef SOFTDAT_RDS_SOCKET_TIME_H_
#define SOFTDAT_RDS_SOCKET_TIME_H_

#include <chrono>

namespace softdat::rds {

using Time = std::chrono::nanoseconds;  // since any moment

}  // namespace softdat::rds

#endif  // SOFTDAT_RDS_SOCKET_TIME_H_
