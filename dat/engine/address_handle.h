// SPDX-License-Identifier: BSD-3-Clause
// Where datagrams go: what the consumer has as DAT_IB_ADDR_HANDLE.ah (semantics 15.2). A handle
// like that of any object, so that one which is gone is refused and not followed.
#ifndef SOFTDAT_DAT_ENGINE_ADDRESS_HANDLE_H_
#define SOFTDAT_DAT_ENGINE_ADDRESS_HANDLE_H_

#include <cstdint>
#include <memory>

#include "dat/engine/object/object.h"
#include "dat/engine/pz.h"
#include "dat/transport/transport.h"
#include "dat2/dat_ib_extensions.h"

namespace softdat::engine {

class AddressHandle;

// The EP that a handle was made for. Any thread.
class AddressHandleOwner {
 public:
  virtual ~AddressHandleOwner() = default;
  virtual void Forget(AddressHandle* handle) = 0;
};

class AddressHandle final : public Object {
 public:
  static constexpr auto kHandleType = static_cast<DAT_HANDLE_TYPE>(DAT_IB_HANDLE_TYPE_EXT);

  // Of an exchange that begins: it names nobody and is not visible yet. `ep` keeps `owner`.
  static AddressHandle* Create(IaCore* ia, Object* ep, AddressHandleOwner* owner, Pz* pz) {
    return new AddressHandle(ia, ep, owner, pz);
  }
  // The exchange has succeeded: the handle works from now on. It must have been reserved.
  void Publish(transport::DatagramPeer peer);

  // As events tell it.
  DAT_IB_ADDR_HANDLE Described() const;
  // For posts.
  const transport::AddressHandle* way() const { return peer_.handle.get(); }
  uint32_t qkey() const { return peer_.qkey; }
  Pz* pz() const { return pz_.get(); }

  // dat_ib_ud_ah_free. The caller pins it once. False: another thread frees it.
  bool Free();

 private:
  AddressHandle(IaCore* ia, Object* ep, AddressHandleOwner* owner, Pz* pz)
      : Object(ia, kHandleType), keep_owner_(ep), owner_(owner), pz_(pz) {}
  ~AddressHandle() override = default;
  void Teardown() override;

  Ref<Object> keep_owner_;  // until Teardown
  AddressHandleOwner* const owner_;
  Use<Pz> pz_;  // outlives what the back end has made in it
  transport::DatagramPeer peer_;
};

}  // namespace softdat::engine

#endif  // SOFTDAT_DAT_ENGINE_ADDRESS_HANDLE_H_
