// SPDX-License-Identifier: BSD-3-Clause
// The contexts of posted work: one per place in a work queue, made with the queue. The wr_id of a
// verbs request is the address of its slot with a tag in the low bits.
#ifndef SOFTDAT_PROVIDER_VERBS_WORK_SLOTS_H_
#define SOFTDAT_PROVIDER_VERBS_WORK_SLOTS_H_

#include <infiniband/verbs.h>

#include <cstdint>

#include "dat/transport/transport.h"

namespace softdat::verbs {

class QpCore;
class SrqCore;

enum class SlotTag : uint64_t { kSend = 0, kReceive = 1, kShared = 2 };
inline constexpr uint64_t kTagMask = 3;

struct alignas(64) SendSlot {
  transport::Completion done;  // what the consumer will be told if nothing fails
  QpCore* qp = nullptr;
  ibv_sge* sge = nullptr;   // room for the queue's max_iov
  uint32_t sequence = 0;    // counts the posts of the queue
  uint32_t window_key = 0;  // kBind
  uint8_t sge_count = 0;
  bool plain = false;       // a send or a write whose success is reported, and nothing else
  bool suppressed = false;  // success is not reported
  bool marker = false;      // ours: success and flush are not reported
  bool reads = false;       // local memory is written
  bool early = false;       // completed before an older request; done.status says how
};
static_assert(sizeof(SendSlot) == 64);

struct alignas(8) ReceiveSlot {
  QpCore* qp = nullptr;
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

inline uint64_t WorkId(const void* slot, SlotTag tag) {
  return reinterpret_cast<uintptr_t>(slot) | static_cast<uint64_t>(tag);
}
template <typename Slot>
Slot* SlotOf(uint64_t wr_id) {
  return reinterpret_cast<Slot*>(wr_id & ~kTagMask);
}

}  // namespace softdat::verbs

#endif  // SOFTDAT_PROVIDER_VERBS_WORK_SLOTS_H_
