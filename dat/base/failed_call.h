// SPDX-License-Identifier: BSD-3-Clause
// What a failed call leaves in the log: the call with its arguments, what it returned, and the
// chain of reasons. This code knows neither version of DAT: it recognises the structures of both by
// the names of their members.
#ifndef SOFTDAT_DAT_BASE_FAILED_CALL_H_
#define SOFTDAT_DAT_BASE_FAILED_CALL_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

namespace softdat {

// The arguments of one call as text: numbers, addresses, names, and the segments of a post. The
// segments are read with care, since the call may have failed because they point nowhere.
class ArgumentText {
 public:
  template <typename T>
  void Add(const T& value) {
    if constexpr (std::is_same_v<T, char*>) {
      AddName(value);
    } else if constexpr (requires { value->lmr_context + value->segment_length; }) {
      AddSegments(value, count_);
    } else if constexpr (requires { value->rmr_context + value->segment_length; }) {
      AddRemote(value);
    } else if constexpr (std::is_pointer_v<T>) {
      AddAddress(reinterpret_cast<uintptr_t>(value));
    } else if constexpr (std::is_enum_v<T>) {
      AddHex(static_cast<std::underlying_type_t<T>>(value));
    } else if constexpr (std::is_signed_v<T>) {
      AddNumber(value);
    } else if constexpr (std::is_integral_v<T>) {
      AddHex(value);
    } else if constexpr (requires { value.as_64; }) {
      AddHex(value.as_64);
    } else if constexpr (requires { value.for_va; }) {
      AddAddress(reinterpret_cast<uintptr_t>(value.for_va));
    } else {
      AddAddress(reinterpret_cast<uintptr_t>(value.proxy_agent_func));
    }
    // A number in front of a list of segments is the length of that list. Without one, the list has
    // one segment.
    count_ = 1;
    if constexpr (std::is_same_v<T, int>) count_ = value;
  }
  const std::string& text() const { return text_; }

 private:
  static constexpr int kMostSegments = 4;

  template <typename T>
  void AddSegments(const T* segments, int count) {
    AddAddress(reinterpret_cast<uintptr_t>(segments));
    std::string list;
    for (int i = 0; i < count && i < kMostSegments; ++i) {
      T segment;
      if (!ReadSafely(segments + i, &segment, sizeof(segment))) return;
      if (i > 0) list += ' ';
      list += SegmentText(segment.virtual_address, segment.segment_length, segment.lmr_context);
    }
    if (count > kMostSegments) list += " ...";
    if (!list.empty()) text_ += " [" + list + "]";
  }
  template <typename T>
  void AddRemote(const T* remote) {
    AddAddress(reinterpret_cast<uintptr_t>(remote));
    T copy;
    if (!ReadSafely(remote, &copy, sizeof(copy))) return;
    text_ += " [" + SegmentText(Start(copy), copy.segment_length, copy.rmr_context) + "]";
  }
  template <typename T>
  static uint64_t Start(const T& remote) {
    if constexpr (requires { remote.target_address; }) return remote.target_address;  // 1.2
    if constexpr (requires { remote.virtual_address; }) return remote.virtual_address;
  }
  // Copies `n` bytes from where a consumer points. Returns false when no memory is mapped there.
  static bool ReadSafely(const void* from, void* to, size_t n);
  static std::string SegmentText(uint64_t address, uint64_t length, uint32_t context);
  void AddName(const char* name);
  void AddAddress(uintptr_t address);
  void AddHex(uint64_t value);
  void AddNumber(int64_t value);
  std::string* Next();  // where the next argument is appended

  std::string text_;
  int count_ = 1;
};

// Separates the reasons of this call from those of an earlier failure, which are put back when this
// call does not fail.
class ReasonsOfCall {
 public:
  ReasonsOfCall();
  ~ReasonsOfCall();
  ReasonsOfCall(const ReasonsOfCall&) = delete;
  ReasonsOfCall& operator=(const ReasonsOfCall&) = delete;
  void Keep() { keep_ = true; }  // the call has failed, so the earlier reasons are dropped

 private:
  const std::string before_;
  bool keep_ = false;
};

// Writes the line, with this thread's reasons. `type` and `subtype` are the texts of dat_strerror
// for `result`.
void LogFailedCall(uint32_t log_bits, const char* call, const std::string& arguments,
                   uint32_t result, const char* type, const char* subtype);

}  // namespace softdat

#endif  // SOFTDAT_DAT_BASE_FAILED_CALL_H_
