// SPDX-License-Identifier: BSD-3-Clause
// Functions that all services of an endpoint share.
#include "dat/engine/ep_service.h"

#include "dat/engine/object/dat_error.h"

namespace softdat::engine {

transport::ConnectParameters EpService::Parameters(const Target& target, DAT_TIMEOUT timeout_us,
                                                   std::span<const uint8_t> private_data) {
  transport::ConnectParameters p;
  p.remote = target.address;
  p.conn_qual = target.conn_qual;
  p.timeout = timeout_us == DAT_TIMEOUT_INFINITE ? std::chrono::microseconds::max()
                                                 : std::chrono::microseconds(timeout_us);
  p.private_data = private_data;
  return p;
}

DAT_RETURN EpService::FreeExchange(const DAT_CONTEXT&) {
  return Error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP, "the EP is not for datagrams");
}

}  // namespace softdat::engine
