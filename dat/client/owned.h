// SPDX-License-Identifier: BSD-3-Clause
// A handle with an owner. All objects of an IA have this in common: who frees them, and when nobody
// needs to any more.
#ifndef SOFTDAT_DAT_CLIENT_OWNED_H_
#define SOFTDAT_DAT_CLIENT_OWNED_H_

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>

#include "dat/client/result.h"
#include "dat2/udat.h"

namespace softdat::client {

// Whether an IA is open. It has expired when the IA is closed.
using IaLife = std::weak_ptr<const void>;

// The name of a DAT call as a template argument.
template <size_t kSize>
struct CallName {
  constexpr CallName(const char (&name)[kSize]) { std::copy_n(name, kSize, text); }
  char text[kSize];
};

// Owns a handle of any kind except IA, and converts to the handle, so that every call of
// dat2/udat.h takes it.
//
// An object must be freed before those that it refers to: an EP before its EVDs, memory before its
// zone, a CNO after its EVDs (semantics 3.1). Members of a class are destroyed in reverse order, so
// they are declared in the order in which the objects are made. Closing an IA destroys all its
// objects. Their owners then have nothing left to free, in whatever order they are destroyed.
//
// One thread at a time. Other threads may use the object itself meanwhile, as DAT allows.
template <auto kFree, CallName kFreeCall>
class Owned {
 public:
  Owned() = default;
  Owned(Owned&& other) noexcept
      : handle_(std::exchange(other.handle_, DAT_HANDLE_NULL)), life_(std::move(other.life_)) {}
  Owned& operator=(Owned&& other) noexcept {
    if (this == &other) return *this;
    Reset();
    handle_ = std::exchange(other.handle_, DAT_HANDLE_NULL);
    life_ = std::move(other.life_);
    return *this;
  }
  // Errors are ignored, because the owner dies in any case. Call Free() first to see them.
  ~Owned() { Reset(); }

  operator DAT_HANDLE() const { return handle_; }
  DAT_HANDLE get() const { return handle_; }

  // Frees the object. Succeeds if there is none, or if its IA is closed. After a failure the object
  // still exists.
  Result Free() {
    if (handle_ == DAT_HANDLE_NULL) return {};
    const Result result(kFreeCall.text, life_.expired() ? DAT_RETURN{DAT_SUCCESS} : kFree(handle_));
    if (result == DAT_SUCCESS) Release();
    return result;
  }
  void Reset() {
    static_cast<void>(Free());
    Release();
  }
  // Gives the object away, to another owner.
  DAT_HANDLE Release() {
    life_.reset();
    return std::exchange(handle_, DAT_HANDLE_NULL);
  }
  const IaLife& life() const { return life_; }

 protected:
  // Runs `create` with the place for the handle. Frees the object that was owned before.
  template <typename Create>
  Result Make(const char* call, const IaLife& life, Create create) {
    Reset();
    const Result result(call, create(&handle_));
    if (!result.ok()) handle_ = DAT_HANDLE_NULL;
    if (result.ok()) life_ = life;
    return result;
  }

 private:
  DAT_HANDLE handle_ = DAT_HANDLE_NULL;
  IaLife life_;
};

}  // namespace softdat::client

#endif  // SOFTDAT_DAT_CLIENT_OWNED_H_
