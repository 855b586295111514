// SPDX-License-Identifier: BSD-3-Clause
// Every key (STag) of one adapter, and the one place where an access to memory is judged, whether
// local or remote, over any wire. A key of 24 index bits and 8 key bits names a region or a window
// (RFC 5040 §5.2). The index finds a slot in O(1) without a lock. The key bits change on every
// reuse. Both are drawn at random, so that nobody can infer a key from others that they were told.
//
// Deregistration and placement. Work that is merely queued does not hold memory. It is judged anew
// when its bytes move, and fails then (semantics 7.2). A Pin covers only the copy or system call
// itself. Deregister, Bind, Unbind and Invalidate first make the old key invalid and then wait
// until no pin is left. So after they return, nothing touches the memory through that key.
//   Rule for holders of a pin: no blocking call, and no call into this table except Check and
//   Acquire.
#ifndef SOFTDAT_PROVIDER_SOFTNET_MEMORY_MEMORY_TABLE_H_
#define SOFTDAT_PROVIDER_SOFTNET_MEMORY_MEMORY_TABLE_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace softdat::softnet {

// Privileges, with the values of DAT_MEM_PRIV_* and DAT_IB_MEM_PRIV_REMOTE_ATOMIC.
enum : uint32_t {
  kPrivLocalRead = 0x01,
  kPrivRemoteRead = 0x02,
  kPrivLocalWrite = 0x10,
  kPrivRemoteWrite = 0x20,
  kPrivRemoteAtomic = 0x40,
  kPrivAnyRemote = kPrivRemoteRead | kPrivRemoteWrite | kPrivRemoteAtomic,
};

// What somebody wants to do with memory.
enum class Access : uint8_t {
  kLocalRead,     // source of an own send or write; a region always allows it (semantics 7.2)
  kLocalWrite,    // a receive, or the sink of an own read
  kWindowSink,    // the sink of an own read, named by a window (read to RMR)
  kRemoteRead,    // the peer reads
  kRemoteWrite,   // the peer writes
  kRemoteAtomic,  // the peer's fetch-and-add or compare-and-swap
};

// The verdict. The iWARP engine maps it to a Terminate (0/1/x, 1/1/x) and to a WorkStatus.
enum class AccessError : uint8_t {
  kNone,
  kInvalidKey,        // no such key now: never given out, freed, unbound, a stale generation
  kProtectionDomain,  // key of another protection domain
  kQueuePair,         // window of scope EP that was bound over another queue pair
  kRights,            // privilege missing; or a window in place of a region, or the reverse
  kBounds,            // leaves the region or window
  kWrap,              // offset + length passes 2^64
  kGone,              // the program has taken the memory away under its registration
};

// A fixed text for logs and reasons.
const char* AccessErrorText(AccessError error);

// One access to be judged.
struct AccessRequest {
  uint32_t key = 0;
  uint32_t pd = 0;  // protection domain of the queue pair (or of the SRQ, for its receives)
  uint32_t qp = 0;  // queue pair id; matters only for windows of scope EP
  Access kind = Access::kLocalRead;
  uint64_t offset = 0;  // triplet address / tagged offset: a virtual address, or zero-based
  uint64_t length = 0;  // 0 is judged like any other length; callers skip empty accesses
};

class BriefAccess;
class MemoryTable;

// The right to access memory until it is released. Movable. The release is one atomic decrement
// (two for a window).
class Pin {
 public:
  Pin() = default;
  Pin(Pin&& other) noexcept { *this = std::move(other); }
  Pin& operator=(Pin&& other) noexcept;
  ~Pin() { Release(); }
  Pin(const Pin&) = delete;
  Pin& operator=(const Pin&) = delete;

  void Release() {
    if (second_ != nullptr) Drop(&second_);
    if (first_ != nullptr) Drop(&first_);
  }
  bool held() const { return first_ != nullptr; }
  uint8_t* address() const { return address_; }  // of the first byte asked for

