// SPDX-License-Identifier: BSD-3-Clause
// Memory regions, windows and their keys, and the checks for every local and every remote access.
// The fabric's lock protects all of it.
#ifndef SOFTDAT_PROVIDER_TOY_MEMORY_H_
#define SOFTDAT_PROVIDER_TOY_MEMORY_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>

#include "dat/transport/transport.h"

namespace softdat::toy {

inline constexpr uint32_t kMaxIov = 16;

// A registered region. It outlives the MemoryRegion object as long as windows or posted binds refer
// to it.
struct RegionState {
  const void* adapter = nullptr;
  const transport::ProtectionDomain* pd = nullptr;
  uint8_t* base = nullptr;
  uint64_t length = 0;
  uint32_t privileges = 0;
  bool zero_based = false;
  bool valid = true;  // false once deregistered
  uint32_t local_key = 0;
  uint32_t remote_key = 0;

  // The address of the first byte, as triplets give it.
  uint64_t first_address() const { return zero_based ? 0 : reinterpret_cast<uintptr_t>(base); }
};

struct WindowState {
  const transport::ProtectionDomain* pd = nullptr;
  bool exclusive_to_qp = false;
  uint32_t key = 0;  // the key of its table entry, also while it is unbound
  bool bound = false;
  // Set while the window is bound:
  std::shared_ptr<RegionState> region;
  uint8_t* base = nullptr;
  uint64_t first_address = 0;
  uint64_t length = 0;
  uint32_t privileges = 0;
  uint64_t qp_number = 0;  // of the queue pair that bound it
};

// Memory in pieces, resolved from triplets.
struct Pieces {
  std::array<std::span<uint8_t>, kMaxIov> piece;
  size_t count = 0;
  uint64_t total = 0;  // bytes

  void Add(std::span<uint8_t> p) {
    piece[count++] = p;
    total += p.size();
  }
};

// Copies `length` bytes in ascending address order. The very last byte is stored last, with release
// semantics, because consumers poll it (semantics 10.3).
void Copy(const Pieces& from, const Pieces& to, uint64_t length);

// Whether the first `length` bytes are still mapped as they were registered. The program may have
// changed that.
bool StillThere(const Pieces& pieces, uint64_t length, bool writes);

// Whether [address, address + length) lies in [first, first + size), for any 64-bit values.
bool Inside(uint64_t address, uint64_t length, uint64_t first, uint64_t size);

// Who makes a remote access, as the target's queue pair identifies it.
struct RemoteAccessor {
  const transport::ProtectionDomain* pd = nullptr;
  uint64_t qp_number = 0;
};

class KeyTable {
 public:
  std::shared_ptr<RegionState> Register(const void* adapter, const transport::ProtectionDomain& pd,
                                        const transport::RegionParameters& p);
  void Deregister(RegionState& region);

  std::shared_ptr<WindowState> CreateWindow(const transport::ProtectionDomain& pd, bool exclusive);
  void DestroyWindow(WindowState& window);
  // Returns a context that no window or region has.
  uint32_t FreshKey();

  // Whether `request` (a kBind) may be carried out over a queue pair of `pd`.
  Code CheckBind(const transport::SendRequest& request, const RegionState* region_or_null,
                 const WindowState& window, const transport::ProtectionDomain* pd) const;
  // To be called after CheckBind. Allocates nothing: the window's table entry moves to the new key.
  void Bind(const transport::SendRequest& request, std::shared_ptr<RegionState> region,
            WindowState& window, uint64_t qp_number);
  static void Unbind(WindowState& window);

  // The window that a peer may invalidate with `key`, or null.
  WindowState* FindWindow(uint32_t key, const RemoteAccessor& who);

  // Resolves local triplets. kProtection, kPrivileges, kOutOfBounds; kInvalidArgument: more than
  // kMaxIov.
  Code ResolveLocal(std::span<const DAT_LMR_TRIPLET> local, const transport::ProtectionDomain* pd,
                    bool writes, Pieces* out) const;

  // The only place where remote accesses are checked: key, protection domain, rights, bounds,
  // 64-bit wrap, window state. Returns false and says why when it refuses.
  bool ResolveRemote(uint32_t key, uint64_t address, uint64_t length, uint32_t right,
                     const RemoteAccessor& who, Pieces* out, std::string* why) const;

  // dat_lmr_sync_*: each segment must lie inside one region of `adapter`.
  Code CheckSegments(std::span<const DAT_LMR_TRIPLET> segments, const void* adapter) const;

 private:
  struct RemoteEntry {  // exactly one is set
    std::shared_ptr<RegionState> region;
    std::shared_ptr<WindowState> window;
  };

  std::unordered_map<uint32_t, std::shared_ptr<RegionState>> local_;
  std::unordered_map<uint32_t, RemoteEntry> remote_;
  uint32_t last_key_ = 0;
};

}  // namespace softdat::toy

#endif  // SOFTDAT_PROVIDER_TOY_MEMORY_H_
