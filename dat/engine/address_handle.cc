// SPDX-License-Identifier: BSD-3-Clause
// Address handles of datagrams.
#include "dat/engine/address_handle.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace softdat::engine {

void AddressHandle::Publish(transport::DatagramPeer peer) {
  peer_ = std::move(peer);
  Object::Publish();
}

DAT_IB_ADDR_HANDLE AddressHandle::Described() const {
  DAT_IB_ADDR_HANDLE described{};
  described.ah = static_cast<ibv_ah*>(handle());
  described.qpn = peer_.number;
  std::memcpy(&described.ia_addr, &peer_.address,
              std::min(sizeof(described.ia_addr), sizeof(peer_.address)));
  return described;
}

bool AddressHandle::Free() {
  if (!Retire()) return false;
  Destroy(1);
  return true;
}

void AddressHandle::Teardown() {
  owner_->Forget(this);
  peer_ = {};
  pz_.Reset();
  keep_owner_ = Ref<Object>();
}

}  // namespace softdat::engine
