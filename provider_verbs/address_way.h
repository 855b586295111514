// SPDX-License-Identifier: BSD-3-Clause
// A way to a peer's address, over ibv_ah.
#ifndef SOFTDAT_PROVIDER_VERBS_ADDRESS_WAY_H_
#define SOFTDAT_PROVIDER_VERBS_ADDRESS_WAY_H_

#include <infiniband/verbs.h>

#include <memory>
#include <utility>

#include "dat/transport/transport.h"

namespace softdat::verbs {

// The engine's handle. A datagram that has not left keeps the ibv_ah, too.
class AddressWay final : public transport::AddressHandle {
 public:
  explicit AddressWay(std::shared_ptr<ibv_ah> ah) : ah_(std::move(ah)) {}
  const std::shared_ptr<ibv_ah>& ah() const { return ah_; }

 private:
  const std::shared_ptr<ibv_ah> ah_;
};

}  // namespace softdat::verbs

#endif  // SOFTDAT_PROVIDER_VERBS_ADDRESS_WAY_H_
