// SPDX-License-Identifier: BSD-3-Clause
// An open interface adapter: opening, describing, its asynchronous errors, and closing it with
// every object that was made on it.
#ifndef SOFTDAT_DAT_ENGINE_IA_H_
#define SOFTDAT_DAT_ENGINE_IA_H_

#include <atomic>
#include <string>

#include "dat/engine/attributes.h"
#include "dat/engine/events/evd.h"
#include "dat/engine/object/ia_core.h"
#include "dat/engine/registration.h"
#include "dat/transport/transport.h"

namespace softdat::engine {

class Ia final : public IaCore, private transport::AdapterSink {
 public:
  // dat_ia_open. `async_evd` goes in and out as the call documents it. On success *out is
  // published.
  static DAT_RETURN Open(const Registration& registration, DAT_COUNT async_qlen,
                         DAT_EVD_HANDLE* async_evd, Ia** out);

  // dat_ia_close. The caller has pinned the IA once. Inside a consumer's agent the IA and its
  // handles are dead when this returns. A thread of the IA's own then waits for the calls under way
  // and takes the IA apart.
  DAT_RETURN Close(DAT_CLOSE_FLAGS flags);

  // dat_ia_query. Each fills in everything, whatever was asked for (semantics 12).
  void Describe(DAT_IA_ATTR* attr);
  void Describe(DAT_PROVIDER_ATTR* attr);

  // See CounterReader.
  static constexpr size_t kCounters = AdapterCounters::kCount;
  void ReadCounters(size_t which, bool reset, uint64_t* out) { counters().Read(which, reset, out); }

  // The handle that dat_ia_query reports for the EVD for asynchronous errors.
  DAT_EVD_HANDLE async_evd_handle() const;

  void PostAsync(DAT_EVENT_NUMBER number, DAT_HANDLE object, DAT_COUNT reason) override;

  // To be called before fork(), so that no list of objects is in the middle of a change.
  static void LockAllForFork();
  // To be called after fork(), in the parent.
  static void UnlockAllAfterFork();
  // To be called after fork(), in the child. Every handle of every IA dies. Nothing is sent and
  // nothing joined.
  static void AbandonAllAfterFork();
  // The process ends. The adapters of open IAs send what they still owe.
  static void TellAllOfExit();

 private:
  explicit Ia(const Registration& registration);
  ~Ia() override { CloseAdapter(); }  // of an IA whose opening failed; it may still call
  void Teardown() override;
  void OnCatastrophic(const std::string& why) override;

  DAT_RETURN AttachAsyncEvd(DAT_COUNT qlen, DAT_EVD_HANDLE* async_evd);
  bool HasConsumerObjects();
  // The second half of Close, on a thread of its own. If it fails, nothing has happened.
  DAT_RETURN CloseLater();
  // Wakes every waiting thread with ABORT or a NULL EVD.
  void AbortWaits();

  const Registration& registration_;  // outlives every IA, because it goes with the library
  SpecificAttributes specific_;
  Use<Evd> async_evd_;  // empty when it is out of scope (DAT_EVD_ASYNC_EXISTS)
  bool owns_async_evd_ = false;
  bool async_evd_elsewhere_ = false;

  std::atomic<bool> closing_{false};  // set by the one Close that succeeds
};

}  // namespace softdat::engine

#endif  // SOFTDAT_DAT_ENGINE_IA_H_
