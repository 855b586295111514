// SPDX-License-Identifier: BSD-3-Clause
// Public service point.
#include <utility>

#include "dat/engine/object/ia_core.h"
#include "dat/engine/service_point.h"

namespace softdat::engine {

DAT_RETURN Psp::Create(IaCore* ia, DAT_CONN_QUAL conn_qual, bool any, Evd* evd, DAT_PSP_FLAGS flags,
                       Ref<Psp>* out) {
  Psp* psp = new Psp(ia, flags);
  Ref<Psp> keep(psp);
  const DAT_RETURN ret = psp->PublishAndListen(evd, conn_qual, any, nullptr);
  if (ret == DAT_SUCCESS) *out = std::move(keep);
  return ret;
}

void Psp::Arrive(std::unique_ptr<transport::ConnectionRequest>& request) {
  const UpcallPin pin(this);
  if (!pin) return;
  if (flags_ == DAT_PSP_PROVIDER_FLAG) {
    // The provider makes EPs for connections only.
    if (request->service() == transport::Service::kReliable) AnnounceWithNewEp(request);
  } else {
    Announce(request, nullptr, false);
  }
}

void Psp::Query(DAT_PSP_PARAM* param) {
  param->ia_handle = ia().consumer_handle();
  param->conn_qual = conn_qual();
  param->evd_handle = evd()->handle();
  param->psp_flags = flags_;
}

}  // namespace softdat::engine
