// SPDX-License-Identifier: BSD-3-Clause
// Local memory region (semantics 7.2).
#ifndef SOFTDAT_DAT_ENGINE_LMR_H_
#define SOFTDAT_DAT_ENGINE_LMR_H_

#include <memory>

#include "dat/engine/object/object.h"
#include "dat/engine/pz.h"
#include "dat/engine/shared_memory.h"
#include "dat/transport/transport.h"

namespace softdat::engine {

class Lmr final : public Object {
 public:
  static constexpr DAT_HANDLE_TYPE kHandleType = DAT_HANDLE_TYPE_LMR;

  struct Parameters {
    DAT_MEM_TYPE type;
    DAT_REGION_DESCRIPTION description;
    void* address;
    DAT_VLEN length;
    DAT_MEM_PRIV_FLAGS privileges;
    DAT_VA_TYPE va_type;
  };

  static DAT_RETURN Create(IaCore* ia, Pz* pz, const Parameters& parameters, Lmr** out);
  // Refused while an RMR is bound to it. The caller has pinned the LMR once.
  DAT_RETURN Free();
  void Query(DAT_LMR_PARAM* param);

  transport::MemoryRegion& region() { return *region_; }
  DAT_LMR_CONTEXT local_key() const { return region_->local_key(); }
  const Parameters& parameters() const { return parameters_; }
  Pz* pz() const { return pz_.get(); }

 private:
  Lmr(IaCore* ia, const Parameters& parameters)
      : Object(ia, kHandleType), parameters_(parameters) {}
  ~Lmr() override = default;
  void Teardown() override;

  const Parameters parameters_;
  Use<Pz> pz_;
  std::unique_ptr<SharedMemoryClaim> claim_;  // DAT_MEM_TYPE_SHARED_VIRTUAL only
  std::unique_ptr<transport::MemoryRegion> region_;
};

}  // namespace softdat::engine

#endif  // SOFTDAT_DAT_ENGINE_LMR_H_
