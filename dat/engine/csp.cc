// SPDX-License-Identifier: BSD-3-Clause
// Common service point: listens on an address of the socket name space (semantics 16.1).
#include <netinet/in.h>

#include <utility>

#include "dat/base/socket_address.h"
#include "dat/engine/object/dat_error.h"
#include "dat/engine/object/ia_core.h"
#include "dat/engine/service_point.h"
#include "dat/engine/socket_address.h"

namespace softdat::engine {

DAT_RETURN Csp::Create(IaCore* ia, const DAT_COMM& comm, const sockaddr_storage& address, Evd* evd,
                       Ref<Csp>* out) {
  Csp* csp = new Csp(ia, comm, address);
  Ref<Csp> keep(csp);
  const uint16_t port = SocketPort(address);
  const DAT_RETURN ret =
      csp->PublishAndListen(evd, port, port == 0, IsWildcard(address) ? nullptr : &csp->address_);
  if (DAT_GET_TYPE(ret) == DAT_CONN_QUAL_IN_USE) return Error(DAT_PORT_IN_USE);
  if (ret != DAT_SUCCESS) return ret;
  if (port == 0) SetSocketPort(static_cast<uint16_t>(csp->conn_qual()), &csp->address_);
  *out = std::move(keep);
  return DAT_SUCCESS;
}

void Csp::Arrive(std::unique_ptr<transport::ConnectionRequest>& request) {
  const UpcallPin pin(this);
  if (!pin) return;
  Announce(request, nullptr, false);
}

void Csp::Query(DAT_CSP_PARAM* param) {
  param->ia_handle = ia().consumer_handle();
  param->comm = &comm_;
  param->address_ptr = reinterpret_cast<DAT_IA_ADDRESS_PTR>(&address_);
  param->evd_handle = evd()->handle();
}

}  // namespace softdat::engine
