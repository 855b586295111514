// SPDX-License-Identifier: BSD-3-Clause
// The provider table.
#include "dat/engine/guarded_slot.h"
#include "dat/engine/logged_slot.h"
#include "dat/engine/registration.h"
#include "dat/engine/slots.h"

namespace softdat::engine {
namespace {

// Names of calls for the log.
#define GUARDED(slot, function) constexpr char kCall_##slot[] = "dat_" #slot;
#define WAITING(slot, function) GUARDED(slot, function)
#define DIRECT(slot, function) GUARDED(slot, function)
#include "dat/engine/provider_slots.inc"
#undef GUARDED
#undef WAITING
#undef DIRECT

void FillPlain(DAT_PROVIDER* table) {
#define GUARDED(slot, function) table->slot##_func = kGuarded<slots::function>;
#define WAITING(slot, function) table->slot##_func = kWaiting<slots::function>;
#define DIRECT(slot, function) table->slot##_func = slots::function;
#include "dat/engine/provider_slots.inc"
#undef GUARDED
#undef WAITING
#undef DIRECT
}

void FillLogged(DAT_PROVIDER* table) {
#define GUARDED(slot, function) \
  table->slot##_func = LoggedSlot<&GuardedSlot<slots::function>::Call, kCall_##slot>::Call;
#define WAITING(slot, function) \
  table->slot##_func = LoggedSlot<&WaitingSlot<slots::function>::Call, kCall_##slot>::Call;
#define DIRECT(slot, function) table->slot##_func = LoggedSlot<slots::function, kCall_##slot>::Call;
#include "dat/engine/provider_slots.inc"
#undef GUARDED
#undef WAITING
#undef DIRECT
}

}  // namespace

void FillProviderTable(DAT_PROVIDER* table, bool thread_safe) {
  table->device_name = nullptr;
  table->extension = nullptr;
  const bool logged = LogsFailedCalls();
  if (logged) {
    FillLogged(table);
  } else {
    FillPlain(table);
  }
  if (!thread_safe) return;
  table->ia_open_func =
      logged ? &LoggedSlot<&GuardedSlot<slots::IaOpenThreadSafe>::Call, kCall_ia_open>::Call
             : kGuarded<slots::IaOpenThreadSafe>;
}

}  // namespace softdat::engine
