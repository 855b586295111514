// SPDX-License-Identifier: BSD-3-Clause
// KeyTable: registration, binding, and the checks of accesses.
#include "provider_toy/memory.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include "dat/base/mapped_memory.h"
#include "dat2/dat_ib_extensions.h"

namespace softdat::toy {
namespace {

constexpr uint32_t kRemoteRights = uint32_t{DAT_MEM_PRIV_REMOTE_READ_FLAG} |
                                   uint32_t{DAT_MEM_PRIV_REMOTE_WRITE_FLAG} |
                                   uint32_t{DAT_IB_MEM_PRIV_REMOTE_ATOMIC};

std::string Refusal(const char* what, uint32_t key) {
  return "remote access refused: " + std::string(what) + " (key " + std::to_string(key) + ")";
}

}  // namespace

void Copy(const Pieces& from, const Pieces& to, uint64_t length) {
  size_t source = 0, target = 0;
  uint64_t source_at = 0, target_at = 0;
  while (length > 0) {
    const std::span<uint8_t> s = from.piece[source].subspan(source_at);
    const std::span<uint8_t> t = to.piece[target].subspan(target_at);
    const uint64_t n = std::min<uint64_t>({s.size(), t.size(), length});
    length -= n;
    if (length == 0 && n > 0) {
      std::memmove(t.data(), s.data(), n - 1);
      __atomic_store_n(&t[n - 1], s[n - 1], __ATOMIC_RELEASE);
      return;
    }
    std::memmove(t.data(), s.data(), n);
    source_at = n == s.size() ? (++source, 0) : source_at + n;
    target_at = n == t.size() ? (++target, 0) : target_at + n;
  }
}

bool StillThere(const Pieces& pieces, uint64_t length, bool writes) {
  for (size_t i = 0; length > 0; ++i) {
    const std::span<uint8_t> piece = pieces.piece[i];
    const uint64_t n = std::min<uint64_t>(piece.size(), length);
    if (n > 0 && !CheckAccessible(piece.data(), n, writes).ok()) return false;
    length -= n;
  }
  return true;
}

bool Inside(uint64_t address, uint64_t length, uint64_t first, uint64_t size) {
  return address >= first && address - first <= size && length <= size - (address - first);
}

std::shared_ptr<RegionState> KeyTable::Register(const void* adapter,
                                                const transport::ProtectionDomain& pd,
                                                const transport::RegionParameters& p) {
  auto region = std::make_shared<RegionState>();
  region->adapter = adapter;
  region->pd = &pd;
  region->base = static_cast<uint8_t*>(p.address);
  region->length = p.length;
  region->privileges = p.privileges;
  region->zero_based = p.zero_based;
  region->local_key = FreshKey();
  local_[region->local_key] = region;
  if ((p.privileges & kRemoteRights) != 0) {
    region->remote_key = FreshKey();
    remote_[region->remote_key] = {region, nullptr};
  }
  return region;
}

void KeyTable::Deregister(RegionState& region) {
  region.valid = false;
  local_.erase(region.local_key);
  if (region.remote_key != 0) remote_.erase(region.remote_key);
}

std::shared_ptr<WindowState> KeyTable::CreateWindow(const transport::ProtectionDomain& pd,
                                                    bool exclusive) {
  auto window = std::make_shared<WindowState>();
  window->pd = &pd;
  window->exclusive_to_qp = exclusive;
  window->key = FreshKey();
  remote_[window->key] = {nullptr, window};
  return window;
}

void KeyTable::DestroyWindow(WindowState& window) {
  Unbind(window);
  remote_.erase(window.key);
}

uint32_t KeyTable::FreshKey() {
  // Consecutive numbers times an odd constant. All 2^32 values come before one repeats, and a key
  // that is off by one is not the next object's key.
  uint32_t key = 0;
  do {
    key = ++last_key_ * 0x9E3779B1u;
  } while (key == 0 || local_.contains(key) || remote_.contains(key));
  return key;
}

Code KeyTable::CheckBind(const transport::SendRequest& request, const RegionState* region_or_null,
                         const WindowState& window, const transport::ProtectionDomain* pd) const {
  const DAT_LMR_TRIPLET& part = request.local[0];
  if (window.pd != pd) return Code::kProtection;
  if (part.segment_length == 0) return Code::kOk;  // unbind
  if (region_or_null == nullptr) return Code::kInvalidArgument;
  const RegionState& region = *region_or_null;
  if (!region.valid || region.pd != pd) return Code::kProtection;
  if (part.lmr_context != region.local_key) return Code::kProtection;
  if (!Inside(part.virtual_address, part.segment_length, region.first_address(), region.length)) {
    return Code::kOutOfBounds;
  }
  const bool writes = (request.bind.privileges & (uint32_t{DAT_MEM_PRIV_REMOTE_WRITE_FLAG} |
                                                  uint32_t{DAT_IB_MEM_PRIV_REMOTE_ATOMIC})) != 0;
  if (writes && (region.privileges & DAT_MEM_PRIV_LOCAL_WRITE_FLAG) == 0) return Code::kPrivileges;
  return request.key != 0 && !remote_.contains(request.key) ? Code::kOk : Code::kInvalidArgument;
}

void KeyTable::Bind(const transport::SendRequest& request, std::shared_ptr<RegionState> region,
                    WindowState& window, uint64_t qp_number) {
  const DAT_LMR_TRIPLET& part = request.local[0];
  Unbind(window);
  if (part.segment_length == 0) return;
  auto entry = remote_.extract(window.key);
  entry.key() = window.key = request.key;
  remote_.insert(std::move(entry));
  window.base = region->base + (part.virtual_address - region->first_address());
  window.first_address = request.bind.zero_based ? 0 : part.virtual_address;
  window.length = part.segment_length;
  window.privileges = request.bind.privileges;
  window.region = std::move(region);
  window.qp_number = qp_number;
  window.bound = true;
}

void KeyTable::Unbind(WindowState& window) {
  window.bound = false;
  window.region.reset();
}

WindowState* KeyTable::FindWindow(uint32_t key, const RemoteAccessor& who) {
  const auto found = remote_.find(key);
  if (found == remote_.end() || !found->second.window) return nullptr;
  WindowState& window = *found->second.window;
  if (!window.bound || window.pd != who.pd) return nullptr;
  if (window.exclusive_to_qp && window.qp_number != who.qp_number) return nullptr;
  return &window;
}

Code KeyTable::ResolveLocal(std::span<const DAT_LMR_TRIPLET> local,
                            const transport::ProtectionDomain* pd, bool writes, Pieces* out) const {
  if (local.size() > kMaxIov) return Code::kInvalidArgument;
  for (const DAT_LMR_TRIPLET& segment : local) {
    if (segment.segment_length == 0) continue;
    const auto found = local_.find(segment.lmr_context);
    if (found == local_.end() || found->second->pd != pd) return Code::kProtection;
    const RegionState& region = *found->second;
    // Reading the program's own memory needs no right (semantics 7.2).
    if (writes && (region.privileges & DAT_MEM_PRIV_LOCAL_WRITE_FLAG) == 0)
      return Code::kPrivileges;
    if (!Inside(segment.virtual_address, segment.segment_length, region.first_address(),
                region.length)) {
      return Code::kOutOfBounds;
    }
    out->Add(
        {region.base + (segment.virtual_address - region.first_address()), segment.segment_length});
  }
  return Code::kOk;
}

bool KeyTable::ResolveRemote(uint32_t key, uint64_t address, uint64_t length, uint32_t right,
                             const RemoteAccessor& who, Pieces* out, std::string* why) const {
  if (length == 0) return true;  // touches no memory (semantics 10.1)
  const auto fail = [&](const char* what) {
    *why = Refusal(what, key);
    return false;
  };
  const auto found = remote_.find(key);
  if (found == remote_.end()) return fail("no such key");
  const WindowState* window = found->second.window.get();
  if (window != nullptr && !window->bound) return fail("the window is not bound");
  const RegionState& region = window != nullptr ? *window->region : *found->second.region;
  if (!region.valid) return fail("the memory is no longer registered");
  if (region.pd != who.pd) return fail("another protection domain");
  if (window != nullptr && window->exclusive_to_qp && window->qp_number != who.qp_number) {
    return fail("the window belongs to another queue pair");
  }
  const uint32_t rights = window != nullptr ? window->privileges : region.privileges;
  if ((rights & right) != right) return fail("the access right is missing");
  const uint64_t first = window != nullptr ? window->first_address : region.first_address();
  const uint64_t size = window != nullptr ? window->length : region.length;
  if (!Inside(address, length, first, size)) return fail("out of bounds");
  uint8_t* const base = window != nullptr ? window->base : region.base;
  out->Add({base + (address - first), length});
  return true;
}

Code KeyTable::CheckSegments(std::span<const DAT_LMR_TRIPLET> segments, const void* adapter) const {
  for (const DAT_LMR_TRIPLET& segment : segments) {
    if (segment.segment_length == 0) continue;
    const auto found = local_.find(segment.lmr_context);
    if (found == local_.end() || found->second->adapter != adapter) return Code::kProtection;
    if (!Inside(segment.virtual_address, segment.segment_length, found->second->first_address(),
                found->second->length)) {
      return Code::kOutOfBounds;
    }
  }
  return Code::kOk;
}

}  // namespace softdat::toy
