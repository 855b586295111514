// SPDX-License-Identifier: BSD-3-Clause
// dat_registry_*: providers of 1.2 that announce themselves, and the list of all providers. The
// list has those of 1.2 first. Those of 2.0 follow, as a program of 1.2 sees them.
#include <string.h>

#include <algorithm>
#include <string>
#include <vector>

#include "dat/base/no_memory.h"
#include "dat/bridge/native.h"
#include "dat/bridge/one.h"
#include "dat/bridge/return_words.h"
#include "dat/bridge/two.h"
#include "dat/registry/dat_return.h"
#include "dat/registry/registry.h"

using namespace softdat::bridge;  // NOLINT: this file is the C API of libdat.so.1
namespace dat12 = softdat::dat12;

namespace {

static_assert(sizeof(dat12::DAT_PROVIDER_INFO) == sizeof(::DAT_PROVIDER_INFO));

// The registry looks into a table only where 1.2 and 2.0 agree (native.cc). The information has the
// same layout in both.
const ::DAT_PROVIDER* AsTable2(const dat12::DAT_PROVIDER* table) {
  return reinterpret_cast<const ::DAT_PROVIDER*>(table);
}
const ::DAT_PROVIDER_INFO* AsInfo2(const dat12::DAT_PROVIDER_INFO* info) {
  return reinterpret_cast<const ::DAT_PROVIDER_INFO*>(info);
}

// Lists everything that libdat2 knows. The number of providers may grow meanwhile.
::DAT_RETURN List2(std::vector<::DAT_PROVIDER_INFO>* infos) {
  ::DAT_RETURN result = ::DAT_SUCCESS;
  for (size_t room = 64;; room *= 2) {
    infos->assign(room, {});
    std::vector<::DAT_PROVIDER_INFO*> places;
    places.reserve(room);
    for (::DAT_PROVIDER_INFO& info : *infos) places.push_back(&info);
    ::DAT_COUNT count = 0;
    result = two_registry_list_providers(static_cast<::DAT_COUNT>(room), &count, places.data());
    // The list is full, so there may be more.
    if (result == ::DAT_SUCCESS && count >= static_cast<::DAT_COUNT>(room)) continue;
    infos->resize(result == ::DAT_SUCCESS ? static_cast<size_t>(count) : 0);
    return result;
  }
}

dat12::DAT_PROVIDER_INFO InfoOf(const char* name, uint32_t major, uint32_t minor,
                                bool thread_safe) {
  dat12::DAT_PROVIDER_INFO info{};
  memcpy(info.ia_name, name, strnlen(name, sizeof info.ia_name - 1));
  info.dapl_version_major = major;
  info.dapl_version_minor = minor;
  info.is_thread_safe = thread_safe ? dat12::DAT_TRUE : dat12::DAT_FALSE;
  return info;
}

dat12::DAT_RETURN ListAll(std::vector<dat12::DAT_PROVIDER_INFO>* all) {
  size_t openable = 0;
  const auto natives = softdat::registry::TheRegistry().List(&openable);
  const auto add_native = [all](const softdat::registry::ProviderKey& key) {
    all->push_back(InfoOf(key.name.c_str(), key.major, key.minor, key.thread_safe));
  };
  // Those that cannot be opened come last, as in 2.0, because programs ask for a few.
  const auto last = natives.begin() + static_cast<ptrdiff_t>(openable);
  std::for_each(natives.begin(), last, add_native);
  std::vector<::DAT_PROVIDER_INFO> of_2;
  if (const ::DAT_RETURN result = List2(&of_2); result != ::DAT_SUCCESS) return ReturnTo12(result);
  for (const ::DAT_PROVIDER_INFO& info : of_2) {
    // A line of dat.conf with u1.2 belongs to a native provider. A native provider's name is not
    // bridged.
    if (info.dapl_version_major < DAT_VERSION_MAJOR) continue;
    const bool is_native = std::any_of(natives.begin(), natives.end(),
                                       [&](const auto& each) { return each.name == info.ia_name; });
    if (is_native) continue;
    all->push_back(InfoOf(info.ia_name, dat12::kDAT_VERSION_MAJOR, dat12::kDAT_VERSION_MINOR,
                          info.is_thread_safe != ::DAT_FALSE));
  }
  std::for_each(last, natives.end(), add_native);
  return dat12::DAT_SUCCESS;
}

dat12::DAT_RETURN Refused(::DAT_RETURN_SUBTYPE subtype, const char* why) {
  return ReturnTo12(softdat::registry::Refuse(::DAT_INVALID_PARAMETER, subtype, why));
}

dat12::DAT_RETURN List(dat12::DAT_COUNT most, dat12::DAT_COUNT* count,
                       dat12::DAT_PROVIDER_INFO** list) {
  if (count == nullptr)
    return Refused(::DAT_INVALID_ARG2, "dat_registry_list_providers: no place for the count");
  std::vector<dat12::DAT_PROVIDER_INFO> all;
  if (const dat12::DAT_RETURN result = ListAll(&all); result != dat12::DAT_SUCCESS) return result;
  *count = static_cast<dat12::DAT_COUNT>(all.size());
  if (most < 0 || (most == 0 && !all.empty()))
    return Refused(::DAT_INVALID_ARG1, "dat_registry_list_providers: there are more entries");
  const size_t returned = std::min(static_cast<size_t>(most), all.size());
  for (size_t i = 0; i < returned; ++i) {
    if (list == nullptr || list[i] == nullptr)
      return Refused(::DAT_INVALID_ARG3, "dat_registry_list_providers: no place for an entry");
    *list[i] = all[i];
  }
  *count = static_cast<dat12::DAT_COUNT>(returned);
  return dat12::DAT_SUCCESS;
}

}  // namespace

// Providers of 2.0 may refer to these functions without a version (Debian's do). In a program of
// 1.2 they then find those of libdat.so.1 first, although they mean those of libdat2.so.2.
namespace {

bool IsOf2(const dat12::DAT_PROVIDER_INFO* info) {
  return info != nullptr && info->dapl_version_major >= DAT_VERSION_MAJOR;
}

}  // namespace

dat12::DAT_RETURN one_registry_add_provider(const dat12::DAT_PROVIDER* table,
                                            const dat12::DAT_PROVIDER_INFO* info) {
  if (IsOf2(info)) return two_registry_add_provider(AsTable2(table), AsInfo2(info));
  return softdat::OrNoMemory(
      [&] {
        return ReturnTo12(softdat::registry::TheRegistry().Add(AsTable2(table), AsInfo2(info)));
      },
      kNoMemory);
}

dat12::DAT_RETURN one_registry_remove_provider(const dat12::DAT_PROVIDER* table,
                                               const dat12::DAT_PROVIDER_INFO* info) {
  if (IsOf2(info)) return two_registry_remove_provider(AsTable2(table), AsInfo2(info));
  return softdat::OrNoMemory(
      [&] {
        return ReturnTo12(softdat::registry::TheRegistry().Remove(AsTable2(table), AsInfo2(info)));
      },
      kNoMemory);
}

dat12::DAT_RETURN one_registry_list_providers(dat12::DAT_COUNT most, dat12::DAT_COUNT* count,
                                              dat12::DAT_PROVIDER_INFO** list) {
  return softdat::OrNoMemory([&] { return List(most, count, list); }, kNoMemory);
}
