// SPDX-License-Identifier: BSD-3-Clause
// The base of every DAT object: its handle, its life, and how objects keep each other alive.
//
// There are three counts, each with one meaning:
//   pins   (in the cell) DAT calls and upcalls that use the object at this moment; it is torn down
//          when they have left
//   uses_  objects that depend on this one, in the sense of the in-use rules (semantics 3.1);
//          negative once the object is being freed
//   refs_  holders of the memory: the handle, and Ref<> members of other objects
//
// Who tears a freed object down? Normally it is the call that frees it, after it has waited for the
// others to leave. Its caller may then rely on the object being gone. Inside a consumer's agent
// nobody may wait (see ConsumerCall), so there it is whoever drops the last pin. Pins of upcalls
// that this very thread is in do not count, because an object may be destroyed inside an upcall of
// its own.
#ifndef SOFTDAT_DAT_ENGINE_OBJECT_OBJECT_H_
#define SOFTDAT_DAT_ENGINE_OBJECT_OBJECT_H_

#include <atomic>
#include <utility>

#include "dat/base/thread_local.h"
#include "dat/engine/object/handle.h"

namespace softdat::engine {

class IaCore;

class Object {
 public:
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;

  DAT_HANDLE handle() const { return cell_; }
  DAT_HANDLE_TYPE type() const { return type_; }
  // The IA that the object belongs to; for an IA the IA itself. Valid while the object is pinned or
  // linked.
  IaCore& ia() const { return *ia_; }

  // Gives the object its handle before anybody can see it, for objects that must tell it to the
  // back end. Returns false when no handle is left.
  bool ReserveHandle();
  // Makes the object visible to the consumer, links it into its IA, and counts it there as created.
  // Returns false when no handle is left.
  bool Publish();
  // Ends an object that was never published: returns the handle and the first reference.
  void Discard();

  // Registers one more dependant. Returns false when the object is being freed. DropUse() ends it.
  bool AddUse();
  void DropUse() { uses_.fetch_sub(1, std::memory_order_acq_rel); }

  // The first half of a free. It succeeds for exactly one caller, and only while nothing depends on
  // the object. Afterwards the handle is dead. It counts as a free.
  bool Retire();
  // The same, whatever depends on the object, and without a count (close of the IA, or a creation
  // that fails late).
  bool RetireAnyway();
  // The second half, after a successful Retire. It ensures that the object is torn down and the
  // handle's reference dropped (see above). `own_pins` are the pins of the calling DAT call.
  void Destroy(uint32_t own_pins);

  // Ends a pin of a DAT call. `object` is not touched unless the pin keeps it.
  static void Unpin(Cell* cell, Object* object) {
    if (UnpinCell(cell)) [[unlikely]]
      object->Finish();
  }

  // The event that names the object to its consumer was discarded, so nobody will ever hear of it.
  // The caller has pinned the object once.
  virtual void OnUnseen() {}

  void AddRef() { refs_.fetch_add(1, std::memory_order_relaxed); }
  void DropRef() {
    if (refs_.fetch_sub(1, std::memory_order_acq_rel) == 1) [[unlikely]]
      Delete();
  }

  // dat_set_consumer_context. Any thread; the last one wins.
  std::atomic<DAT_UINT64> consumer_context{0};

 protected:
  // `cell`: where the object will be published, or null. It is the object's from now on.
  Object(IaCore* ia, DAT_HANDLE_TYPE type, Cell* cell = nullptr)
      : ia_(ia), type_(type), cell_(cell) {}
  virtual ~Object() = default;

  // Gives back everything except the object's own memory: back-end objects, uses of other objects.
  // Called once, with no lock held and no call inside the object.
  virtual void Teardown() = 0;
  // Whether Publish counts the object. Otherwise its class counts it when its creation has
  // succeeded.
  virtual bool CreatedWhenPublished() const { return true; }
  // The object is retired. This ends the waits inside it, because otherwise nobody would ever
  // leave.
  virtual void EndWaits() {}

  // Calls no longer find the object. Returns false when that was so before.
  bool KillHandle();

 private:
  friend class ObjectList;
  friend class UpcallPin;

  void Finish();
  // Not inline. Where a reference is dropped on a data path, the destructors of its object would
  // cost instructions even if they do not run.
  void Delete();

