// SPDX-License-Identifier: BSD-3-Clause
// The objects of an IA, one by one and by type.
#include "dat/engine/object/object_list.h"

#include <sched.h>

namespace softdat::engine {

void ObjectList::Link(Object* object) {
  const std::lock_guard lock(mu_);
  object->next_in_list_ = first_;
  if (first_ != nullptr) first_->prev_in_list_ = object;
  first_ = object;
}

void ObjectList::Unlink(Object* object) {
  const std::lock_guard lock(mu_);
  if (object->prev_in_list_ != nullptr) {
    object->prev_in_list_->next_in_list_ = object->next_in_list_;
  } else {
    first_ = object->next_in_list_;
  }
  if (object->next_in_list_ != nullptr)
    object->next_in_list_->prev_in_list_ = object->prev_in_list_;
  object->next_in_list_ = object->prev_in_list_ = nullptr;
}

std::vector<Ref<Object>> ObjectList::OfType(DAT_HANDLE_TYPE type) {
  std::vector<Ref<Object>> found;
  const std::lock_guard lock(mu_);
  for (Object* o = first_; o != nullptr; o = o->next_in_list_) {
    if (o->type() == type) found.emplace_back(o);
  }
  return found;
}

Object* ObjectList::RetireFirst(DAT_HANDLE_TYPE type, bool* left) {
  const std::lock_guard lock(mu_);
  *left = false;
  for (Object* o = first_; o != nullptr; o = o->next_in_list_) {
    if (o->type() != type) continue;
    *left = true;
    if (o->RetireAnyway()) return o;
  }
  return nullptr;
}

void ObjectList::DestroyAll(DAT_HANDLE_TYPE type) {
  for (;;) {
    bool left = false;
    Object* object = RetireFirst(type, &left);
    if (object != nullptr) {
      object->Destroy(0);
    } else if (!left) {
      return;
    } else {
      sched_yield();  // another thread is in the middle of freeing it
    }
  }
}

void ObjectList::KillHandles() {
  for (Object* o = first_; o != nullptr; o = o->next_in_list_) o->KillHandle();
}

}  // namespace softdat::engine
