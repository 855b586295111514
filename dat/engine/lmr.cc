// SPDX-License-Identifier: BSD-3-Clause
// Local memory region: registration and life.
#include "dat/engine/lmr.h"

#include <string>

#include "dat/base/settings.h"
#include "dat/engine/object/dat_error.h"
#include "dat/engine/object/ia_core.h"
#include "dat/engine/rmr.h"
#include "dat2/dat_ib_extensions.h"

namespace softdat::engine {
namespace {

// Each of these privileges allows bytes of the region to be changed.
constexpr int kWritingPrivileges = int{DAT_MEM_PRIV_LOCAL_WRITE_FLAG} |
                                   int{DAT_MEM_PRIV_REMOTE_WRITE_FLAG} |
                                   int{DAT_IB_MEM_PRIV_REMOTE_ATOMIC};

}  // namespace

DAT_RETURN Lmr::Create(IaCore* ia, Pz* pz, const Parameters& parameters, Lmr** out) {
  Ref<Lmr> lmr(new Lmr(ia, parameters));
  lmr->DropRef();  // Publish brings the handle's reference; until then `lmr` has the only one
  lmr->pz_ = Use<Pz>(pz);
  if (!lmr->pz_) return BadHandle(DAT_INVALID_HANDLE_PZ);

  if (parameters.type == DAT_MEM_TYPE_SHARED_VIRTUAL) {
    auto claim = SharedMemoryClaim::Make(GetSettings().shared_lmr_folder,
                                         *parameters.description.for_shared_memory.shared_memory_id,
                                         parameters.address, parameters.length);
    if (!claim.ok()) return Fail(claim.status(), Subject::kMemory);
    lmr->claim_ = claim.Take();
  }
  // Checked here for every back end, so that all give one answer. A back end that pins pages would
  // also refuse, but say less.
  if (Status status = ia->registration_check().Check(
          parameters.address, parameters.length, (parameters.privileges & kWritingPrivileges) != 0);
      !status.ok()) {
    return Fail(status, Subject::kMemory);
  }
  transport::RegionParameters region;
  region.address = parameters.address;
  region.length = parameters.length;
  region.privileges = static_cast<uint32_t>(parameters.privileges);
  region.zero_based = parameters.va_type == DAT_VA_TYPE_ZB;
  auto registered = ia->adapter().RegisterMemory(pz->domain(), region);
  if (!registered.ok()) return Fail(registered.status(), Subject::kMemory);
  lmr->region_ = registered.Take();
  lmr->AddRef();
  if (!lmr->Publish()) {
    lmr->DropRef();
    return Error(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY_REGION, NoHandleReason());
  }
  *out = lmr.get();
  return DAT_SUCCESS;
}

DAT_RETURN Lmr::Free() {
  bool retired = Retire();
  if (!retired) {
    // Windows may have lost their binding without a call of the consumer: flushed, or invalidated
    // remotely.
    Rmr::ForgetDeadBinds(*this);
    retired = Retire();
  }
  if (!retired) {
    return Error(DAT_INVALID_STATE, DAT_INVALID_STATE_LMR_IN_USE, "an RMR is bound to the LMR");
  }
  Destroy(1);
  return DAT_SUCCESS;
}

void Lmr::Teardown() {
  region_.reset();
  claim_.reset();
  pz_.Reset();
}

void Lmr::Query(DAT_LMR_PARAM* param) {
  param->ia_handle = ia().consumer_handle();
  param->mem_type = parameters_.type;
  param->region_desc = parameters_.description;
  param->length = parameters_.length;
  param->pz_handle = pz_->handle();
  param->mem_priv = parameters_.privileges;
  param->va_type = parameters_.va_type;
  param->lmr_context = region_->local_key();
  param->rmr_context = region_->remote_key();
  param->registered_size = parameters_.length;
  param->registered_address = reinterpret_cast<uintptr_t>(parameters_.address);
}

}  // namespace softdat::engine
