// SPDX-License-Identifier: BSD-3-Clause
// Slots of the IA: open, query, close, and the calls that take any handle.
#include "dat/engine/ia.h"
#include "dat/engine/object/dat_error.h"
#include "dat/engine/slots.h"

namespace softdat::engine::slots {

namespace {

DAT_RETURN Open(const DAT_NAME_PTR name, bool thread_safe, DAT_COUNT async_qlen,
                DAT_EVD_HANDLE* async_evd, DAT_IA_HANDLE* ia_handle) {
  if (name == nullptr) return BadArgument(1);
  if (async_qlen <= 0) return BadArgument(2, "the async EVD needs at least one entry");
  if (async_evd == nullptr) return BadArgument(3);
  if (ia_handle == nullptr) return BadHandle(DAT_INVALID_HANDLE_IA);
  const Registration* registration = FindRegistration(name, thread_safe);
  if (registration == nullptr) {
    return Error(DAT_PROVIDER_NOT_FOUND, DAT_NAME_NOT_REGISTERED,
                 std::string(name) + " was not registered by this provider library");
  }
  Ia* ia = nullptr;
  const DAT_RETURN ret = Ia::Open(*registration, async_qlen, async_evd, &ia);
  if (ret == DAT_SUCCESS) *ia_handle = ia->handle();
  return ret;
}

}  // namespace

DAT_RETURN DAT_API IaOpen(const DAT_NAME_PTR name, DAT_COUNT async_qlen, DAT_EVD_HANDLE* async_evd,
                          DAT_IA_HANDLE* ia_handle) {
  return Open(name, false, async_qlen, async_evd, ia_handle);
}

DAT_RETURN DAT_API IaOpenThreadSafe(const DAT_NAME_PTR name, DAT_COUNT async_qlen,
                                    DAT_EVD_HANDLE* async_evd, DAT_IA_HANDLE* ia_handle) {
  return Open(name, true, async_qlen, async_evd, ia_handle);
}

DAT_RETURN DAT_API IaQuery(DAT_IA_HANDLE ia_handle, DAT_EVD_HANDLE* async_evd,
                           DAT_IA_ATTR_MASK ia_mask, DAT_IA_ATTR* ia_attr,
                           DAT_PROVIDER_ATTR_MASK provider_mask, DAT_PROVIDER_ATTR* provider_attr) {
  const Pinned<Ia> ia(ia_handle);
  if (!ia) return BadHandle(DAT_INVALID_HANDLE_IA);
  if ((ia_mask & ~DAT_IA_FIELD_ALL) != 0) return BadArgument(3);
  if (ia_mask != 0 && ia_attr == nullptr) return BadArgument(4);
  if ((provider_mask & ~DAT_PROVIDER_FIELD_ALL) != 0) return BadArgument(5);
  if (provider_mask != 0 && provider_attr == nullptr) return BadArgument(6);
  if (async_evd != nullptr) *async_evd = ia->async_evd_handle();
  if (ia_mask != 0) ia->Describe(ia_attr);
  if (provider_mask != 0) ia->Describe(provider_attr);
  return DAT_SUCCESS;
}

DAT_RETURN DAT_API IaClose(DAT_IA_HANDLE ia_handle, DAT_CLOSE_FLAGS flags) {
  const Pinned<Ia> ia(ia_handle);
  if (!ia) return BadHandle(DAT_INVALID_HANDLE_IA);
  if (flags != DAT_CLOSE_ABRUPT_FLAG && flags != DAT_CLOSE_GRACEFUL_FLAG) return BadArgument(2);
  return ia->Close(flags);
}

DAT_RETURN DAT_API SetConsumerContext(DAT_HANDLE handle, DAT_CONTEXT context) {
  const AnyPinned object(handle);
  if (!object) return BadHandle(DAT_INVALID_HANDLE1);
  object->consumer_context.store(context.as_64, std::memory_order_relaxed);
  return DAT_SUCCESS;
}

DAT_RETURN DAT_API GetConsumerContext(DAT_HANDLE handle, DAT_CONTEXT* context) {
  const AnyPinned object(handle);
  if (!object) return BadHandle(DAT_INVALID_HANDLE1);
  if (context == nullptr) return BadArgument(2);
  context->as_64 = object->consumer_context.load(std::memory_order_relaxed);
  return DAT_SUCCESS;
}

DAT_RETURN DAT_API GetHandleType(DAT_HANDLE handle, DAT_HANDLE_TYPE* type) {
  const AnyPinned object(handle);
  if (!object) return BadHandle(DAT_INVALID_HANDLE1);
  if (type == nullptr) return BadArgument(2);
  *type = object->type();
  return DAT_SUCCESS;
}

DAT_RETURN DAT_API IaHaRelated(DAT_IA_HANDLE ia_handle, const DAT_NAME_PTR name,
                               DAT_BOOLEAN* related) {
  const Pinned<Ia> ia(ia_handle);
  if (!ia) return BadHandle(DAT_INVALID_HANDLE_IA);
  if (name == nullptr) return BadArgument(2);
  if (related == nullptr) return BadArgument(3);
  // High availability relates two IAs between which connections can move, which is never the case
  // here.
  *related = DAT_FALSE;
  return DAT_SUCCESS;
}

}  // namespace softdat::engine::slots