  // Whether this pin already covers another access: same key, pd, qp and kind, inside the same
  // bounds. If so, *address is where its bytes lie. This saves atomics when many segments share one
  // region.
  bool Covers(const AccessRequest& request, uint8_t** address) const {
    return held() && CoversHeld(request, address);
  }

 private:
  friend class MemoryTable;
  bool CoversHeld(const AccessRequest& request, uint8_t** address) const;
  static void Drop(std::atomic<uint64_t>** state) {
    std::exchange(*state, nullptr)->fetch_sub(1, std::memory_order_release);
  }

  std::atomic<uint64_t>* first_ = nullptr;   // state word of the slot of the key
  std::atomic<uint64_t>* second_ = nullptr;  // for a window: state word of its region
  uint8_t* address_ = nullptr;
  AccessRequest request_{};
  uint64_t start_ = 0;   // first valid offset behind the key
  uint64_t length_ = 0;  // bytes behind the key
  uint64_t delta_ = 0;   // address minus offset
};

class MemoryTable {
 public:
  // `check_memory`: Acquire asks the kernel whether the memory is still there
  // (SOFTDAT_CHECK_MEMORY). It does not notice memory that goes away between this check and the end
  // of the access. `random`: 64 bits that nobody else can predict; called under the table's mutex.
  // The default draws the same numbers in each table, so that tests and simulations can be
  // replayed.
  explicit MemoryTable(bool check_memory = false, std::function<uint64_t()> random = Replayed());
  ~MemoryTable();
  MemoryTable(const MemoryTable&) = delete;
  MemoryTable& operator=(const MemoryTable&) = delete;

  // Ids of protection domains and queue pairs: never 0, never used twice.
  uint32_t NewProtectionDomainId() { return next_id_.fetch_add(1, std::memory_order_relaxed); }
  uint32_t NewQueuePairId() { return next_id_.fetch_add(1, std::memory_order_relaxed); }

  // ---- control: any thread, takes the table's mutex, must not be called with a pin held ----

  // Returns the key, or 0 when all slots are taken. The caller has checked that `length` > 0 and
  // that address + length does not wrap. `privileges`: kPriv bits; others are ignored.
  uint32_t RegisterRegion(void* address, uint64_t length, uint32_t privileges, bool zero_based,
                          uint32_t pd);
  // Returns when nothing can access the memory through `key` any more, nor through windows on it.
  // Returns false if `key` is not a live region.
  bool DeregisterRegion(uint32_t key);

  // Returns a key whose index names the window (its current key bits are not live), 0 when full.
  // `exclusive_to_qp`: scope EP.
  uint32_t CreateWindow(uint32_t pd, bool exclusive_to_qp);
  // Unbinds and frees the window. `window` is any key of it, live or not.
  bool DestroyWindow(uint32_t window);
  // A fresh key for the next bind of this window, different from the live one. 0 if there is no
  // such window.
  uint32_t NextWindowKey(uint32_t window);

  struct BindRequest {
    uint32_t key = 0;     // from NextWindowKey
    uint32_t region = 0;  // key of the region; ignored when length is 0
    uint64_t offset = 0;  // start, in the region's own addressing
    uint64_t length = 0;  // 0 = unbind
    // Remote read needs no right of the region. Remote write and atomics need its local write.
    uint32_t privileges = 0;
    bool zero_based = false;  // offsets through the window start at 0
    uint32_t pd = 0;          // of the queue pair that carries the bind
    uint32_t qp = 0;
    uint32_t window = 0;  // from CheckBind: tells apart windows that had this slot in turn
  };
  // Judges a bind without doing it, when it is posted. kNone if it would work now. Fills in
  // `window`.
  AccessError CheckBind(BindRequest* request) const;
  // Does the bind: the old key dies, then the new one lives. On failure the old binding stays. Two
  // things are not failures for a bind that CheckBind has seen. The window may be gone, and then
  // there is nothing left to do. Or the region is gone and a newer key was given out, and then the
  // window is bound to nothing.
  AccessError Bind(const BindRequest& request);
  // Unbinds the window that is live under `key` now, for a peer's send-with-invalidate or an own
  // read to RMR. Judges key, pd and scope. Regions cannot be invalidated (kRights).
  AccessError Invalidate(uint32_t key, uint32_t pd, uint32_t qp);

