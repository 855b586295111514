// SPDX-License-Identifier: BSD-3-Clause
#include <softdat/rds.h>

#include "tools/rds/calls.h"

namespace softdat::tools {

const RdsCalls& LibraryCalls() {
  static constexpr RdsCalls kCalls = {
      .kernel = false,
      .socket = rds_socket,
      .close = rds_close,
      .bind = rds_bind,
      .getsockname = rds_getsockname,
      .sendmsg = rds_sendmsg,
      .recvmsg = rds_recvmsg,
      .setsockopt = rds_setsockopt,
      .getsockopt = rds_getsockopt,
      .ioctl = rds_ioctl,
  };
  return kCalls;
}

}  // namespace softdat::tools
