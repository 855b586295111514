// SPDX-License-Identifier: BSD-3-Clause
// Registered memory: regions, windows, and the triplets that name parts of them.
#ifndef SOFTDAT_DAT_CLIENT_MEMORY_H_
#define SOFTDAT_DAT_CLIENT_MEMORY_H_

#include <netinet/in.h>  // needed by OFA's dat_ib_extensions.h

#include <cstddef>
#include <cstdint>

#include "dat/client/ia.h"
#include "dat/client/owned.h"
#include "dat/client/result.h"
#include "dat2/dat_ib_extensions.h"
#include "dat2/udat.h"

namespace softdat::client {

// Names memory of the peer, from the peer's own description of it.
inline DAT_RMR_TRIPLET RemoteSegment(uint64_t address, DAT_RMR_CONTEXT context, size_t bytes) {
  DAT_RMR_TRIPLET triplet{};
  triplet.virtual_address = address;
  triplet.segment_length = static_cast<DAT_SEG_LENGTH>(bytes);
  triplet.rmr_context = context;
  return triplet;
}

// All privileges, including atomics. An adapter without atomics refuses them.
inline constexpr int kEverythingAndAtomics =
    int{DAT_MEM_PRIV_ALL_FLAG} | int{DAT_IB_MEM_PRIV_REMOTE_ATOMIC};

// A local memory region over memory of the program, which stays the program's. It must be freed
// after the windows that are bound to it.
class Lmr : public Owned<dat_lmr_free, "dat_lmr_free"> {
 public:
  // Registers `bytes` at `data`. This memory must stay mapped until the region is freed.
  // `privileges`: DAT_MEM_PRIV_*_FLAG, or-ed. Fails like dat_lmr_create. (semantics 7.2)
  Result Register(const Ia& ia, const Pz& pz, void* data, size_t bytes,
                  int privileges = DAT_MEM_PRIV_ALL_FLAG);

  // The same, but to peers the first byte has the address 0.
  Result RegisterZeroBased(const Ia& ia, const Pz& pz, void* data, size_t bytes, int privileges);

  // Names `bytes` from `offset` on, for a post on this IA and for a peer. Does not check bounds.
  DAT_LMR_TRIPLET Local(size_t offset, size_t bytes) const;
  DAT_RMR_TRIPLET Remote(size_t offset, size_t bytes) const {
    return RemoteSegment(address_ + offset, remote_context_, bytes);
  }
  // The address of the first byte, as posts and peers know it.
  uint64_t address() const { return address_; }
  DAT_RMR_CONTEXT rmr_context() const { return remote_context_; }

 private:
  Result Register(const Ia& ia, const Pz& pz, void* data, size_t bytes, int privileges,
                  DAT_VA_TYPE kind);

  uint64_t address_ = 0;
  DAT_LMR_CONTEXT local_context_ = 0;
  DAT_RMR_CONTEXT remote_context_ = 0;
};

// Memory of its own, in whole pages, that can be registered as one region.
class Memory {
 public:
  Memory() = default;
  Memory(Memory&& other) noexcept;
  Memory& operator=(Memory&& other) noexcept;
  ~Memory() { Reset(); }

  // Maps `bytes`, filled with zeros, and frees what was mapped before. Returns false, with errno,
  // if there is no memory.
  bool Map(size_t bytes);
  // Registers all of it. Fails like Lmr::Register(), and the memory then stays mapped.
  Result Register(const Ia& ia, const Pz& pz, int privileges = DAT_MEM_PRIV_ALL_FLAG) {
    return lmr_.Register(ia, pz, data_, size_, privileges);
  }
  // Frees the region. The memory stays mapped.
  Result Deregister() { return lmr_.Free(); }
  // Frees the region and then the memory.
  void Reset();

  uint8_t* data() const { return data_; }
  size_t size() const { return size_; }  // bytes
  uint64_t address() const { return reinterpret_cast<uintptr_t>(data_); }
  const Lmr& lmr() const { return lmr_; }
  DAT_RMR_CONTEXT rmr_context() const { return lmr_.rmr_context(); }
  DAT_LMR_TRIPLET Local(size_t offset, size_t bytes) const { return lmr_.Local(offset, bytes); }
  DAT_RMR_TRIPLET Remote(size_t offset, size_t bytes) const { return lmr_.Remote(offset, bytes); }

 private:
  uint8_t* data_ = nullptr;
  size_t size_ = 0;
  Lmr lmr_;
};

// A memory window (RMR). It opens a part of a region to peers until it is bound again or freed. It
// must be freed before the region.
class Window : public Owned<dat_rmr_free, "dat_rmr_free"> {
 public:
  // Same as dat_rmr_create. DAT_MODEL_NOT_SUPPORTED if the IA has no windows. (semantics 7.3)
  Result Create(const Pz& pz) {
    return Make("dat_rmr_create", pz.life(),
                [&](DAT_RMR_HANDLE* handle) { return dat_rmr_create(pz, handle); });
  }
  // Posts a request on `ep` that binds the window to `bytes` of `lmr` from `offset` on. With 0
  // bytes it unbinds the window. Fails like dat_rmr_bind. The request completes on the request EVD
  // of `ep` with `cookie`. Remote() names the new binding at once. (semantics 7.3)
  Result Bind(const Lmr& lmr, size_t offset, size_t bytes, int privileges, DAT_EP_HANDLE ep,
              uint64_t cookie, DAT_COMPLETION_FLAGS flags = DAT_COMPLETION_DEFAULT_FLAG);
  const DAT_RMR_TRIPLET& Remote() const { return remote_; }

 private:
  DAT_RMR_TRIPLET remote_{};
};

}  // namespace softdat::client

#endif  // SOFTDAT_DAT_CLIENT_MEMORY_H_