  // ---- data: any thread, no lock ----

  // Judges an access as of now. Holds nothing. Never returns kGone.
  AccessError Check(const AccessRequest& request) const;
  AccessError CheckInline(const AccessRequest& request) const;  // the same; memory_slot.h
  // Judges an access and takes the pin if it is granted. `pin` must not be held before, and is not
  // held after a refusal.
  AccessError Acquire(const AccessRequest& request, Pin* pin);
  // Whether [offset, offset+length) lies in the live region `key`, whatever its domain
  // (dat_lmr_sync_*; semantics 7.2).
  AccessError CheckInside(uint32_t key, uint64_t offset, uint64_t length) const;

  // Whether `key` names a region or a bound window now (transport::MemoryWindow::IsBound).
  bool IsLive(uint32_t key) const;

  // The number of live regions, and of windows that exist (for limits and leak checks). Any thread.
  uint32_t regions() const { return regions_.load(std::memory_order_relaxed); }
  uint32_t windows() const { return windows_.load(std::memory_order_relaxed); }

 private:
  friend class BriefAccess;
  struct Slot;
  struct View;
  struct Grant;
  struct ThoroughGrant;
  static constexpr uint32_t kChunkBits = 10;
  static constexpr uint32_t kChunkSlots = 1u << kChunkBits;
  static constexpr uint32_t kChunks = (1u << 24) / kChunkSlots;
  // The number of freed indices that rest before one of them is used again. It equals two megabytes
  // of slots. A freed key comes back when its index has been used 255 times since.
  static constexpr size_t kResting = 32 * kChunkSlots;
  // The next index is one of this many that have rested longest.
  static constexpr size_t kOldest = 64;

  static std::function<uint64_t()> Replayed();

  Slot* Find(uint32_t key) const;
  Slot* FindWindow(uint32_t key) const;  // mutex_ held
  static bool Read(const Slot& slot, uint32_t key, View* view);
  static AccessError Judge(const View& view, const AccessRequest& request);
  AccessError Take(const AccessRequest& request, Grant* grant);  // brief_access.h
  ThoroughGrant TakeThoroughly(AccessRequest request, View view, std::atomic<uint64_t>* state);
  AccessError JudgeBind(const BindRequest& request, View* window) const;  // mutex_ held
  uint32_t TakeSlot();                                                    // mutex_ held; index or 0
  bool AddChunk();                                                        // mutex_ held
  uint32_t Below(uint32_t bound);                                         // mutex_ held; random
  uint32_t KeyOf(uint32_t index, const Slot& slot) const;
  static void Publish(Slot* slot, uint32_t key, const View& view);
  static void Kill(Slot* slot);
  static void Drain(Slot* slot);

  const bool check_memory_;
  // Serialises changes: registration, bind, invalidation. Readers use the slots' state words
  // instead.
  mutable std::mutex mutex_;
  // mutex_ guards these, down to the empty line.
  const std::function<uint64_t()> random_;
  std::array<uint8_t, 256> key_bits_;  // all values in random order; constant
  std::vector<uint32_t> fresh_;        // unused indices of the last chunk, in random order
  std::deque<uint32_t> free_;          // used before; the one freed first is in front
  uint32_t chunk_count_ = 0;
  uint32_t last_window_ = 0;  // see Slot::window

  // Chunks of slots. Set once under mutex_, read without it, and freed with the table.
  std::unique_ptr<std::atomic<Slot*>[]> chunks_;
  std::atomic<uint32_t> next_id_{1};
  std::atomic<uint32_t> regions_{0};
  std::atomic<uint32_t> windows_{0};
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_MEMORY_MEMORY_TABLE_H_
