// SPDX-License-Identifier: BSD-3-Clause
// Remote memory region: a window over part of an LMR (semantics 7.3).
#ifndef SOFTDAT_DAT_ENGINE_RMR_H_
#define SOFTDAT_DAT_ENGINE_RMR_H_

#include <memory>
#include <mutex>

#include "dat/engine/ep.h"
#include "dat/engine/lmr.h"
#include "dat/engine/object/object.h"
#include "dat/engine/pz.h"
#include "dat/transport/transport.h"

namespace softdat::engine {

class Rmr final : public Object {
 public:
  static constexpr DAT_HANDLE_TYPE kHandleType = DAT_HANDLE_TYPE_RMR;

  // dat_rmr_create (scope PZ) and dat_rmr_create_for_ep (scope EP). On success *out is published.
  static DAT_RETURN Create(Pz* pz, DAT_RMR_SCOPE scope, Rmr** out);

  struct Binding {
    DAT_LMR_TRIPLET triplet{};
    DAT_MEM_PRIV_FLAGS privileges = DAT_MEM_PRIV_NONE_FLAG;
    DAT_VA_TYPE va_type = DAT_VA_TYPE_VA;
  };
  // dat_rmr_bind. A triplet of length 0 unbinds, and `lmr` may then be null. *context is written on
  // success. Like a post, it only takes the RMR's own lock, for its records.
  DAT_RETURN Bind(Lmr* lmr, const Binding& binding, Ep& ep, DAT_RMR_COOKIE cookie,
                  DAT_COMPLETION_FLAGS flags, DAT_RMR_CONTEXT* context);
  void Query(DAT_RMR_PARAM* param);
  // Allowed in every state. The caller has pinned the RMR once.
  DAT_RETURN Free();

  // Releases what windows hold of `lmr` although their bind to it did not succeed or was undone.
  static void ForgetDeadBinds(const Lmr& lmr);

 private:
  Rmr(Pz* pz, DAT_RMR_SCOPE scope);
  ~Rmr() override = default;
  void Teardown() override;

  DAT_RETURN CheckBinding(const Lmr* lmr, const Binding& binding, const Ep& ep,
                          DAT_COMPLETION_FLAGS flags) const;
  // Whether the bind in the records can no longer take effect. The caller holds mu_.
  bool BindIsDead();

  const DAT_RMR_SCOPE scope_;
  Use<Pz> pz_;

  // Protects everything below. It is only held across MemoryWindow::IsBound and NextKey, which
  // never block. Of two binds at once, the records keep the one that was posted last, as far as
  // anybody can tell.
  std::mutex mu_;
  std::unique_ptr<transport::MemoryWindow> window_;
  Use<Lmr> lmr_;  // of the latest bind
  Binding binding_;
  DAT_RMR_CONTEXT context_ = 0;
  DAT_EP_HANDLE posted_on_ = DAT_HANDLE_NULL;
};

}  // namespace softdat::engine

#endif  // SOFTDAT_DAT_ENGINE_RMR_H_
