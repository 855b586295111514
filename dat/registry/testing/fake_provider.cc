// SPDX-License-Identifier: BSD-3-Clause
// The fake provider. Its variants are macros. FAKE_FOREIGN has no handle arena, no reasons, no
// discovery and no extensions, like a provider of another make. FAKE_NO_FINI lacks an export.
// FAKE_IAS lists the IAs.
#include "dat/registry/testing/fake_provider.h"

#include <dat2/dat_registry.h>
#include <dat2/softdat.h>
#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <mutex>

#include "dat/base/thread_local.h"

namespace {

using softdat::registry::testing::FakeControl;

FakeControl* Control() {
  const char* address = getenv(softdat::registry::testing::kControlVariable);
  if (address == nullptr) abort();
  return reinterpret_cast<FakeControl*>(strtoull(address, nullptr, 16));
}

struct Object {
  const DAT_PROVIDER* table;  // the first word, which dispatch depends on
  DAT_HANDLE_TYPE type;
  Object* ia;
  DAT_CONTEXT context;
};

thread_local const char* t_reason SOFTDAT_EARLY_TLS = "";
thread_local uint64_t t_reason_time SOFTDAT_EARLY_TLS = 0;

void SetReason(const char* reason) {
  t_reason = reason;
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  t_reason_time =
      static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

#ifdef FAKE_FOREIGN
Object* NewObject() { return static_cast<Object*>(calloc(1, sizeof(Object))); }
void DeleteObject(Object* object) {
  // A stale handle must show no table, as with real providers. (Atomic, or the compiler drops the
  // store.)
  __atomic_store_n(&object->table, nullptr, __ATOMIC_RELEASE);
  free(object);
}
#else
constexpr size_t kObjects = 1024;
Object g_objects[kObjects];
std::mutex g_mutex;  // protects g_taken
bool g_taken[kObjects];

Object* NewObject() {
  const std::lock_guard<std::mutex> lock(g_mutex);
  for (size_t i = 0; i < kObjects; ++i) {
    if (g_taken[i]) continue;
    g_taken[i] = true;
    return &g_objects[i];
  }
  return nullptr;
}

void DeleteObject(Object* object) {
  const std::lock_guard<std::mutex> lock(g_mutex);
  __atomic_store_n(&object->table, nullptr, __ATOMIC_RELEASE);
  g_taken[object - g_objects] = false;
}
#endif

DAT_RETURN Make(const DAT_PROVIDER* table, DAT_HANDLE_TYPE type, Object* ia, DAT_HANDLE* handle) {
  Object* object = NewObject();
  if (object == nullptr) return DAT_CLASS_ERROR | DAT_INSUFFICIENT_RESOURCES;
  object->type = type;
  object->ia = ia != nullptr ? ia : object;
  object->context = {};
  __atomic_store_n(&object->table, table, __ATOMIC_RELEASE);
  *handle = object;
  return DAT_SUCCESS;
}

Object* Of(DAT_HANDLE handle) { return static_cast<Object*>(handle); }

extern const DAT_PROVIDER g_table;

DAT_RETURN IaOpen(const DAT_NAME_PTR, DAT_COUNT qlen, DAT_EVD_HANDLE* evd, DAT_IA_HANDLE* ia) {
  FakeControl* control = Control();
  if (qlen <= 0) return DAT_CLASS_ERROR | DAT_INVALID_PARAMETER | DAT_INVALID_ARG2;
  if (evd == nullptr) return DAT_CLASS_ERROR | DAT_INVALID_PARAMETER | DAT_INVALID_ARG3;
  if (control->open_result != DAT_SUCCESS) {
    SetReason("fake: told to refuse");
    return control->open_result;
  }
  if (control->return_junk_ia) {
    *ia = reinterpret_cast<DAT_IA_HANDLE>(0x5008);
    return DAT_SUCCESS;
  }
  ++control->opens;
  return Make(&g_table, DAT_HANDLE_TYPE_IA, nullptr, ia);
}

DAT_RETURN IaClose(DAT_IA_HANDLE ia, DAT_CLOSE_FLAGS) {
  FakeControl* control = Control();
  if (control->close_result != DAT_SUCCESS) return control->close_result;
  ++control->closes;
  DeleteObject(Of(ia));
  return DAT_SUCCESS;
}

// Fills in what a test can see: the consumer's handle of the IA, as providers do in query results.
DAT_RETURN IaQuery(DAT_IA_HANDLE ia, DAT_EVD_HANDLE* evd, DAT_IA_ATTR_MASK, DAT_IA_ATTR*,
                   DAT_PROVIDER_ATTR_MASK, DAT_PROVIDER_ATTR*) {
  DAT_IA_HANDLE consumer = nullptr;
  const DAT_RETURN result = dats_get_ia_handle(ia, &consumer);
  *evd = consumer;
  return result;
}

DAT_RETURN SetContext(DAT_HANDLE handle, DAT_CONTEXT context) {
  Of(handle)->context = context;
  return DAT_SUCCESS;
}

DAT_RETURN GetContext(DAT_HANDLE handle, DAT_CONTEXT* context) {
  *context = Of(handle)->context;
  return DAT_SUCCESS;
}

DAT_RETURN GetType(DAT_HANDLE handle, DAT_HANDLE_TYPE* type) {
  *type = Of(handle)->type;
  return DAT_SUCCESS;
}

DAT_RETURN PzCreate(DAT_IA_HANDLE ia, DAT_PZ_HANDLE* pz) {
  return Make(&g_table, DAT_HANDLE_TYPE_PZ, Of(ia), pz);
}

DAT_RETURN PzFree(DAT_PZ_HANDLE pz) {
  DeleteObject(Of(pz));
  return DAT_SUCCESS;
}

DAT_RETURN EvdCreate(DAT_IA_HANDLE ia, DAT_COUNT, DAT_CNO_HANDLE, DAT_EVD_FLAGS,
                     DAT_EVD_HANDLE* evd) {
  return Make(&g_table, DAT_HANDLE_TYPE_EVD, Of(ia), evd);
}

DAT_RETURN EvdDequeue(DAT_EVD_HANDLE, DAT_EVENT*) { return DAT_CLASS_ERROR | DAT_QUEUE_EMPTY; }

DAT_RETURN EpCreate(DAT_IA_HANDLE ia, DAT_PZ_HANDLE, DAT_EVD_HANDLE, DAT_EVD_HANDLE, DAT_EVD_HANDLE,
                    const DAT_EP_ATTR*, DAT_EP_HANDLE* ep) {
  return Make(&g_table, DAT_HANDLE_TYPE_EP, Of(ia), ep);
}

DAT_RETURN EpPostSend(DAT_EP_HANDLE, DAT_COUNT, DAT_LMR_TRIPLET*, DAT_DTO_COOKIE,
                      DAT_COMPLETION_FLAGS) {
  SetReason("fake: queue full");
  return softdat::registry::testing::kPostSendResult;
}

DAT_RETURN HaRelated(DAT_IA_HANDLE, const DAT_NAME_PTR, DAT_BOOLEAN* related) {
  FakeControl* control = Control();
  ++control->inside_related;
  while (control->hold_related) sched_yield();
  --control->inside_related;
  *related = DAT_TRUE;
  return DAT_SUCCESS;
}

#ifndef FAKE_FOREIGN
DAT_RETURN Extension(DAT_HANDLE handle, DAT_EXTENDED_OP op, va_list args) {
  FakeControl* control = Control();
  control->extension_handle = handle;
  control->extension_op = op;
  if ((op & DAT_OPEN_EXTENSION_BASE) != 0) {
    auto* opened = va_arg(args, DAT_HANDLE*);
    if (control->open_result != DAT_SUCCESS) return control->open_result;
    return Make(&g_table, DAT_HANDLE_TYPE_IA, nullptr, opened);
  }
  if ((op & DAT_CLOSE_EXTENSION_BASE) != 0) {
    DeleteObject(Of(handle));
    return DAT_SUCCESS;
  }
  control->extension_argument = va_arg(args, long);
  return DAT_SUCCESS;
}
#endif

DAT_PROVIDER MakeTable() {
  DAT_PROVIDER table;
  memset(static_cast<void*>(&table), 0, sizeof table);
  table.device_name = "fake";
  table.ia_open_func = IaOpen;
  table.ia_close_func = IaClose;
  table.ia_query_func = IaQuery;
  table.set_consumer_context_func = SetContext;
  table.get_consumer_context_func = GetContext;
  table.get_handle_type_func = GetType;
  table.pz_create_func = PzCreate;
  table.pz_free_func = PzFree;
  table.evd_create_func = EvdCreate;
  table.evd_dequeue_func = EvdDequeue;
  table.evd_free_func = PzFree;
  table.ep_create_func = EpCreate;
  table.ep_post_send_func = EpPostSend;
  table.ep_free_func = PzFree;
  table.ia_ha_related_func = HaRelated;
  if (Control()->fill_data_path) {
    const auto fail = [](auto...) -> DAT_RETURN {
      SetReason("fake: data path");
      return softdat::registry::testing::kDataPathResult;
    };
    table.ep_post_recv_func = fail;
    table.ep_post_rdma_read_func = fail;
    table.ep_post_rdma_write_func = fail;
    table.ep_post_send_with_invalidate_func = fail;
    table.ep_post_rdma_read_to_rmr_func = fail;
    table.srq_post_recv_func = fail;
    table.rmr_bind_func = fail;
    table.evd_wait_func = fail;
  }
#ifndef FAKE_FOREIGN
  table.handle_extendedop_func = Extension;
#endif
  return table;
}

const DAT_PROVIDER g_table = MakeTable();

void CopyName(char* to, size_t size, const char* from) {
  strncpy(to, from, size - 1);
  to[size - 1] = '\0';
}

__attribute__((destructor)) void OnUnload() { ++Control()->unloads; }

}  // namespace

#define FAKE_EXPORT extern "C" __attribute__((visibility("default")))

FAKE_EXPORT void dat_provider_init(const DAT_PROVIDER_INFO* info, const char* ia_params) {
  FakeControl* control = Control();
  ++control->inits;
  const int loaded = ++control->loaded_now;
  if (loaded > control->max_loaded) control->max_loaded = loaded;
  control->info = *info;
  CopyName(control->ia_params, sizeof control->ia_params, ia_params);
  CopyName(control->library, sizeof control->library, FAKE_NAME);
  if (control->open_within_init) {
    DAT_IA_HANDLE ia = nullptr;
    DAT_EVD_HANDLE evd = nullptr;
    DAT_PROVIDER_INFO copy = *info;
    control->within_result = dat_ia_openv(copy.ia_name, 8, &evd, &ia, info->dapl_version_major,
                                          info->dapl_version_minor, info->is_thread_safe);
  }
  if (control->register_in_init) dat_registry_add_provider(&g_table, info);
}

#ifndef FAKE_NO_FINI
FAKE_EXPORT void dat_provider_fini(const DAT_PROVIDER_INFO* info) {
  FakeControl* control = Control();
  ++control->finis;
  --control->loaded_now;
  if (control->remove_in_fini) dat_registry_remove_provider(&g_table, info);
}
#endif

#ifndef FAKE_FOREIGN
FAKE_EXPORT void dapl_extensions() {}

FAKE_EXPORT size_t softdat_provider_reason(char* buf, size_t len) {
  if (buf != nullptr && len > 0) CopyName(buf, len, t_reason);
  return strlen(t_reason);
}

FAKE_EXPORT uint64_t softdat_provider_reason_time() { return t_reason_time; }

FAKE_EXPORT const softdat_handle_arena* softdat_provider_handle_arena() {
  static const softdat_handle_arena arena{g_objects, sizeof g_objects};
  return &arena;
}

FAKE_EXPORT void softdat_provider_list_ias(softdat_ia_visitor visit, void* arg) {
  visit(arg, FAKE_NAME "-lo", nullptr);
  visit(arg, FAKE_NAME "-down", "the interface is down");
  visit(arg, "shared-name", nullptr);
}
#endif
