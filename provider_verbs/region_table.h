// SPDX-License-Identifier: BSD-3-Clause
// The registered regions of an adapter by local key. With it a post can refuse a wrong segment
// before the device breaks the connection because of it, and inline sends (whose keys no device
// checks) obey the same rules. Lookups take no lock: this is an open-addressed table of entries
// with sequence numbers.
#ifndef SOFTDAT_PROVIDER_VERBS_REGION_TABLE_H_
#define SOFTDAT_PROVIDER_VERBS_REGION_TABLE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "dat/base/status.h"
#include "dat/transport/transport.h"

namespace softdat::verbs {

struct RegionEntry {
  uint64_t first = 0;   // address of the first byte, as triplets give it
  uint64_t length = 0;  // bytes
  const void* pd = nullptr;
  bool writable = false;    // local write
  bool zero_based = false;  // triplet addresses are offsets
};

class RegionTable {
 public:
  RegionTable();

  // Key 0 cannot be added (it marks free entries).
  void Add(uint32_t key, const RegionEntry& entry);
  void Remove(uint32_t key);
  // Any thread, without a lock.
  std::optional<RegionEntry> Find(uint32_t key) const;

  // Grows whenever a result of Find may no longer hold.
  uint32_t generation() const { return generation_.load(std::memory_order_acquire); }

  // The rules for a local segment of non-zero length (semantics 10.1): kOk, kProtection,
  // kPrivileges, kOutOfBounds. With `pd` null any domain will do. Sets `*zero_based` for a
  // zero-based region.
  Code Check(const DAT_LMR_TRIPLET& segment, const void* pd, bool write, bool* zero_based) const;

 private:
  struct Slot {
    std::atomic<uint32_t> version{0};  // odd while it changes
    std::atomic<uint32_t> key{0};
    std::atomic<uint64_t> first{0};
    std::atomic<uint64_t> length{0};
    std::atomic<const void*> pd{nullptr};
    std::atomic<uint32_t> flags{0};
  };
  struct Table {
    explicit Table(size_t size) : mask(size - 1), slots(size) {}
    const size_t mask;  // size - 1; the size is a power of two
    std::vector<Slot> slots;
  };
  static constexpr uint32_t kRemoved = UINT32_MAX;

  static size_t Hash(uint32_t key) { return key * 0x9E3779B1u >> 7; }
  static void Store(Slot& slot, uint32_t key, const RegionEntry& entry);
  static RegionEntry Load(const Slot& slot);
  void AddLocked(Table& table, uint32_t key, const RegionEntry& entry);
  void GrowLocked();

  std::mutex mutex_;  // serialises changes
  std::atomic<uint32_t> generation_{0};
  // All tables that ever existed, because readers may still be in an outgrown one.
  std::vector<std::unique_ptr<Table>> tables_;
  std::atomic<Table*> current_;
  size_t used_ = 0;  // entries of the current table that are not free, including removed ones
  size_t live_ = 0;
};

// The rules for a segment in a region that was found. `*zero_based` as above.
inline Code CheckIn(const RegionEntry& region, const DAT_LMR_TRIPLET& segment, const void* pd,
                    bool write, bool* zero_based) {
  if (pd != nullptr && region.pd != pd) return Code::kProtection;
  const uint64_t offset = segment.virtual_address - region.first;
  if (offset > region.length || segment.segment_length > region.length - offset)
    return Code::kOutOfBounds;
  if (write && !region.writable) return Code::kPrivileges;
  *zero_based |= region.zero_based;
  return Code::kOk;
}

// The region that a queue used last. Most posts of a queue name the same region. May be used only
// with the queue's lock held.
class RegionCache {
 public:
  // Same as RegionTable::Check. `pd` must be the same each time, unless Forget() was called.
  Code Check(const RegionTable& table, const DAT_LMR_TRIPLET& segment, const void* pd, bool write,
             bool* zero_based) {
    if (segment.lmr_context != key_ || table.generation() != generation_) [[unlikely]] {
      if (!Fetch(table, segment.lmr_context, pd)) return Code::kProtection;
    }
    return CheckIn(entry_, segment, pd, write, zero_based);
  }
  // Whether a non-empty segment may be read and lies in that region, which is not zero-based. False
  // may also mean that the segment names another region.
  bool Covers(const RegionTable& table, const DAT_LMR_TRIPLET& segment) const {
    if (segment.lmr_context != key_ || table.generation() != generation_) return false;
    const uint64_t offset = segment.virtual_address - entry_.first;
    return offset <= plain_length_ && segment.segment_length <= plain_length_ - offset;
  }
  void Forget() { key_ = 0, plain_length_ = 0; }

 private:
  bool Fetch(const RegionTable& table, uint32_t key, const void* pd);

  uint32_t key_ = 0;  // 0: none
  uint32_t generation_ = 0;
  RegionEntry entry_;
  uint64_t plain_length_ = 0;  // the region's length if Covers() need check no more, otherwise 0
};

}  // namespace softdat::verbs

#endif  // SOFTDAT_PROVIDER_VERBS_REGION_TABLE_H_
