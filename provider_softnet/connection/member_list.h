// SPDX-License-Identifier: BSD-3-Clause
// A list of objects that hold their own links, so that joining needs no memory and leaving no
// search.
#ifndef SOFTDAT_PROVIDER_SOFTNET_CONNECTION_MEMBER_LIST_H_
#define SOFTDAT_PROVIDER_SOFTNET_CONNECTION_MEMBER_LIST_H_

namespace softdat::softnet {

// The links of a T, which derives from it.
template <typename T>
class Member {
 public:
  bool listed() const { return listed_; }

 protected:
  Member() = default;
  Member(const Member&) = delete;
  Member& operator=(const Member&) = delete;
  ~Member() = default;

 private:
  template <typename>
  friend class MemberList;
  T* previous_ = nullptr;
  T* next_ = nullptr;
  bool listed_ = false;
};

// Borrows its members. Each is in at most one list of this type.
template <typename T>
class MemberList {
 public:
  // Both do nothing if that is so already.
  void Add(T* object) {
    Member<T>* const member = object;
    if (member->listed_) return;
    member->listed_ = true;
    member->previous_ = nullptr;
    member->next_ = first_;
    if (first_ != nullptr) Links(first_).previous_ = object;
    first_ = object;
  }
  void Remove(T* object) {
    Member<T>* const member = object;
    if (!member->listed_) return;
    member->listed_ = false;
    (member->previous_ != nullptr ? Links(member->previous_).next_ : first_) = member->next_;
    if (member->next_ != nullptr) Links(member->next_).previous_ = member->previous_;
  }
  // `function` neither adds nor removes.
  template <typename Function>
  void ForEach(Function&& function) {
    for (T* object = first_; object != nullptr; object = Links(object).next_) function(object);
  }

 private:
  static Member<T>& Links(T* object) { return *object; }

  T* first_ = nullptr;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_CONNECTION_MEMBER_LIST_H_
