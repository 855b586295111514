// SPDX-License-Identifier: BSD-3-Clause
// Opening, describing and closing an interface adapter.
#include "dat/engine/ia.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <vector>

#include "dat/base/log.h"
#include "dat/engine/address_handle.h"
#include "dat/engine/backend.h"
#include "dat/engine/object/consumer_call.h"
#include "dat/engine/object/dat_error.h"

namespace softdat::engine {
namespace {

// Abrupt close: first whatever makes new objects, then what refers to others, last what is referred
// to.
constexpr DAT_HANDLE_TYPE kCloseOrder[] = {
    DAT_HANDLE_TYPE_PSP, DAT_HANDLE_TYPE_RSP,        DAT_HANDLE_TYPE_CSP, DAT_HANDLE_TYPE_CR,
    DAT_HANDLE_TYPE_EP,  AddressHandle::kHandleType, DAT_HANDLE_TYPE_RMR, DAT_HANDLE_TYPE_LMR,
    DAT_HANDLE_TYPE_SRQ, DAT_HANDLE_TYPE_PZ,         DAT_HANDLE_TYPE_EVD, DAT_HANDLE_TYPE_CNO,
};

// An async EVD that the IA creates is at least this long: what overflows it is lost without a
// trace, and programs ask for as few as 8 entries whatever the number of their endpoints
// (dtestsrq).
constexpr DAT_COUNT kMinAsyncQlen = 1024;

// Open IAs of this library, for the fork handler.
std::mutex g_open_mutex;  // protects g_open
std::vector<Ia*>& OpenIas() {
  static auto* list = new std::vector<Ia*>;
  return *list;
}

}  // namespace

Ia::Ia(const Registration& registration)
    : IaCore(registration.table, registration.ia_name), registration_(registration) {}

DAT_RETURN Ia::Open(const Registration& registration, DAT_COUNT async_qlen,
                    DAT_EVD_HANDLE* async_evd, Ia** out) {
  if (const Status settings = CheckSettings(); !settings.ok()) {
    const DAT_RETURN ret = Fail(settings);
    AddReason("a setting in the environment keeps every IA from being opened");
    return ret;
  }
  Draft<Ia> ia(new Ia(registration));
  const std::string& device =
      registration.parameters.empty() ? registration.ia_name : registration.parameters;
  auto adapter = TheBackend().Open(device, ia.get());
  if (!adapter.ok()) {
    const DAT_RETURN ret = Fail(adapter.status());
    AddReason("cannot open " + registration.ia_name);
    return ret;
  }
  ia->SetAdapter(adapter.Take());
  ia->specific_.Fill(registration.ia_name, ia->attributes());
  if (!ia.Publish())
    return Error(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY, NoHandleReason());
  const DAT_RETURN ret = ia->AttachAsyncEvd(async_qlen, async_evd);
  if (ret != DAT_SUCCESS) return ret;
  {
    std::lock_guard<std::mutex> lock(g_open_mutex);
    OpenIas().push_back(ia.get());
  }
  *out = ia.Finish();
  return DAT_SUCCESS;
}

DAT_RETURN Ia::AttachAsyncEvd(DAT_COUNT qlen, DAT_EVD_HANDLE* async_evd) {
  if (*async_evd == DAT_EVD_ASYNC_EXISTS) {
    async_evd_elsewhere_ = true;
    return DAT_SUCCESS;
  }
  if (*async_evd != DAT_HANDLE_NULL) {
    const Pinned<Evd> given(*async_evd);
    if (!given || !given->Accepts(DAT_EVD_ASYNC_FLAG))
      return BadHandle(DAT_INVALID_HANDLE_EVD_ASYNC);
    async_evd_ = Use<Evd>(given.get());
    if (!async_evd_) return BadHandle(DAT_INVALID_HANDLE_EVD_ASYNC);
    return DAT_SUCCESS;
  }
  Evd* made = nullptr;
  const DAT_RETURN ret =
      Evd::Create(this, std::max(qlen, kMinAsyncQlen), nullptr, DAT_EVD_ASYNC_FLAG, &made);
  if (ret != DAT_SUCCESS) return ret;
  async_evd_ = Use<Evd>(made);
  owns_async_evd_ = true;
  *async_evd = made->handle();
  return DAT_SUCCESS;
}

DAT_EVD_HANDLE Ia::async_evd_handle() const {
  if (async_evd_elsewhere_) return DAT_EVD_OUT_OF_SCOPE;
  // Another IA may have made it, and be closed by now: its handle is dead, or somebody else's.
  return async_evd_ && !async_evd_->aborted() ? async_evd_->handle() : DAT_HANDLE_NULL;
}

void Ia::Describe(DAT_IA_ATTR* attr) {
  FillIaAttributes(attributes(), attr);
  attr->ia_address_ptr = address();
}

void Ia::Describe(DAT_PROVIDER_ATTR* attr) {
  FillProviderAttributes(attributes(), attr);
  CopyName(registration_.ia_name, attr->provider_name);
  attr->dapl_version_major = registration_.info.dapl_version_major;
  attr->dapl_version_minor = registration_.info.dapl_version_minor;
  attr->is_thread_safe = registration_.info.is_thread_safe;
  attr->num_provider_specific_attr = specific_.count();
  attr->provider_specific_attr = specific_.data();
}

void Ia::PostAsync(DAT_EVENT_NUMBER number, DAT_HANDLE object, DAT_COUNT reason) {
  // An overflow of the async EVD itself has nowhere to go (semantics 5.8).
  if (number == DAT_ASYNC_ERROR_EVD_OVERFLOW && object == async_evd_handle()) return;
  SOFTDAT_LOG(Warning, "{}: asynchronous event {:#x}, reason {}", name(),
              static_cast<unsigned>(number), reason);
  counters().Count(DCNT_IA_ASYNC_ERROR);
  if (number == DAT_ASYNC_ERROR_EVD_OVERFLOW) counters().Count(DCNT_IA_ASYNC_CQ_ERROR);
  // The number also announces watermarks, which are no errors of an EP.
  if (number == DAT_ASYNC_ERROR_EP_BROKEN && reason == DAT_EP_TRANSFER_TO_ERROR)
    counters().Count(DCNT_IA_ASYNC_QP_ERROR);
  if (!async_evd_) return;
  DAT_EVENT event{};
  event.event_number = number;
  event.event_data.asynch_error_event_data.dat_handle = object;
  event.event_data.asynch_error_event_data.reason = reason;
  async_evd_->Push(event);
}

void Ia::OnCatastrophic(const std::string& why) {
  const UpcallPin pin(this);
  if (!pin) return;
  SOFTDAT_LOG(Error, "{}: {}", name(), why);
  PostAsync(DAT_ASYNC_ERROR_IA_CATASTROPHIC, consumer_handle(), DAT_IA_CATASTROPHIC_ERROR);
}

bool Ia::HasConsumerObjects() {
  return objects().Find([this](const Object& object) {
    return !owns_async_evd_ || &object != async_evd_.get();
  }) != DAT_HANDLE_NULL;
}

void Ia::AbortWaits() {
  for (const Ref<Object>& evd : objects().OfType(DAT_HANDLE_TYPE_EVD))
    static_cast<Evd&>(*evd).Abort();
  for (const Ref<Object>& cno : objects().OfType(DAT_HANDLE_TYPE_CNO))
    static_cast<Cno&>(*cno).Abort();
}

DAT_RETURN Ia::Close(DAT_CLOSE_FLAGS flags) {
  if (flags == DAT_CLOSE_GRACEFUL_FLAG && HasConsumerObjects()) {
    return Error(DAT_INVALID_STATE, DAT_INVALID_STATE_IA_IN_USE, "objects of this IA still exist");
  }
  if (closing_.exchange(true, std::memory_order_acq_rel)) return BadHandle(DAT_INVALID_HANDLE_IA);
  if (ConsumerCall::Active()) return CloseLater();
  RetireAnyway();
  AbortWaits();
  Destroy(1);
  return DAT_SUCCESS;
}

namespace {

// A joinable thread would need somebody to join it: the close itself has returned.
bool StartDetached(void* (*run)(void*), void* argument) {
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return false;
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  // Signals are for the consumer's own threads.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread;
  const int rc = pthread_create(&thread, &attributes, run, argument);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  return rc == 0;
}

}  // namespace

DAT_RETURN Ia::CloseLater() {
  AddRef();  // the thread's
  const auto run = [](void* argument) -> void* {
    Ia* const ia = static_cast<Ia*>(argument);
    // The closing call may not have killed the handle yet; whoever is first does.
    ia->RetireAnyway();
    ia->AbortWaits();
    ia->Destroy(0);
    ia->DropRef();
    return nullptr;
  };
  if (!StartDetached(run, this)) {
    DropRef();
    closing_.store(false, std::memory_order_release);
    return Error(DAT_INSUFFICIENT_RESOURCES, DAT_NO_SUBTYPE,
                 "no thread can be started to close the IA from inside an agent");
  }
  RetireAnyway();
  AbortWaits();
  return DAT_SUCCESS;
}

void Ia::Teardown() {
  for (const DAT_HANDLE_TYPE type : kCloseOrder) objects().DestroyAll(type);
  {
    std::lock_guard<std::mutex> lock(g_open_mutex);
    std::erase(OpenIas(), this);
  }
  CloseAdapter();
  // Last: until here upcalls may still post asynchronous errors (which a closed EVD drops).
  async_evd_.Reset();
}

void Ia::LockAllForFork() {
  g_open_mutex.lock();
  for (Ia* ia : OpenIas()) ia->objects().Lock();
  LockHandleArena();
}

void Ia::UnlockAllAfterFork() {
  UnlockHandleArena();
  for (Ia* ia : OpenIas()) ia->objects().Unlock();
  g_open_mutex.unlock();
}

void Ia::AbandonAllAfterFork() {
  // Only this thread exists in the child.
  for (Ia* ia : OpenIas()) {
    ia->objects().KillHandles();
    ia->KillHandle();
    ia->adapter().AbandonAfterFork();
    ia->objects().Unlock();
  }
  OpenIas().clear();
  UnlockHandleArena();
  g_open_mutex.unlock();
}

void Ia::TellAllOfExit() {
  const std::unique_lock<std::mutex> lock(g_open_mutex, std::try_to_lock);
  if (!lock.owns_lock()) return;  // exit() from a signal handler, perhaps in the midst of a close
  // Long enough for a peer that has to wait for a processor, and short for one that has stopped.
  constexpr std::chrono::milliseconds kLongest{500};
  const transport::Clock::time_point deadline = transport::Clock::now() + kLongest;
  for (Ia* ia : OpenIas()) ia->adapter().OnProcessExit(deadline);
}

}  // namespace softdat::engine
