// SPDX-License-Identifier: BSD-3-Clause
// An open interface adapter, which owns the back-end adapter and every object made on it.
#ifndef SOFTDAT_DAT_ENGINE_IA_H_
#define SOFTDAT_DAT_ENGINE_IA_H_

#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include "dat/engine/adapter_counters.h"
#include "dat/engine/attributes.h"
#include "dat/engine/evd.h"
#include "dat/engine/object.h"
#include "dat/engine/object_list.h"
#include "dat/engine/registration.h"
#include "dat/transport/transport.h"

namespace softdat::engine {

class Ia final : public Object, private transport::AdapterSink {
 public:
  static constexpr DAT_HANDLE_TYPE kHandleType = DAT_HANDLE_TYPE_IA;

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

  const DAT_PROVIDER* provider_table() const { return &registration_.table; }
  const std::string& name() const { return registration_.ia_name; }
  transport::Adapter& adapter() { return *adapter_; }
  const transport::AdapterAttributes& attributes() const { return adapter_->attributes(); }
  // The IA's address as consumers see it. It lives as long as the IA.
  DAT_IA_ADDRESS_PTR address();
  // The registry's name for this IA (a small integer), for the ia_handle fields of queries.
  DAT_IA_HANDLE consumer_handle();

  AdapterCounters& counters() { return counters_; }
  // See CounterReader.
  static constexpr size_t kCounters = AdapterCounters::kCount;
  void ReadCounters(size_t which, bool reset, uint64_t* out) { counters_.Read(which, reset, out); }

  // The EVD for asynchronous errors. Null when it is out of scope (DAT_EVD_ASYNC_EXISTS).
  Evd* async_evd() { return async_evd_.get(); }
  // The handle that dat_ia_query reports for it.
  DAT_EVD_HANDLE async_evd_handle() const;

  // Posts an asynchronous error to the async EVD, if there is one. Any thread, no engine lock held.
  void PostAsync(DAT_EVENT_NUMBER number, DAT_HANDLE object, DAT_COUNT reason);

  // Everything that was made on this IA.
  ObjectList& objects() { return objects_; }

  // Claims the adapter's progress descriptor for one more CNO, which wakes its program by it. -1
  // when there is none. Only one CNO has it at a time, because data wake every program that has it,
  // whoever they are for, and the kernel lets only some hundred sets hold one descriptor. May throw
  // bad_alloc.
  int ClaimProgressDescriptor();
  void ReleaseProgressDescriptor() { progress_claimed_.store(false, std::memory_order_release); }

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
  ~Ia() override = default;
  void Teardown() override;
  void OnCatastrophic(const std::string& why) override;

  DAT_RETURN AttachAsyncEvd(DAT_COUNT qlen, DAT_EVD_HANDLE* async_evd);
  bool HasConsumerObjects();
  // The second half of Close, on a thread of its own. If it fails, nothing has happened.
  DAT_RETURN CloseLater();
  // Wakes every waiting thread with ABORT or a NULL EVD.
  void AbortWaits();

  const Registration& registration_;  // outlives every IA, because it goes with the library
  std::unique_ptr<transport::Adapter> adapter_;
  sockaddr_storage address_{};
  SpecificAttributes specific_;
  Use<Evd> async_evd_;
  bool owns_async_evd_ = false;
  bool async_evd_elsewhere_ = false;

  AdapterCounters counters_;

  std::atomic<bool> progress_claimed_{false};  // a living CNO has it
  std::atomic<bool> closing_{false};           // set by the one Close that succeeds
  ObjectList objects_;
};

}  // namespace softdat::engine

#endif  // SOFTDAT_DAT_ENGINE_IA_H_
