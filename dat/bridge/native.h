// SPDX-License-Identifier: BSD-3-Clause
// Providers of uDAPL 1.2 itself, which need no bridge. dat.conf names them in lines with u1.2, or
// they announce themselves. Their objects keep the handles that the provider gives. Their IAs are
// numbers.
//
//   IA of a bridged provider   4097 to  8191 (handles.h)
//   IA of a native one         8193 to 12287
#ifndef SOFTDAT_DAT_BRIDGE_NATIVE_H_
#define SOFTDAT_DAT_BRIDGE_NATIVE_H_

#include <cstdint>

#include "dat/bridge/dat12.h"
#include "dat/bridge/handles.h"
#include "dat/bridge/refused.h"

namespace softdat::bridge {

using Table = dat12::DAT_PROVIDER;

inline constexpr uintptr_t kNativeIaMark = 2 * kIaMark;

// The table of a native provider's object. NULL for everything else, even junk.
const Table* FindNativeTable(Handle object);
// Whether that table has the entry for extensions.
bool HasNativeExtensions(Handle object);
// The object behind a native IA's number. NULL when there is none.
Handle FindNativeIa(Handle ia);
// Translates both ways between a native provider's IA and its number. NULL for anything else.
Handle FindOtherNativeIa(Handle handle);
// To be called after a native object was freed. What was known of its address is no longer true.
void ForgetNative(Handle object);

// A call on an object, if the object belongs to a native provider.
class Native {
 public:
  [[gnu::always_inline]] explicit Native(Handle object)
      : object_(object), table_(IsBridged(object) ? nullptr : FindNativeTable(object)) {}

  explicit operator bool() const { return table_ != nullptr; }

  template <auto kSlot, typename... Args>
  dat12::DAT_RETURN Call(Args... args) const {
    const auto function = table_->*kSlot;
    if (function == nullptr) return NotImplementedByProvider();
    return function(object_, args...);
  }

  // The same for a call that frees the object when it succeeds.
  template <auto kSlot>
  dat12::DAT_RETURN CallLast() const {
    const dat12::DAT_RETURN result = Call<kSlot>();
    if (result == dat12::DAT_SUCCESS) ForgetNative(object_);
    return result;
  }

  Handle object() const { return object_; }

 protected:
  Native(Handle object, const Table* table) : object_(object), table_(table) {}

  static bool IsBridged(Handle handle) {
    Handle unused = nullptr;
    return IsObject(handle, &unused);
  }
  static bool IsNativeIa(Handle handle) {
    const auto value = reinterpret_cast<uintptr_t>(handle);
    return value > kNativeIaMark && value < kNativeIaMark + kIaMark;
  }
  static const Table* TableOfIa(Handle object) {
    return object != nullptr ? FindNativeTable(object) : nullptr;
  }

  static dat12::DAT_RETURN NotImplementedByProvider() {
    return Refused(dat12::DAT_NOT_IMPLEMENTED, "the provider does not implement this call");
  }

  Handle object_;
  const Table* table_;
};

// The same for a call on an IA.
class NativeIa : public Native {
 public:
  explicit NativeIa(Handle ia) : NativeIa(ia, IsNativeIa(ia) ? FindNativeIa(ia) : nullptr) {}

 private:
  NativeIa(Handle /*ia*/, Handle object) : Native(object, TableOfIa(object)) {}
};

// The same for a call on any kind of object, including an IA.
class NativeAny : public Native {
 public:
  explicit NativeAny(Handle handle) : Native(IsNativeIa(handle) ? FindNativeIa(handle) : handle) {}
};

// Whether some provider of 1.2 has this name. That provider then serves it, and no provider of 2.0
// does.
bool IsNativeName(const char* name);
dat12::DAT_RETURN OpenNative(const dat12::DAT_NAME_PTR name, dat12::DAT_COUNT async_qlen,
                             dat12::DAT_EVD_HANDLE* async_evd, dat12::DAT_IA_HANDLE* ia,
                             dat12::DAT_UINT32 major, dat12::DAT_UINT32 minor,
                             dat12::DAT_BOOLEAN thread_safety);
// Whether the number stands for a native IA, open or not.
bool IsNativeIaNumber(dat12::DAT_IA_HANDLE ia);
dat12::DAT_RETURN CloseNative(dat12::DAT_IA_HANDLE ia, dat12::DAT_CLOSE_FLAGS flags);

}  // namespace softdat::bridge

#endif  // SOFTDAT_DAT_BRIDGE_NATIVE_H_
