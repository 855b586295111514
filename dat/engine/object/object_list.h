// SPDX-License-Identifier: BSD-3-Clause
// The objects that were made on one IA and still exist.
#ifndef SOFTDAT_DAT_ENGINE_OBJECT_OBJECT_LIST_H_
#define SOFTDAT_DAT_ENGINE_OBJECT_OBJECT_LIST_H_

#include <mutex>
#include <vector>

#include "dat/engine/object/object.h"

namespace softdat::engine {

// Any thread.
class ObjectList {
 public:
  // Only Object calls these two, when it is published and at its end.
  void Link(Object* object);
  void Unlink(Object* object);

  // The handle of an object for which `wanted(object)` is true. NULL when there is none. The list
  // is locked meanwhile, so `wanted` only looks at the object.
  template <typename Wanted>
  DAT_HANDLE Find(const Wanted& wanted) {
    const std::lock_guard lock(mu_);
    for (Object* o = first_; o != nullptr; o = o->next_in_list_) {
      if (wanted(*o)) return o->handle();
    }
    return DAT_HANDLE_NULL;
  }
  // All objects of one type that exist now; some may be in the middle of being freed.
  std::vector<Ref<Object>> OfType(DAT_HANDLE_TYPE type);
  // Retires and destroys all objects of one type, whatever depends on them. When it returns, those
  // that another thread was freeing are gone too.
  void DestroyAll(DAT_HANDLE_TYPE type);

  // To be called around fork(), so that the list is not in the middle of a change.
  void Lock() { mu_.lock(); }
  void Unlock() { mu_.unlock(); }
  // To be called in the child, with the list locked. All handles die.
  void KillHandles();

 private:
  // An object of the type that this thread may destroy now. `*left` says whether any object of the
  // type is still linked (another thread may be freeing it).
  Object* RetireFirst(DAT_HANDLE_TYPE type, bool* left);

  std::mutex mu_;  // protects the links of all objects in the list; a leaf lock
  Object* first_ = nullptr;
};

}  // namespace softdat::engine

#endif  // SOFTDAT_DAT_ENGINE_OBJECT_OBJECT_LIST_H_
