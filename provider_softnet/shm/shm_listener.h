// SPDX-License-Identifier: BSD-3-Clause
// A service point over shared memory.
#ifndef SOFTDAT_PROVIDER_SOFTNET_SHM_SHM_LISTENER_H_
#define SOFTDAT_PROVIDER_SOFTNET_SHM_SHM_LISTENER_H_

#include <memory>

#include "provider_softnet/connection/link_listener.h"
#include "provider_softnet/shm/shm_context.h"

namespace softdat::softnet {

class ShmListener final : public LinkListener {
 public:
  // The listener listens when this succeeds.
  static Result<std::unique_ptr<transport::Listener>> Create(
      const std::shared_ptr<ShmContext>& context, const transport::ListenParameters& p);

 private:
  using LinkListener::LinkListener;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_SHM_SHM_LISTENER_H_
