// SPDX-License-Identifier: BSD-3-Clause
// Slots of the service points.
#include <netinet/in.h>

#include "dat/engine/argument.h"
#include "dat/engine/ia.h"
#include "dat/engine/object/dat_error.h"
#include "dat/engine/service_point.h"
#include "dat/engine/slots.h"
#include "dat/engine/socket_address.h"

namespace softdat::engine::slots {
namespace {

// The EVD for requests. It may belong to any IA of the provider.
class RequestEvd {
 public:
  explicit RequestEvd(DAT_EVD_HANDLE handle) : evd_(handle) {}
  bool ok() const { return evd_ && evd_->Accepts(DAT_EVD_CR_FLAG); }
  Evd* get() const { return evd_.get(); }

 private:
  const Pinned<Evd> evd_;
};

bool IsPspFlag(DAT_PSP_FLAGS flags) {
  return flags == DAT_PSP_CONSUMER_FLAG || flags == DAT_PSP_PROVIDER_FLAG;
}

DAT_RETURN NoQualifier() { return BadArgument(2, "qualifier 0 names no service point"); }

bool IsSupported(const DAT_COMM& comm) {
  return (comm.domain == AF_INET || comm.domain == AF_INET6) && comm.type == SOCK_STREAM &&
         (comm.protocol == 0 || comm.protocol == IPPROTO_TCP);
}

}  // namespace

DAT_RETURN DAT_API PspCreate(DAT_IA_HANDLE ia_handle, DAT_CONN_QUAL conn_qual,
                             DAT_EVD_HANDLE evd_handle, DAT_PSP_FLAGS flags,
                             DAT_PSP_HANDLE* psp_handle) {
  const Pinned<Ia> ia(ia_handle);
  if (!ia) return BadHandle(DAT_INVALID_HANDLE_IA);
  const RequestEvd evd(evd_handle);
  if (!evd.ok()) return BadHandle(DAT_INVALID_HANDLE_EVD_CR);
  if (conn_qual == 0) return NoQualifier();
  if (!IsPspFlag(flags)) return BadArgument(4);
  if (psp_handle == nullptr) return BadArgument(5);
  Ref<Psp> psp;
  const DAT_RETURN ret = Psp::Create(ia.get(), conn_qual, false, evd.get(), flags, &psp);
  if (ret == DAT_SUCCESS) *psp_handle = psp->handle();
  return ret;
}

DAT_RETURN DAT_API PspCreateAny(DAT_IA_HANDLE ia_handle, DAT_CONN_QUAL* conn_qual,
                                DAT_EVD_HANDLE evd_handle, DAT_PSP_FLAGS flags,
                                DAT_PSP_HANDLE* psp_handle) {
  const Pinned<Ia> ia(ia_handle);
  if (!ia) return BadHandle(DAT_INVALID_HANDLE_IA);
  const RequestEvd evd(evd_handle);
  if (!evd.ok()) return BadHandle(DAT_INVALID_HANDLE_EVD_CR);
  if (conn_qual == nullptr) return BadArgument(2);
  if (!IsPspFlag(flags)) return BadArgument(4);
  if (psp_handle == nullptr) return BadArgument(5);
  Ref<Psp> psp;
  const DAT_RETURN ret = Psp::Create(ia.get(), 0, true, evd.get(), flags, &psp);
  if (ret != DAT_SUCCESS) return ret;
  *conn_qual = psp->conn_qual();
  *psp_handle = psp->handle();
  return DAT_SUCCESS;
}

DAT_RETURN DAT_API PspQuery(DAT_PSP_HANDLE psp_handle, DAT_PSP_PARAM_MASK mask,
                            DAT_PSP_PARAM* param) {
  const Pinned<Psp> psp(psp_handle);
  if (!psp) return BadHandle(DAT_INVALID_HANDLE_PSP);
  if ((mask & ~DAT_PSP_FIELD_ALL) != 0) return BadArgument(2);
  if (param == nullptr) return BadArgument(3);
  psp->Query(param);
  return DAT_SUCCESS;
}

DAT_RETURN DAT_API PspFree(DAT_PSP_HANDLE psp_handle) {
  const Pinned<Psp> psp(psp_handle);
  if (!psp) return BadHandle(DAT_INVALID_HANDLE_PSP);
  return psp->Free();
}

DAT_RETURN DAT_API RspCreate(DAT_IA_HANDLE ia_handle, DAT_CONN_QUAL conn_qual,
                             DAT_EP_HANDLE ep_handle, DAT_EVD_HANDLE evd_handle,
                             DAT_RSP_HANDLE* rsp_handle) {
  const Pinned<Ia> ia(ia_handle);
  if (!ia) return BadHandle(DAT_INVALID_HANDLE_IA);
  const Optional<Ep> ep(ep_handle);
  if (!ep.ok() || (ep.get() != nullptr && &ep.get()->ia() != ia.get()))
    return BadHandle(DAT_INVALID_HANDLE_EP);
  const RequestEvd evd(evd_handle);
  if (!evd.ok()) return BadHandle(DAT_INVALID_HANDLE_EVD_CR);
  if (conn_qual == 0) return NoQualifier();
  if (rsp_handle == nullptr) return BadArgument(5);
  Ref<Rsp> rsp;
  const DAT_RETURN ret = Rsp::Create(ia.get(), conn_qual, ep.get(), evd.get(), &rsp);
  if (ret == DAT_SUCCESS) *rsp_handle = rsp->handle();
  return ret;
}

DAT_RETURN DAT_API RspQuery(DAT_RSP_HANDLE rsp_handle, DAT_RSP_PARAM_MASK mask,
                            DAT_RSP_PARAM* param) {
  const Pinned<Rsp> rsp(rsp_handle);
  if (!rsp) return BadHandle(DAT_INVALID_HANDLE_RSP);
  if ((mask & ~DAT_RSP_FIELD_ALL) != 0) return BadArgument(2);
  if (param == nullptr) return BadArgument(3);
  rsp->Query(param);
  return DAT_SUCCESS;
}

DAT_RETURN DAT_API RspFree(DAT_RSP_HANDLE rsp_handle) {
  const Pinned<Rsp> rsp(rsp_handle);
  if (!rsp) return BadHandle(DAT_INVALID_HANDLE_RSP);
  return rsp->Free();
}

DAT_RETURN DAT_API CspCreate(DAT_IA_HANDLE ia_handle, DAT_COMM* comm, DAT_IA_ADDRESS_PTR ia_address,
                             DAT_EVD_HANDLE evd_handle, DAT_CSP_HANDLE* csp_handle) {
  const Pinned<Ia> ia(ia_handle);
  if (!ia) return BadHandle(DAT_INVALID_HANDLE_IA);
  const RequestEvd evd(evd_handle);
  if (!evd.ok()) return BadHandle(DAT_INVALID_HANDLE_EVD_CR);
  if (comm == nullptr) return BadArgument(2);
  if (ia_address == nullptr) return BadArgument(3);
  if (csp_handle == nullptr) return BadArgument(5);
  if (!IsSupported(*comm)) {
    return Error(DAT_COMM_NOT_SUPPORTED, DAT_NO_SUBTYPE,
                 "only stream sockets over IPv4 or IPv6 have CSPs here");
  }
  if (ia_address->sa_family != comm->domain)
    return BadArgument(3, "the address is not of the comm's domain");
  sockaddr_storage address;
  DAT_RETURN ret = CopySocketAddress(ia_address, &address);
  if (ret != DAT_SUCCESS) return ret;
  Ref<Csp> csp;
  ret = Csp::Create(ia.get(), *comm, address, evd.get(), &csp);
  if (ret == DAT_SUCCESS) *csp_handle = csp->handle();
  return ret;
}

DAT_RETURN DAT_API CspQuery(DAT_CSP_HANDLE csp_handle, DAT_CSP_PARAM_MASK mask,
                            DAT_CSP_PARAM* param) {
  const Pinned<Csp> csp(csp_handle);
  if (!csp) return BadHandle(DAT_INVALID_HANDLE_CSP);
  if ((mask & ~DAT_CSP_FIELD_ALL) != 0) return BadArgument(2);
  if (param == nullptr) return BadArgument(3);
  csp->Query(param);
  return DAT_SUCCESS;
}

DAT_RETURN DAT_API CspFree(DAT_CSP_HANDLE csp_handle) {
  const Pinned<Csp> csp(csp_handle);
  if (!csp) return BadHandle(DAT_INVALID_HANDLE_CSP);
  return csp->Free();
}

}  // namespace softdat::engine::slots
