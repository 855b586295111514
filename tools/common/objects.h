// SPDX-License-Identifier: BSD-3-Clause
// DAT objects that are freed when their owner goes.
#ifndef SOFTDAT_TOOLS_COMMON_OBJECTS_H_
#define SOFTDAT_TOOLS_COMMON_OBJECTS_H_

#include <dat2/udat.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "tools/common/outcome.h"

namespace softdat::tools {

// Owns a handle of any kind but IA. Errors of the free are ignored: the owner goes anyway.
template <DAT_RETURN (*kFree)(DAT_HANDLE)>
class Owned {
 public:
  Owned() = default;
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() { Reset(); }

  DAT_HANDLE get() const { return handle_; }
  explicit operator bool() const { return handle_ != DAT_HANDLE_NULL; }
  // For the last argument of a create call.
  DAT_HANDLE* out() {
    Reset();
    return &handle_;
  }
  void Reset() {
    if (handle_ != DAT_HANDLE_NULL) kFree(handle_);
    handle_ = DAT_HANDLE_NULL;
  }

 private:
  DAT_HANDLE handle_ = DAT_HANDLE_NULL;
};

using Pz = Owned<dat_pz_free>;
using Cno = Owned<dat_cno_free>;
using Evd = Owned<dat_evd_free>;
using Ep = Owned<dat_ep_free>;
using Psp = Owned<dat_psp_free>;
using Lmr = Owned<dat_lmr_free>;

// An open adapter; closed abruptly, with everything in it, when it goes.
class Ia {
 public:
  Ia() = default;
  Ia(const Ia&) = delete;
  Ia& operator=(const Ia&) = delete;
  ~Ia() { Close(); }

  Outcome Open(const std::string& name);
  void Close();

  bool is_open() const { return handle_ != DAT_HANDLE_NULL; }
  DAT_IA_HANDLE get() const { return handle_; }
  const std::string& name() const { return name_; }
  // Valid while it is open; all members.
  const DAT_IA_ATTR& attributes() const { return attributes_; }

 private:
  std::string name_;
  DAT_IA_HANDLE handle_ = DAT_HANDLE_NULL;
  DAT_IA_ATTR attributes_{};
};

// Zero-filled memory, registered for everything that the adapter has.
class Memory {
 public:
  Memory() = default;
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory() { Free(); }

  Outcome Allocate(const Ia& ia, const Pz& pz, size_t bytes);
  void Free();

  size_t size() const { return size_; }
  uint8_t* data() const { return data_; }
  DAT_LMR_TRIPLET Local(size_t offset, size_t bytes) const;
  uint64_t address() const { return reinterpret_cast<uintptr_t>(data_); }
  DAT_RMR_CONTEXT rmr_context() const { return rmr_context_; }

 private:
  uint8_t* data_ = nullptr;
  size_t size_ = 0;
  Lmr lmr_;
  DAT_LMR_CONTEXT lmr_context_ = 0;
  DAT_RMR_CONTEXT rmr_context_ = 0;
};

}  // namespace softdat::tools

#endif  // SOFTDAT_TOOLS_COMMON_OBJECTS_H_
