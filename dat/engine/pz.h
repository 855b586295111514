// SPDX-License-Identifier: BSD-3-Clause
// Protection zone (semantics 7.1).
#ifndef SOFTDAT_DAT_ENGINE_PZ_H_
#define SOFTDAT_DAT_ENGINE_PZ_H_

#include <memory>

#include "dat/engine/object/object.h"
#include "dat/transport/transport.h"

namespace softdat::engine {

class Pz final : public Object {
 public:
  static constexpr DAT_HANDLE_TYPE kHandleType = DAT_HANDLE_TYPE_PZ;

  static DAT_RETURN Create(IaCore* ia, Pz** out);
  // Refused while an LMR, RMR, EP or SRQ that was created with it exists. The caller has pinned the
  // PZ once.
  DAT_RETURN Free();

  transport::ProtectionDomain& domain() { return *domain_; }

 private:
  explicit Pz(IaCore* ia) : Object(ia, kHandleType) {}
  ~Pz() override = default;
  void Teardown() override { domain_.reset(); }

  std::unique_ptr<transport::ProtectionDomain> domain_;
};

}  // namespace softdat::engine

#endif  // SOFTDAT_DAT_ENGINE_PZ_H_
