// SPDX-License-Identifier: BSD-3-Clause
// Remote memory region: bind, rebind, unbind (the manual page of dat_rmr_bind, semantics 7.3).
#include "dat/engine/rmr.h"

#include <utility>

#include "dat/engine/argument.h"
#include "dat/engine/enum_value.h"
#include "dat/engine/object/dat_error.h"
#include "dat/engine/object/ia_core.h"
#include "dat2/dat_ib_extensions.h"

namespace softdat::engine {
namespace {

constexpr int kPrivileges = int{DAT_MEM_PRIV_ALL_FLAG} | int{DAT_IB_MEM_PRIV_REMOTE_ATOMIC};
constexpr int kWritingPrivileges =
    int{DAT_MEM_PRIV_REMOTE_WRITE_FLAG} | int{DAT_IB_MEM_PRIV_REMOTE_ATOMIC};

// Whether the triplet lies inside the LMR. The check is right for any 64-bit values.
bool Inside(const DAT_LMR_TRIPLET& triplet, const Lmr::Parameters& lmr) {
  const DAT_VADDR first =
      lmr.va_type == DAT_VA_TYPE_ZB ? 0 : reinterpret_cast<uintptr_t>(lmr.address);
  if (triplet.virtual_address < first) return false;
  const DAT_VADDR offset = triplet.virtual_address - first;
  return offset <= lmr.length && triplet.segment_length <= lmr.length - offset;
}

}  // namespace

Rmr::Rmr(Pz* pz, DAT_RMR_SCOPE scope) : Object(&pz->ia(), kHandleType), scope_(scope), pz_(pz) {}

DAT_RETURN Rmr::Create(Pz* pz, DAT_RMR_SCOPE scope, Rmr** out) {
  Draft<Rmr> rmr(new Rmr(pz, scope));
  if (!rmr->pz_) return BadHandle(DAT_INVALID_HANDLE_PZ);
  auto window = pz->ia().adapter().CreateWindow(pz->domain(), scope == DAT_RMR_SCOPE_EP);
  if (!window.ok()) return Fail(window.status(), Subject::kMemory);
  rmr->window_ = window.Take();
  if (!rmr.Publish()) {
    return Error(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY_REGION, NoHandleReason());
  }
  *out = rmr.Finish();
  return DAT_SUCCESS;
}

DAT_RETURN Rmr::CheckBinding(const Lmr* lmr, const Binding& b, const Ep& ep,
                             DAT_COMPLETION_FLAGS flags) const {
  if ((RawValue(b.privileges) & ~kPrivileges) != 0) return BadArgument(4);
  const int va_type = RawValue(b.va_type);
  if (va_type != DAT_VA_TYPE_VA && va_type != DAT_VA_TYPE_ZB) return BadArgument(5);
  // UNSIGNALLED is allowed only if the EP's request attribute has it. SOLICITED_WAIT means nothing
  // here.
  if ((flags & ~ep.limits(Ep::PostKind::kWrite).flags.load(std::memory_order_relaxed)) != 0) {
    return BadArgument(8);
  }
  if (b.va_type == DAT_VA_TYPE_ZB && !ia().attributes().zero_based) {
    return Error(DAT_MODEL_NOT_SUPPORTED, DAT_NO_SUBTYPE, "no zero-based addresses on this IA");
  }
  if (ep.pz() != pz_.get()) {
    return Error(DAT_PROTECTION_VIOLATION, DAT_NO_SUBTYPE,
                 "the EP and the RMR are in different protection zones");
  }
  if (!ep.TakesBinds()) {
    return Error(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_EVD_REQUEST,
                 "the request EVD of the EP does not take completions of binds");
  }
  if (b.triplet.segment_length == 0) return DAT_SUCCESS;
  if (b.triplet.lmr_context != lmr->local_key()) {
    return BadArgument(3, "the triplet's context is not that of the LMR");
  }
  if (!Inside(b.triplet, lmr->parameters())) return BadArgument(3, "the triplet leaves the LMR");
  if (lmr->pz() != pz_.get()) {
    return Error(DAT_PROTECTION_VIOLATION, DAT_NO_SUBTYPE,
                 "the LMR and the RMR are in different protection zones");
  }
  // Local read is always granted (semantics 7.2), so remote read needs nothing more.
  if ((b.privileges & kWritingPrivileges) != 0 &&
      (lmr->parameters().privileges & DAT_MEM_PRIV_LOCAL_WRITE_FLAG) == 0) {
    return Error(DAT_PRIVILEGES_VIOLATION, DAT_PRIVILEGES_WRITE,
                 "remote write through a window needs local write privilege on its LMR");
  }
  return DAT_SUCCESS;
}

DAT_RETURN Rmr::Bind(Lmr* lmr, const Binding& binding, Ep& ep, DAT_RMR_COOKIE cookie,
                     DAT_COMPLETION_FLAGS flags, DAT_RMR_CONTEXT* context) {
  const DAT_RETURN bad = CheckBinding(lmr, binding, ep, flags);
  if (bad != DAT_SUCCESS) return bad;
  const bool unbind = binding.triplet.segment_length == 0;
  Use<Lmr> use(unbind ? nullptr : lmr);
  if (!unbind && !use) return BadHandle(DAT_INVALID_HANDLE_LMR);

  transport::SendRequest request;
  request.op = transport::Op::kBind;
  request.flags = RequestFlags(flags);
  request.cookie = cookie.as_64;
  request.local = {&binding.triplet, 1};
  request.key = window_->NextKey();
  request.bind = {.window = window_.get(),  // the caller pins the RMR, so the window stays
                  .region = unbind ? nullptr : &lmr->region(),
                  .privileges = static_cast<uint32_t>(binding.privileges),
                  .zero_based = binding.va_type == DAT_VA_TYPE_ZB,
                  .context = handle()};
  const DAT_RETURN ret = ep.PostSend(request);
  if (ret != DAT_SUCCESS) return ret;
  if (context != nullptr) *context = unbind ? 0 : request.key;

  std::lock_guard<std::mutex> lock(mu_);
  std::swap(lmr_, use);
  binding_ = binding;
  context_ = unbind ? 0 : request.key;
  posted_on_ = ep.handle();
  return DAT_SUCCESS;
}

bool Rmr::BindIsDead() {
  if (context_ == 0 || window_ == nullptr) return true;
  if (window_->IsBound(context_)) return false;
  // It is not bound, or not bound yet, because the EP may still have to do it.
  const Pinned<Ep> ep(posted_on_);
  DAT_BOOLEAN idle = DAT_TRUE;
  if (ep) ep->GetStatus(nullptr, nullptr, &idle);
  // Checked a second time, because the bind may have been done between the two checks.
  return idle == DAT_TRUE && !window_->IsBound(context_);
}

void Rmr::ForgetDeadBinds(const Lmr& lmr) {
  for (const Ref<Object>& object : lmr.ia().objects().OfType(DAT_HANDLE_TYPE_RMR)) {
    auto& rmr = static_cast<Rmr&>(*object);
    Use<Lmr> gone;
    std::lock_guard<std::mutex> lock(rmr.mu_);
    if (rmr.lmr_.get() == &lmr && rmr.BindIsDead()) {
      std::swap(gone, rmr.lmr_);
      rmr.binding_ = Binding{};
      rmr.context_ = 0;
    }
  }
}

void Rmr::Query(DAT_RMR_PARAM* param) {
  std::lock_guard<std::mutex> lock(mu_);
  param->ia_handle = ia().consumer_handle();
  param->pz_handle = pz_->handle();
  param->lmr_triplet = binding_.triplet;
  param->mem_priv = binding_.privileges;
  param->rmr_context = context_;
  param->rmr_scope = scope_;
  param->va_type = binding_.va_type;
}

DAT_RETURN Rmr::Free() {
  if (!Retire()) return BadHandle(DAT_INVALID_HANDLE_RMR);
  Destroy(1);
  return DAT_SUCCESS;
}

void Rmr::Teardown() {
  std::unique_ptr<transport::MemoryWindow> window;
  Use<Lmr> lmr;
  {
    std::lock_guard<std::mutex> lock(mu_);
    std::swap(window, window_);
    std::swap(lmr, lmr_);
  }
  window.reset();  // before the LMR may go away
  lmr.Reset();
  pz_.Reset();
}

}  // namespace softdat::engine
