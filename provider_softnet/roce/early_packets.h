// SPDX-License-Identifier: BSD-3-Clause
// Requests of the peer that came before one in front of them. They are copied, and wait for it:
// nothing of them is carried out out of order.
#ifndef SOFTDAT_PROVIDER_SOFTNET_ROCE_EARLY_PACKETS_H_
#define SOFTDAT_PROVIDER_SOFTNET_ROCE_EARLY_PACKETS_H_

#include <cstdint>
#include <cstring>

#include "provider_softnet/roce/early_pool.h"
#include "provider_softnet/roce/psn.h"
#include "wire/roce/packet.h"

namespace softdat::softnet {

class EarlyPackets {
 public:
  // Of one connection.
  static constexpr uint32_t kMost = 128;

  // Without a pool nothing is kept.
  explicit EarlyPackets(EarlyPool* pool) : pool_(pool) {}
  ~EarlyPackets() { Clear(); }
  EarlyPackets(const EarlyPackets&) = delete;
  EarlyPackets& operator=(const EarlyPackets&) = delete;

  bool empty() const { return first_ == nullptr; }
  // The one that has the lowest PSN. Not empty.
  Psn first_psn() const { return first_->psn; }
  const roce::Packet& first() const { return first_->packet; }
  bool Has(Psn psn) const {
    if (empty() || psn > last_->psn) return false;
    const EarlyPool::Block* at = first_;
    while (at->psn < psn) at = at->next;
    return at->psn == psn;
  }
  // Does nothing when there is no room. Not Has(psn).
  void Keep(Psn psn, const roce::Packet& packet) {
    if (pool_ == nullptr || count_ == kMost || packet.payload.size() > pool_->mtu()) return;
    EarlyPool::Block* const block = pool_->Take();
    if (block == nullptr) return;
    block->psn = psn;
    block->packet = packet;
    if (!packet.payload.empty()) {
      std::memcpy(block->payload, packet.payload.data(), packet.payload.size());
    }
    block->packet.payload = {block->payload, packet.payload.size()};
    EarlyPool::Block** at = &first_;
    if (!empty() && psn > last_->psn) at = &last_->next;
    while (*at != nullptr && (*at)->psn < psn) at = &(*at)->next;
    block->next = *at;
    *at = block;
    if (block->next == nullptr) last_ = block;
    ++count_;
  }
  void DropFirst() {
    EarlyPool::Block* const block = first_;
    first_ = block->next;
    pool_->Give(block);
    --count_;
  }
  void Clear() {
    while (!empty()) DropFirst();
  }

 private:
  EarlyPool* const pool_;
  EarlyPool::Block* first_ = nullptr;  // in the order of their PSNs
  EarlyPool::Block* last_ = nullptr;   // if there is any
  uint32_t count_ = 0;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_ROCE_EARLY_PACKETS_H_
