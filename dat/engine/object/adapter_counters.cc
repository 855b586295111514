// SPDX-License-Identifier: BSD-3-Clause
// Which counters the objects of an IA have.
#include "dat/engine/object/adapter_counters.h"

namespace softdat::engine {
namespace {

struct KindCounters {
  DAT_HANDLE_TYPE type;
  DAT_IA_COUNTERS created;
  DAT_IA_COUNTERS freed;
};

constexpr KindCounters kKinds[] = {
    {DAT_HANDLE_TYPE_PZ, DCNT_IA_PZ_CREATE, DCNT_IA_PZ_FREE},
    {DAT_HANDLE_TYPE_LMR, DCNT_IA_LMR_CREATE, DCNT_IA_LMR_FREE},
    {DAT_HANDLE_TYPE_RMR, DCNT_IA_RMR_CREATE, DCNT_IA_RMR_FREE},
    {DAT_HANDLE_TYPE_PSP, DCNT_IA_PSP_CREATE, DCNT_IA_PSP_FREE},
    {DAT_HANDLE_TYPE_RSP, DCNT_IA_RSP_CREATE, DCNT_IA_RSP_FREE},
    {DAT_HANDLE_TYPE_EVD, DCNT_IA_EVD_CREATE, DCNT_IA_EVD_FREE},
    {DAT_HANDLE_TYPE_EP, DCNT_IA_EP_CREATE, DCNT_IA_EP_FREE},
    {DAT_HANDLE_TYPE_SRQ, DCNT_IA_SRQ_CREATE, DCNT_IA_SRQ_FREE},
};

const KindCounters* Find(DAT_HANDLE_TYPE type) {
  for (const KindCounters& kind : kKinds) {
    if (kind.type == type) return &kind;
  }
  return nullptr;
}

}  // namespace

void AdapterCounters::CountCreated(DAT_HANDLE_TYPE type) {
  if (const KindCounters* kind = Find(type)) Count(kind->created);
}

void AdapterCounters::CountFreed(DAT_HANDLE_TYPE type) {
  if (const KindCounters* kind = Find(type)) Count(kind->freed);
}

}  // namespace softdat::engine
