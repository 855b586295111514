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

// Owns an open IA, and converts to its handle. One thread at a time.
class Ia {
 public:
  Ia() = default;
  Ia(Ia&& other) noexcept;
  Ia& operator=(Ia&& other) noexcept;
  // Closes the IA abruptly.
  ~Ia() { Reset(); }

  // Opens an IA and reads its attributes. An IA that was open before is closed abruptly.
  //
  // `async_qlen`: how many events the asynchronous EVD holds at least. The default is one of each
  // kind. Fails like dat_ia_open and dat_ia_query, and is not open then. May block while a provider
  // is loaded. (semantics 4)
  Result Open(const std::string& name, DAT_COUNT async_qlen = 8);

  // DAT_CLOSE_ABRUPT_FLAG destroys every object of the IA and always succeeds. The owners of these
  // objects then have nothing left to free. DAT_CLOSE_GRACEFUL_FLAG fails with DAT_INVALID_STATE if
  // an object is left, and the IA stays open. (semantics 3.1)
  Result Close(DAT_CLOSE_FLAGS flags = DAT_CLOSE_ABRUPT_FLAG);
  // Gives the handle to somebody else, who closes the IA or has closed it. The owners of its
  // objects treat it as closed.
  DAT_IA_HANDLE Release();

  bool is_open() const { return handle_ != DAT_HANDLE_NULL; }
  operator DAT_IA_HANDLE() const { return handle_; }
  DAT_IA_HANDLE handle() const { return handle_; }
  // The name that was given to Open().
  const std::string& name() const { return name_; }
  // It is made and destroyed together with the IA.
  DAT_EVD_HANDLE async_evd() const { return async_evd_; }
  // All members are filled in. Their pointers are valid while the IA is open.
  const DAT_IA_ATTR& attributes() const { return attributes_; }
  DAT_IA_ADDRESS_PTR address() const { return attributes_.ia_address_ptr; }
  // For the owners of the IA's objects.
  IaLife life() const { return life_; }

 private:
  void Reset();

  std::string name_;
  DAT_IA_HANDLE handle_ = DAT_HANDLE_NULL;
  DAT_EVD_HANDLE async_evd_ = DAT_HANDLE_NULL;
  DAT_IA_ATTR attributes_{};
  std::shared_ptr<const void> life_;  // exists while the IA is open
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
