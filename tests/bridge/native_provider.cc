// SPDX-License-Identifier: BSD-3-Clause
// A provider of uDAPL 1.2 with few entry points: libnative.so.1, for a dat.conf with u1.2. With
// DAT_EXTENSIONS it becomes libextended.so.1. An event reports what the last post was given.
#include <dat/dat_registry.h>
#include <dat/udat.h>
#include <stdlib.h>

namespace {

struct Object {
  const DAT_PROVIDER* table;  // the first word of every object
  DAT_HANDLE_TYPE type;
  DAT_CONTEXT context;
  DAT_EVD_HANDLE async_evd;  // of an IA
};

DAT_DTO_COMPLETION_EVENT_DATA g_last_post;

DAT_RETURN Make(DAT_HANDLE_TYPE type, DAT_HANDLE* handle);

DAT_RETURN Free(DAT_HANDLE handle) {
  // A stale handle must show no table.
  __atomic_store_n(&static_cast<Object*>(handle)->table, nullptr, __ATOMIC_RELEASE);
  free(handle);
  return DAT_SUCCESS;
}

DAT_RETURN IaOpen(const DAT_NAME_PTR, DAT_COUNT, DAT_EVD_HANDLE* evd, DAT_IA_HANDLE* ia) {
  DAT_RETURN result = Make(DAT_HANDLE_TYPE_EVD, evd);
  if (result != DAT_SUCCESS) return result;
  result = Make(DAT_HANDLE_TYPE_IA, ia);
  if (result == DAT_SUCCESS) {
    static_cast<Object*>(*ia)->async_evd = *evd;
  } else {
    Free(*evd);
  }
  return result;
}

DAT_RETURN IaClose(DAT_IA_HANDLE ia, DAT_CLOSE_FLAGS) {
  Free(static_cast<Object*>(ia)->async_evd);
  return Free(ia);
}

DAT_RETURN SetContext(DAT_HANDLE handle, DAT_CONTEXT context) {
  static_cast<Object*>(handle)->context = context;
  return DAT_SUCCESS;
}

DAT_RETURN GetContext(DAT_HANDLE handle, DAT_CONTEXT* context) {
  *context = static_cast<Object*>(handle)->context;
  return DAT_SUCCESS;
}

DAT_RETURN GetType(DAT_HANDLE handle, DAT_HANDLE_TYPE* type) {
  *type = static_cast<Object*>(handle)->type;
  return DAT_SUCCESS;
}

DAT_RETURN EpCreate(DAT_IA_HANDLE, DAT_PZ_HANDLE, DAT_EVD_HANDLE, DAT_EVD_HANDLE, DAT_EVD_HANDLE,
                    const DAT_EP_ATTR*, DAT_EP_HANDLE* ep) {
  return Make(DAT_HANDLE_TYPE_EP, ep);
}

DAT_RETURN PostSend(DAT_EP_HANDLE ep, DAT_COUNT count, DAT_LMR_TRIPLET* segments,
                    DAT_DTO_COOKIE cookie, DAT_COMPLETION_FLAGS) {
  g_last_post = {ep, cookie, DAT_DTO_SUCCESS, 0};
  for (DAT_COUNT i = 0; i < count; ++i) g_last_post.transfered_length += segments[i].segment_length;
  return DAT_SUCCESS;
}

DAT_RETURN Dequeue(DAT_EVD_HANDLE evd, DAT_EVENT* event) {
  event->event_number = DAT_DTO_COMPLETION_EVENT;
  event->evd_handle = evd;
  event->event_data.dto_completion_event_data = g_last_post;
  return DAT_SUCCESS;
}

#ifdef DAT_EXTENSIONS
DAT_RETURN Extension(DAT_HANDLE handle, DAT_EXT_OP op, va_list args) {
  if (op != DAT_EXT_FETCH_AND_ADD) return DAT_NOT_IMPLEMENTED;
  g_last_post = {handle, {}, DAT_DTO_SUCCESS, va_arg(args, DAT_UINT64)};
  return DAT_SUCCESS;
}
#endif

DAT_PROVIDER MakeTable() {
  DAT_PROVIDER table = {};
  table.device_name = "native-0";
  table.ia_open_func = IaOpen;
  table.ia_close_func = IaClose;
  table.set_consumer_context_func = SetContext;
  table.get_consumer_context_func = GetContext;
  table.get_handle_type_func = GetType;
  table.ep_create_func = EpCreate;
  table.ep_post_send_func = PostSend;
  table.ep_free_func = Free;
  table.evd_dequeue_func = Dequeue;
#ifdef DAT_EXTENSIONS
  table.extension_func = Extension;
#endif
  return table;
}

const DAT_PROVIDER g_table = MakeTable();

DAT_RETURN Make(DAT_HANDLE_TYPE type, DAT_HANDLE* handle) {
  auto* object = static_cast<Object*>(calloc(1, sizeof(Object)));
  if (object == nullptr) return DAT_CLASS_ERROR | DAT_INSUFFICIENT_RESOURCES;
  *object = {&g_table, type, {}, nullptr};
  *handle = object;
  return DAT_SUCCESS;
}

}  // namespace

#ifdef DAT_EXTENSIONS
// Its presence tells that the table has the last entry.
extern "C" [[gnu::visibility("default")]] void dapl_extensions() {}
#endif

extern "C" [[gnu::visibility("default")]] void dat_provider_init(const DAT_PROVIDER_INFO* info,
                                                                 const char*) {
  dat_registry_add_provider(&g_table, info);
}

extern "C" [[gnu::visibility("default")]] void dat_provider_fini(const DAT_PROVIDER_INFO* info) {
  dat_registry_remove_provider(&g_table, info);
}
