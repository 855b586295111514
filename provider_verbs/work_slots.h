// SPDX-License-Identifier: BSD-3-Clause
// Posted work as completions find it. Each place in a work queue has a slot, made with the queue,
// which holds the context of its request. The wr_id of a verbs request is the address of its slot
// with a tag in the low bits. The Progress structures say how far a work queue has come.
// Completions move them.
#ifndef SOFTDAT_PROVIDER_VERBS_WORK_SLOTS_H_
#define SOFTDAT_PROVIDER_VERBS_WORK_SLOTS_H_

#include <infiniband/verbs.h>

#include <atomic>
#include <cstdint>
#include <vector>

#include "dat/transport/transport.h"

namespace softdat::verbs {

class PairSink;
class SrqCore;
struct SendProgress;
struct ReceiveProgress;

enum class SlotTag : uint64_t { kSend = 0, kReceive = 1, kShared = 2 };
inline constexpr uint64_t kTagMask = 3;

struct alignas(64) SendSlot {
  transport::Completion done;  // what the consumer gets if nothing fails
  SendProgress* queue = nullptr;
  ibv_sge* sge = nullptr;   // room for the queue's max_iov
  uint32_t sequence = 0;    // counts the posts of the queue
  uint32_t window_key = 0;  // kBind
  uint8_t sge_count = 0;
  bool plain = false;       // a send or write whose success is reported, without flags
  bool suppressed = false;  // success is not reported
  bool marker = false;      // our own: neither success nor flush is reported
  bool reads = false;       // the request writes to local memory
  bool early = false;       // completed before an older request; done.status says how
};
static_assert(sizeof(SendSlot) == 64);

struct alignas(8) ReceiveSlot {
  ReceiveProgress* queue = nullptr;
  uint64_t cookie = 0;
  uint32_t sequence = 0;
  uint8_t sge_count = 0;
  uint8_t flags = 0;  // transport::kEchoed
  ibv_sge* sge = nullptr;
};

struct alignas(8) SharedSlot {
  SrqCore* srq = nullptr;
  uint64_t cookie = 0;
  uint8_t flags = 0;  // transport::kEchoed
  SharedSlot* next_free = nullptr;
  uint8_t sge_count = 0;
  ibv_sge* sge = nullptr;
};

// Changed with the lock of the completion queue held. The atomics are read without it.
struct SendProgress {
  PairSink* pair = nullptr;
  void* context = nullptr;
  const void* pd = nullptr;          // the domain of local segments
  std::atomic<uint32_t> retired{0};  // the sequence number after the newest completed request
  uint32_t early = 0;                // completed requests in slots from `retired` on
  // The hardware is being destroyed. Completions that still come are dropped.
  std::atomic<bool> dropping{false};
  // One slot for each place; the number is a power of two. The sequence number of a request chooses
  // its slot.
  std::vector<SendSlot> slots;
  uint32_t mask = 0;

  SendSlot& SlotAt(uint32_t sequence) { return slots[sequence & mask]; }
};

struct ReceiveProgress {
  PairSink* pair = nullptr;
  void* context = nullptr;
  std::atomic<uint32_t> retired{0};
  std::atomic<bool> dropping{false};
  // Receives wait until the connection has been reported.
  std::atomic<bool> holding{false};
  std::vector<transport::Completion> held;
  bool datagrams = false;
};

inline uint64_t WorkId(const void* slot, SlotTag tag) {
  return reinterpret_cast<uintptr_t>(slot) | static_cast<uint64_t>(tag);
}
template <typename Slot>
Slot* SlotOf(uint64_t wr_id) {
  return reinterpret_cast<Slot*>(wr_id & ~kTagMask);
}

// Makes a slot for each of `depth` places and for the marker, with `iov` segments each. Their
// number is a power of two.
template <typename Slot, typename Progress>
void Lay(uint32_t depth, uint32_t iov, Progress* progress, std::vector<Slot>* slots,
         std::vector<ibv_sge>* sge) {
  uint32_t size = 2;
  while (size < depth + 1) size *= 2;
  if (iov == 0) iov = 1;
  *slots = std::vector<Slot>(size);
  sge->assign(size_t{size} * iov, ibv_sge{});
  for (uint32_t i = 0; i < size; ++i) {
    (*slots)[i].queue = progress;
    (*slots)[i].sge = sge->data() + size_t{i} * iov;
  }
}

}  // namespace softdat::verbs

#endif  // SOFTDAT_PROVIDER_VERBS_WORK_SLOTS_H_
