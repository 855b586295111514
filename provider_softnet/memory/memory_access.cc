// SPDX-License-Identifier: BSD-3-Clause
// Who may access which memory: judged accesses, and pins.
#include <numeric>

#include "dat/base/mapped_memory.h"
#include "provider_softnet/memory/memory_slot.h"

namespace softdat::softnet {

namespace {

// Whether the memory at `address` is still there for this access.
[[gnu::cold]] AccessError CheckThere(uint64_t address, const AccessRequest& request) {
  if (request.length == 0) return AccessError::kNone;
  const bool writes = request.kind != Access::kLocalRead && request.kind != Access::kRemoteRead;
  return CheckAccessible(reinterpret_cast<const void*>(address), request.length, writes).ok()
             ? AccessError::kNone
             : AccessError::kGone;
}

}  // namespace

const char* AccessErrorText(AccessError error) {
  switch (error) {
    case AccessError::kNone:
      return "granted";
    case AccessError::kInvalidKey:
      return "no memory has this key";
    case AccessError::kProtectionDomain:
      return "the key belongs to another protection zone";
    case AccessError::kQueuePair:
      return "the window is bound over another endpoint";
    case AccessError::kRights:
      return "the privilege is missing";
    case AccessError::kBounds:
      return "the range leaves the registered memory";
    case AccessError::kWrap:
      return "the range passes the end of the address space";
    case AccessError::kGone:
      return "the memory is no longer mapped as it was registered";
  }
  return "unknown";
}

// ---- Pin ----

Pin& Pin::operator=(Pin&& other) noexcept {
  if (this != &other) {
    Release();
    first_ = std::exchange(other.first_, nullptr);
    second_ = std::exchange(other.second_, nullptr);
    address_ = other.address_;
    request_ = other.request_;
    start_ = other.start_;
    length_ = other.length_;
    delta_ = other.delta_;
  }
  return *this;
}

[[gnu::hot]] bool Pin::CoversHeld(const AccessRequest& r, uint8_t** address) const {
  if (r.key != request_.key || r.kind != request_.kind || r.pd != request_.pd ||
      r.qp != request_.qp || r.offset < start_) {
    return false;
  }
  const uint64_t skip = r.offset - start_;
  if (skip > length_ || r.length > length_ - skip) return false;
  *address = reinterpret_cast<uint8_t*>(r.offset + delta_);
  return true;
}

// ---- the table ----

MemoryTable::MemoryTable(bool check_memory, std::function<uint64_t()> random)
    : check_memory_(check_memory),
      random_(std::move(random)),
      chunks_(std::make_unique<std::atomic<Slot*>[]>(kChunks)) {
  std::iota(key_bits_.begin(), key_bits_.end(), uint8_t{0});
  for (uint32_t i = 255; i > 0; --i) std::swap(key_bits_[i], key_bits_[Below(i + 1)]);
}

MemoryTable::~MemoryTable() {
  for (uint32_t i = 0; i < kChunks; ++i) delete[] chunks_[i].load(std::memory_order_relaxed);
}

[[gnu::hot]] AccessError MemoryTable::Check(const AccessRequest& request) const {
  return CheckInline(request);
}

[[gnu::hot]] AccessError MemoryTable::Acquire(const AccessRequest& request, Pin* pin) {
  Grant grant;
  const AccessError error = Take(request, &grant);
  if (error != AccessError::kNone) [[unlikely]]
    return error;
  pin->first_ = grant.first;
  pin->second_ = grant.second;
  pin->request_ = request;
  pin->start_ = grant.view.start;
  pin->length_ = grant.view.length;
  pin->delta_ = grant.view.delta;
  pin->address_ = grant.address(request);
  return AccessError::kNone;
}

// The rest of Take() for a window, and where the memory itself is asked for. `state` is pinned.
MemoryTable::ThoroughGrant MemoryTable::TakeThoroughly(AccessRequest request, View view,
                                                       std::atomic<uint64_t>* state) {
  std::atomic<uint64_t>* second = nullptr;
  AccessError error = AccessError::kNone;
  if (view.region != 0) {
    std::atomic<uint64_t>* const region = &Find(view.region)->state;
    if (TryPin(region, view.region)) {
      second = region;
    } else {
      error = AccessError::kInvalidKey;
    }
  }
  if (error == AccessError::kNone) error = Judge(view, request);
  if (check_memory_ && error == AccessError::kNone) {
    error = CheckThere(request.offset + view.delta, request);
    view.length = 0;  // so that the pin answers only for the bytes asked for
  }
  if (error != AccessError::kNone) {
    if (second != nullptr) Unpin(second);
    Unpin(state);
  }
  return {{view, state, second}, error};
}

bool MemoryTable::IsLive(uint32_t key) const {
  const Slot* slot = Find(key);
  return key != 0 && slot != nullptr && LiveKey(slot->state.load(std::memory_order_acquire)) == key;
}

AccessError MemoryTable::CheckInside(uint32_t key, uint64_t offset, uint64_t length) const {
  const Slot* slot = Find(key);
  View view;
  if (slot == nullptr || !Read(*slot, key, &view) || view.region != 0) {
    return AccessError::kInvalidKey;
  }
  return Judge(view, {key, view.pd, view.qp, Access::kLocalRead, offset, length});
}

}  // namespace softdat::softnet
