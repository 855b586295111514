// SPDX-License-Identifier: BSD-3-Clause
// An open interface adapter, and its protection zones.
#ifndef SOFTDAT_DAT_CLIENT_IA_H_
#define SOFTDAT_DAT_CLIENT_IA_H_

#include <memory>
#include <string>

#include "dat/client/owned.h"
#include "dat/client/result.h"
#include "dat2/udat.h"

namespace softdat::client {

// Owns an open IA, and is its handle wherever one is wanted. One thread at a time.
class Ia {
 public:
  Ia() = default;
  Ia(Ia&& other) noexcept;
  Ia& operator=(Ia&& other) noexcept;
  // Closes it abruptly.
  ~Ia() { Reset(); }

  // Opens an IA and reads its attributes; the one that was open before is closed abruptly.
  //
  // `async_qlen`: events that the asynchronous EVD holds at least, one of each kind unless told
  // otherwise. Fails as dat_ia_open and dat_ia_query do, and is not open then. May block while a
  // provider is loaded. (semantics 4)
  Result Open(const std::string& name, DAT_COUNT async_qlen = 8);

  // DAT_CLOSE_ABRUPT_FLAG: destroys every object of the IA; always succeeds. Owners of these
  // objects have nothing left to free. DAT_CLOSE_GRACEFUL_FLAG: DAT_INVALID_STATE, and it stays
  // open, if there still is any. (semantics 3.1)
  Result Close(DAT_CLOSE_FLAGS flags = DAT_CLOSE_ABRUPT_FLAG);
  // Somebody else closes it, or has: for the owners of its objects it is closed.
  DAT_IA_HANDLE Release();

  bool is_open() const { return handle_ != DAT_HANDLE_NULL; }
  operator DAT_IA_HANDLE() const { return handle_; }
  DAT_IA_HANDLE handle() const { return handle_; }
  // As it was opened.
  const std::string& name() const { return name_; }
  // Made with it, and destroyed with it.
  DAT_EVD_HANDLE async_evd() const { return async_evd_; }
  // All members. What they point to is valid while the IA is open.
  const DAT_IA_ATTR& attributes() const { return attributes_; }
  DAT_IA_ADDRESS_PTR address() const { return attributes_.ia_address_ptr; }
  // For the owners of its objects.
  IaLife life() const { return life_; }

 private:
  void Reset();

  std::string name_;
  DAT_IA_HANDLE handle_ = DAT_HANDLE_NULL;
  DAT_EVD_HANDLE async_evd_ = DAT_HANDLE_NULL;
  DAT_IA_ATTR attributes_{};
  std::shared_ptr<const void> life_;  // as long as it is open
};

// A protection zone.
class Pz : public Owned<dat_pz_free, "dat_pz_free"> {
 public:
  // As dat_pz_create. (semantics 7.1)
  Result Create(const Ia& ia) {
    return Make("dat_pz_create", ia.life(),
                [&](DAT_PZ_HANDLE* handle) { return dat_pz_create(ia, handle); });
  }
};

}  // namespace softdat::client

#endif  // SOFTDAT_DAT_CLIENT_IA_H_
