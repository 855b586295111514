// SPDX-License-Identifier: BSD-3-Clause
// Which services of the 2005 extension interface an IA has.
#include "dat/bridge/extensions.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "dat/bridge/handles.h"
#include "dat/bridge/ia_number.h"
#include "dat/bridge/two.h"
// The types of 1.2 must come before the headers of 2.0.
#include <dat2/dat_ib_extensions.h>
#include <dat2/softdat.h>

namespace softdat::bridge {
namespace {

static_assert(sizeof(dat12::DAT_NAMED_ATTR) == sizeof(::DAT_NAMED_ATTR));

// Services as bits of one word, for the data path.
enum : uint8_t {
  kImmediate = 1,
  kFetchAndAdd = 2,
  kCompareAndSwap = 4,
  kConfirm = 8,
  kForeign = 16,
  kExtended = 32,
  kAsMessage = 64
};

uint8_t Pack(const Services& s) {
  return static_cast<uint8_t>(
      (s.immediate ? kImmediate : 0) | (s.fetch_and_add ? kFetchAndAdd : 0) |
      (s.compare_and_swap ? kCompareAndSwap : 0) | (s.confirm ? kConfirm : 0) |
      (s.foreign ? kForeign : 0) | (s.extended ? kExtended : 0) | (s.as_message ? kAsMessage : 0));
}

Services Unpack(uint8_t word) {
  return {.immediate = (word & kImmediate) != 0,
          .as_message = (word & kAsMessage) != 0,
          .fetch_and_add = (word & kFetchAndAdd) != 0,
          .compare_and_swap = (word & kCompareAndSwap) != 0,
          .confirm = (word & kConfirm) != 0,
          .foreign = (word & kForeign) != 0,
          .extended = (word & kExtended) != 0};
}

// What the latest IA of each number answered. Table below holds its list of attributes, whose
// strings are constants or belong to the provider.
constinit std::atomic<uint8_t> g_services[kIaMark] = {};
// The services that all IAs have. A bit that one IA lacks is cleared for good.
constinit std::atomic<uint8_t> g_services_of_all{0xff};

using NamedAttributes = std::vector<dat12::DAT_NAMED_ATTR>;

struct Table {
  std::mutex mutex;  // protects by_number
  std::array<std::unique_ptr<const NamedAttributes>, kIaMark> by_number;
};

// Never destroyed, because calls may be under way while the process exits.
Table& TheTable() {
  alignas(Table) static std::byte storage[sizeof(Table)];
  static Table& only = *new (storage) Table;
  return only;
}

// The value of an attribute. nullptr when there is none.
const char* ValueOf(const ::DAT_PROVIDER_ATTR& attr, const char* name) {
  for (::DAT_COUNT i = 0; i < attr.num_provider_specific_attr; ++i) {
    const ::DAT_NAMED_ATTR& named = attr.provider_specific_attr[i];
    if (std::strcmp(named.name, name) == 0) return named.value;
  }
  return nullptr;
}

bool IsTrue(const ::DAT_PROVIDER_ATTR& attr, const char* name) {
  const char* value = ValueOf(attr, name);
  return value != nullptr && std::strcmp(value, dat12::kDAT_EXT_ATTR_TRUE) == 0;
}

Services ServicesIn(const ::DAT_PROVIDER_ATTR& attr) {
  Services services;
  services.as_message = IsTrue(attr, SOFTDAT_ATTR_IMMED_AS_MESSAGE);
  services.immediate = services.as_message || IsTrue(attr, DAT_IB_ATTR_IMMED_DATA);
  services.fetch_and_add = IsTrue(attr, DAT_IB_ATTR_FETCH_AND_ADD);
  services.compare_and_swap = IsTrue(attr, DAT_IB_ATTR_CMP_AND_SWAP);
  services.confirm = IsTrue(attr, SOFTDAT_ATTR_CONFIRMED_WRITES);
  services.extended = IsTrue(attr, SOFTDAT_ATTR_EXTENSION_COMPLETIONS);
  services.foreign = ValueOf(attr, SOFTDAT_ATTR_CONFIRMED_WRITES) == nullptr;
  return services;
}

NamedAttributes NamesFor(const ::DAT_PROVIDER_ATTR& attr, const Services& services) {
  NamedAttributes names;
  for (::DAT_COUNT i = 0; i < attr.num_provider_specific_attr; ++i) {
    const ::DAT_NAMED_ATTR& named = attr.provider_specific_attr[i];
    names.push_back({named.name, named.value});
  }
  const auto add = [&names](const char* name, bool has) {
    names.push_back({name, has ? dat12::kDAT_EXT_ATTR_TRUE : dat12::kDAT_EXT_ATTR_FALSE});
  };
  const bool any = services.immediate || services.fetch_and_add || services.compare_and_swap;
  // A provider of 2.0 may have an attribute of this name for its own extensions.
  std::erase_if(names, [](const dat12::DAT_NAMED_ATTR& named) {
    return std::strcmp(named.name, dat12::kDAT_EXT_ATTR) == 0;
  });
  add(dat12::kDAT_EXT_ATTR, any);
  add(dat12::kDAT_EXT_ATTR_RDMA_WRITE_IMMED, services.immediate);
  add(dat12::kDAT_EXT_ATTR_RECV_IMMED, services.immediate);
  add(dat12::kDAT_EXT_ATTR_RECV_IMMED_EVENT, services.immediate && !services.as_message);
  add(dat12::kDAT_EXT_ATTR_RECV_IMMED_PAYLOAD, services.as_message);
  add(dat12::kDAT_EXT_ATTR_FETCH_AND_ADD, services.fetch_and_add);
  add(dat12::kDAT_EXT_ATTR_CMP_AND_SWAP, services.compare_and_swap);
  return names;
}

}  // namespace

void AskServices(::DAT_IA_HANDLE ia) {
  const auto number = reinterpret_cast<uintptr_t>(ia);
  if (number >= kIaMark) return;
  ::DAT_PROVIDER_ATTR attr{};
  Services services;
  auto names = std::make_unique<NamedAttributes>();
  if (two_ia_query(ia, nullptr, 0, nullptr, DAT_PROVIDER_FIELD_ALL, &attr) == ::DAT_SUCCESS) {
    services = ServicesIn(attr);
    *names = NamesFor(attr, services);
  }
  g_services[number].store(Pack(services), std::memory_order_release);
  g_services_of_all.fetch_and(Pack(services), std::memory_order_acq_rel);
  const std::lock_guard<std::mutex> lock(TheTable().mutex);
  TheTable().by_number[number] = std::move(names);
}

Services ServicesOf(::DAT_IA_HANDLE ia) {
  const auto number = reinterpret_cast<uintptr_t>(ia);
  return number < kIaMark ? Unpack(g_services[number].load(std::memory_order_acquire)) : Services{};
}

Services ServicesOfAll() { return Unpack(g_services_of_all.load(std::memory_order_acquire)); }

void NameServices(::DAT_IA_HANDLE ia, dat12::DAT_PROVIDER_ATTR* attr) {
  const auto number = reinterpret_cast<uintptr_t>(ia);
  if (number >= kIaMark) return;
  const std::lock_guard<std::mutex> lock(TheTable().mutex);
  const auto& names = TheTable().by_number[number];
  if (names == nullptr || names->empty()) return;
  attr->num_provider_specific_attr = static_cast<dat12::DAT_COUNT>(names->size());
  attr->provider_specific_attr = const_cast<dat12::DAT_NAMED_ATTR*>(names->data());
}

void TellImmediateMessage(::DAT_EVD_HANDLE evd, dat12::DAT_EXTENSION_DATA* data) {
  if (data->type != dat12::DAT_EXT_RECV_NO_IMMED || data->status != dat12::DAT_DTO_SUCCESS ||
      data->transfered_length != sizeof(dat12::DAT_IMMEDIATE_DATA)) {
    return;
  }
  ::DAT_EVD_PARAM param{};
  if (two_evd_query(evd, ::DAT_EVD_FIELD_IA_HANDLE, &param) != ::DAT_SUCCESS) return;
  if (ServicesOf(NumberOf(param.ia_handle)).as_message)
    data->type = dat12::DAT_EXT_RECV_IMMED_DATA_PAYLOAD;
}

void LockServicesForFork() { TheTable().mutex.lock(); }

void UnlockServicesAfterFork() { TheTable().mutex.unlock(); }

}  // namespace softdat::bridge
