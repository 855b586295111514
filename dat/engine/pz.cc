// SPDX-License-Identifier: BSD-3-Clause
// Protection zone: creation and life.
#include "dat/engine/pz.h"

#include "dat/engine/object/dat_error.h"
#include "dat/engine/object/ia_core.h"

namespace softdat::engine {

DAT_RETURN Pz::Create(IaCore* ia, Pz** out) {
  auto domain = ia->adapter().CreateProtectionDomain();
  if (!domain.ok()) return Fail(domain.status(), Subject::kPz);
  Pz* pz = new Pz(ia);
  pz->domain_ = domain.Take();
  if (!pz->Publish()) {
    pz->DropRef();
    return Error(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_PROTECTION_DOMAIN, NoHandleReason());
  }
  *out = pz;
  return DAT_SUCCESS;
}

DAT_RETURN Pz::Free() {
  if (!Retire()) {
    return Error(DAT_INVALID_STATE, DAT_INVALID_STATE_PZ_IN_USE,
                 "an LMR, RMR, EP or SRQ of this protection zone still exists");
  }
  Destroy(1);
  return DAT_SUCCESS;
}

}  // namespace softdat::engine
