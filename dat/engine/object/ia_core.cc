// SPDX-License-Identifier: BSD-3-Clause
// What the objects of an IA know of it.
#include "dat/engine/object/ia_core.h"

#include <utility>

#include "dat2/softdat.h"

namespace softdat::engine {

void IaCore::SetAdapter(std::unique_ptr<transport::Adapter> adapter) {
  adapter_ = std::move(adapter);
  address_ = attributes().address;
  registration_check_.Open();  // last, because the IA works without a descriptor for it
}

DAT_IA_HANDLE IaCore::consumer_handle() {
  DAT_IA_HANDLE known_as = DAT_HANDLE_NULL;
  // An IA that its registry does not know (any more) is named by its own handle.
  return dats_get_ia_handle(handle(), &known_as) == DAT_SUCCESS ? known_as : handle();
}

int IaCore::ClaimProgressDescriptor() {
  const int descriptor = adapter_->ProgressDescriptor();
  if (descriptor < 0 || progress_claimed_.exchange(true, std::memory_order_acq_rel)) return -1;
  return descriptor;
}

}  // namespace softdat::engine