  IaCore* const ia_;
  const DAT_HANDLE_TYPE type_;
  Cell* cell_;
  std::atomic<int32_t> uses_{0};
  std::atomic<int32_t> refs_{1};
  // Links of the IA's list of objects, protected by the mutex of the list.
  Object* next_in_list_ = nullptr;
  Object* prev_in_list_ = nullptr;
};

// An object that is being made. If its creation fails, by a return or by an exception, it goes away
// with all that it has. If it succeeds, the object belongs to the consumer alone.
template <typename T>
class Draft {
 public:
  explicit Draft(T* object) : object_(object) {}
  ~Draft() {
    if (object_ == nullptr) return;
    if (!published_) {
      object_->Discard();
    } else if (object_->RetireAnyway()) {
      object_->Destroy(0);
    }
  }
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;

  bool Publish() { return published_ = object_->Publish(); }
  // The creation has succeeded.
  T* Finish() { return std::exchange(object_, nullptr); }

  T* get() const { return object_; }
  T* operator->() const { return object_; }

 private:
  T* object_;
  bool published_ = false;
};

// Keeps an object's memory. It says nothing about the object's life.
template <typename T>
class Ref {
 public:
  Ref() = default;
  explicit Ref(T* object) : object_(object) {
    if (object_ != nullptr) object_->AddRef();
  }
  Ref(const Ref& other) : Ref(other.object_) {}
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() {
    if (object_ != nullptr) object_->DropRef();
  }

  T* get() const { return object_; }
  T* operator->() const { return object_; }
  T& operator*() const { return *object_; }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  T* object_ = nullptr;
};

// A reference that also counts as a use. While it exists, the consumer cannot free the object.
template <typename T>
class Use {
 public:
  Use() = default;
  // Empty when `object` is null or is being freed.
  explicit Use(T* object) {
    if (object != nullptr && object->AddUse()) ref_ = Ref<T>(object);
  }
  Use(Use&& other) noexcept : ref_(std::move(other.ref_)) {}
  Use& operator=(Use&& other) noexcept {
    std::swap(ref_, other.ref_);
    return *this;
  }
  ~Use() {
    if (ref_) ref_->DropUse();
  }

  void Reset() { *this = Use(); }
  T* get() const { return ref_.get(); }
  T* operator->() const { return ref_.get(); }
  T& operator*() const { return *ref_; }
  explicit operator bool() const { return static_cast<bool>(ref_); }

 private:
  Ref<T> ref_;
};

// The object behind a consumer's handle, for the length of one call. Empty for a junk, stale or
// wrong handle.
template <typename T>
class Pinned {
 public:
  explicit Pinned(const void* handle)
      : cell_(PinHandle(handle, T::kHandleType)),
        object_(cell_ != nullptr ? static_cast<T*>(cell_->object) : nullptr) {}
  // Inline even where an exception passes, because an object with an address would be kept in
  // memory.
  [[gnu::always_inline]] ~Pinned() {
    if (cell_ != nullptr) Object::Unpin(cell_, object_);  // the call may have freed the object
  }
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;

  T* get() const { return object_; }
  T* operator->() const { return object_; }
  T& operator*() const { return *object_; }
  explicit operator bool() const { return cell_ != nullptr; }

 private:
  Cell* const cell_;
  T* const object_;
};

// The object of an upcall, or of an event that is pushed from an upcall, pinned for the length of
// that upcall. If an agent on another thread frees the object meanwhile, it is torn down when the
// upcall is over. If an agent on this thread frees it, it is torn down at once, but the memory
// stays until this pin ends. Empty when the object is already being freed, because the upcall then
// has nobody to tell.
class UpcallPin {
 public:
  explicit UpcallPin(Object* object);
  ~UpcallPin();
  UpcallPin(const UpcallPin&) = delete;
  UpcallPin& operator=(const UpcallPin&) = delete;

  explicit operator bool() const { return pinned_; }

  // The number of pins on `cell` that the upcalls of this thread hold.
  static uint32_t CountOnThisThread(const Cell* cell);

 private:
  const Ref<Object> object_;
  Cell* const cell_;
  const bool pinned_;
  UpcallPin* const outer_;

  static constinit thread_local UpcallPin* innermost_ SOFTDAT_EARLY_TLS;
};

// The same for calls that take any handle.
class AnyPinned {
 public:
  explicit AnyPinned(const void* handle)
      : cell_(CellOf(handle)), object_(PinAnyHandle(handle, &type_)) {}
  ~AnyPinned() {
    if (object_ != nullptr) Object::Unpin(cell_, object_);
  }
  AnyPinned(const AnyPinned&) = delete;
  AnyPinned& operator=(const AnyPinned&) = delete;

  Object* operator->() const { return object_; }
  Object& operator*() const { return *object_; }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  DAT_HANDLE_TYPE type_{};
  Cell* const cell_;
  Object* const object_;
};

}  // namespace softdat::engine

#endif  // SOFTDAT_DAT_ENGINE_OBJECT_OBJECT_H_
