// SPDX-License-Identifier: BSD-3-Clause
// dat_ia_*, what every object has, and error texts.
#include "dat/base/no_memory.h"
#include "dat/bridge/agents.h"
#include "dat/bridge/attributes.h"
#include "dat/bridge/extensions.h"
#include "dat/bridge/handles.h"
#include "dat/bridge/masks.h"
#include "dat/bridge/native.h"
#include "dat/bridge/one.h"
#include "dat/bridge/params.h"
#include "dat/bridge/refused.h"
#include "dat/bridge/regions.h"
#include "dat/bridge/return_words.h"
#include "dat/bridge/two.h"

using namespace softdat::bridge;  // NOLINT: this file is the C API of libdat.so.1
namespace dat12 = softdat::dat12;

namespace {

constexpr dat12::DAT_UINT32 kMajor = dat12::kDAT_VERSION_MAJOR;
constexpr dat12::DAT_UINT32 kMinor = dat12::kDAT_VERSION_MINOR;

constexpr dat12::DAT_RETURN Invalid(uint32_t type, uint32_t subtype) {
  return DAT_CLASS_ERROR | type | subtype;
}

dat12::DAT_RETURN NotFound(uint32_t subtype) {
  return Refused(Invalid(dat12::DAT_PROVIDER_NOT_FOUND, subtype),
                 "libdat.so.1 opens IAs for uDAPL 1.0 to 1.2");
}

// DAT_EVD_ASYNC_EXISTS and DAT_EVD_OUT_OF_SCOPE are special values, not objects.
::DAT_EVD_HANDLE AsyncEvdTo2(dat12::DAT_EVD_HANDLE evd) {
  const bool is_word = evd == DAT_EVD_ASYNC_EXISTS || evd == DAT_EVD_OUT_OF_SCOPE;
  return is_word ? evd : ArgumentTo2(evd);
}

}  // namespace

dat12::DAT_RETURN one_ia_openv(const dat12::DAT_NAME_PTR name, dat12::DAT_COUNT async_qlen,
                               dat12::DAT_EVD_HANDLE* async_evd, dat12::DAT_IA_HANDLE* ia,
                               dat12::DAT_UINT32 major, dat12::DAT_UINT32 minor,
                               dat12::DAT_BOOLEAN thread_safety) {
  if (major != kMajor) return NotFound(dat12::DAT_MAJOR_NOT_FOUND);
  if (minor > kMinor) return NotFound(dat12::DAT_MINOR_NOT_FOUND);
  const bool is_native = softdat::OrNoMemory([&] { return IsNativeName(name); }, false);
  if (is_native) {
    return softdat::OrNoMemory(
        [&] { return OpenNative(name, async_qlen, async_evd, ia, major, minor, thread_safety); },
        kNoMemory);
  }
  ::DAT_EVD_HANDLE evd_2 = async_evd != nullptr ? AsyncEvdTo2(*async_evd) : nullptr;
  ::DAT_IA_HANDLE ia_2 = nullptr;
  const ::DAT_RETURN result = two_ia_openv(
      name, async_qlen, async_evd != nullptr ? &evd_2 : nullptr, ia != nullptr ? &ia_2 : nullptr,
      DAT_VERSION_MAJOR, DAT_VERSION_MINOR, static_cast<::DAT_BOOLEAN>(thread_safety));
  if (result != ::DAT_SUCCESS) return ReturnTo12(result);
  const bool asked = softdat::OrNoMemory(
      [&] {
        AskServices(ia_2);
        return true;
      },
      false);
  if (!asked) {
    two_ia_close(ia_2, ::DAT_CLOSE_ABRUPT_FLAG);
    return kNoMemory;
  }
  *async_evd = To12(evd_2);
  *ia = IaTo12(ia_2);
  return dat12::DAT_SUCCESS;
}

