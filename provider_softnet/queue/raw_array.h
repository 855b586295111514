// SPDX-License-Identifier: BSD-3-Clause
// An array whose elements begin to live when something is assigned to them. Its pages stay
// untouched until then, so that an idle queue takes no memory.
#ifndef SOFTDAT_PROVIDER_SOFTNET_QUEUE_RAW_ARRAY_H_
#define SOFTDAT_PROVIDER_SOFTNET_QUEUE_RAW_ARRAY_H_

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>

namespace softdat::softnet {

template <typename T>
class RawArray {
  // Objects of such types come to life without a constructor ([basic.types.general], implicit
  // lifetime).
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);
  static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);

 public:
  // An array without elements.
  RawArray() = default;
  explicit RawArray(size_t count) : data_(static_cast<T*>(::operator new(count * sizeof(T)))) {}
  // Only for an array without elements. Returns false when there is no memory.
  [[nodiscard]] bool Allocate(size_t count) {
    data_.reset(static_cast<T*>(::operator new(count * sizeof(T), std::nothrow)));
    return data_ != nullptr;
  }
  bool allocated() const { return data_ != nullptr; }

  T& operator[](size_t i) { return data_.get()[i]; }
  const T& operator[](size_t i) const { return data_.get()[i]; }
  T* get() const { return data_.get(); }

 private:
  struct Free {
    void operator()(T* data) const { ::operator delete(data); }
  };
  std::unique_ptr<T, Free> data_;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_QUEUE_RAW_ARRAY_H_