dat12::DAT_RETURN one_ia_query(dat12::DAT_IA_HANDLE ia, dat12::DAT_EVD_HANDLE* async_evd,
                               dat12::DAT_IA_ATTR_MASK ia_mask, dat12::DAT_IA_ATTR* ia_attr,
                               dat12::DAT_PROVIDER_ATTR_MASK provider_mask,
                               dat12::DAT_PROVIDER_ATTR* provider_attr) {
  if (const NativeIa to{ia}) [[unlikely]]
    return to.Call<&Table::ia_query_func>(async_evd, ia_mask, ia_attr, provider_mask,
                                          provider_attr);
  ::DAT_EVD_HANDLE evd_2 = nullptr;
  ::DAT_IA_ATTR ia_attr_2{};
  ::DAT_PROVIDER_ATTR provider_attr_2{};
  const ::DAT_RETURN result =
      two_ia_query(IaTo2(ia), async_evd != nullptr ? &evd_2 : nullptr, IaMaskTo2(ia_mask),
                   ia_attr != nullptr ? &ia_attr_2 : nullptr, ProviderMaskTo2(provider_mask),
                   provider_attr != nullptr ? &provider_attr_2 : nullptr);
  if (result != ::DAT_SUCCESS) return ReturnTo12(result);
  if (async_evd != nullptr) *async_evd = To12(evd_2);
  if (ia_attr != nullptr && ia_mask != 0) To12(ia_attr_2, ia_attr);
  if (provider_attr != nullptr && provider_mask != 0) {
    To12(provider_attr_2, provider_attr);
    provider_attr->dapl_version_major = kMajor;
    provider_attr->dapl_version_minor = kMinor;
    NameServices(IaTo2(ia), provider_attr);
  }
  return dat12::DAT_SUCCESS;
}

dat12::DAT_RETURN one_ia_close(dat12::DAT_IA_HANDLE ia, dat12::DAT_CLOSE_FLAGS flags) {
  if (IsNativeIaNumber(ia))
    return softdat::OrNoMemory([&] { return CloseNative(ia, flags); }, kNoMemory);
  const ::DAT_IA_HANDLE ia_2 = IaTo2(ia);
  const uint64_t agents = TheAgents().Now();
  const uint64_t regions = TheRegions().Now();
  const ::DAT_RETURN result = two_ia_close(ia_2, static_cast<::DAT_CLOSE_FLAGS>(flags));
  if (result == ::DAT_SUCCESS) {
    TheAgents().ForgetIa(ia_2, agents);
    TheRegions().ForgetIa(ia_2, regions);
  }
  return ReturnTo12(result);
}

dat12::DAT_RETURN one_set_consumer_context(dat12::DAT_HANDLE handle, dat12::DAT_CONTEXT context) {
  if (const NativeAny to{handle}) [[unlikely]]
    return to.Call<&Table::set_consumer_context_func>(context);
  ::DAT_CONTEXT context_2;
  context_2.as_64 = context.as_64;
  return ReturnTo12(two_set_consumer_context(AnyTo2(handle), context_2));
}

dat12::DAT_RETURN one_get_consumer_context(dat12::DAT_HANDLE handle, dat12::DAT_CONTEXT* context) {
  if (const NativeAny to{handle}) [[unlikely]]
    return to.Call<&Table::get_consumer_context_func>(context);
  ::DAT_CONTEXT context_2{};
  const ::DAT_RETURN result =
      two_get_consumer_context(AnyTo2(handle), context != nullptr ? &context_2 : nullptr);
  if (result == ::DAT_SUCCESS) context->as_64 = context_2.as_64;
  return ReturnTo12(result);
}

dat12::DAT_RETURN one_get_handle_type(dat12::DAT_HANDLE handle, dat12::DAT_HANDLE_TYPE* type) {
  if (const NativeAny to{handle}) [[unlikely]]
    return to.Call<&Table::get_handle_type_func>(type);
  ::DAT_HANDLE_TYPE type_2{};
  const ::DAT_RETURN result =
      two_get_handle_type(AnyTo2(handle), type != nullptr ? &type_2 : nullptr);
  if (result == ::DAT_SUCCESS) *type = static_cast<dat12::DAT_HANDLE_TYPE>(type_2);
  return ReturnTo12(result);
}

dat12::DAT_RETURN one_strerror(dat12::DAT_RETURN word, const char** major, const char** minor) {
  return ReturnTo12(two_strerror(ReturnTo2(word), major, minor));
}

dat12::DAT_RETURN one_dats_get_ia_handle(dat12::DAT_IA_HANDLE handle, dat12::DAT_IA_HANDLE* other) {
  if (other == nullptr) return Invalid(dat12::DAT_INVALID_PARAMETER, dat12::DAT_INVALID_ARG2);
  if (const Handle native = FindOtherNativeIa(handle)) {
    *other = native;
    return dat12::DAT_SUCCESS;
  }
  ::DAT_IA_HANDLE other_2 = nullptr;
  const bool of_12 = IaTo2(handle) != nullptr || IsObject(handle, &other_2);
  // A provider of 2.0 that refers to the function without a version asks for handles of 2.0.
  if (!of_12) return two_dats_get_ia_handle(handle, other);
  const ::DAT_RETURN result = two_dats_get_ia_handle(AnyTo2(handle), &other_2);
  if (result == ::DAT_SUCCESS) *other = IaTo12(other_2);
  return ReturnTo12(result);
}
