// SPDX-License-Identifier: BSD-3-Clause
// What the objects of an IA know of it: the back-end adapter under them, where they are counted and
// listed, and whom they tell of asynchronous errors. The rest is in ia.h, which knows the objects.
#ifndef SOFTDAT_DAT_ENGINE_OBJECT_IA_CORE_H_
#define SOFTDAT_DAT_ENGINE_OBJECT_IA_CORE_H_

#include <sys/socket.h>

#include <atomic>
#include <memory>
#include <string>

#include "dat/base/mapped_memory.h"
#include "dat/engine/object/adapter_counters.h"
#include "dat/engine/object/object.h"
#include "dat/engine/object/object_list.h"
#include "dat/transport/transport.h"

namespace softdat::engine {

class IaCore : public Object {
 public:
  static constexpr DAT_HANDLE_TYPE kHandleType = DAT_HANDLE_TYPE_IA;

  const DAT_PROVIDER* provider_table() const { return &provider_table_; }
  const std::string& name() const { return name_; }
  transport::Adapter& adapter() { return *adapter_; }
  const transport::AdapterAttributes& attributes() const { return adapter_->attributes(); }
  // The IA's address as consumers see it. It lives as long as the IA.
  DAT_IA_ADDRESS_PTR address() { return reinterpret_cast<DAT_IA_ADDRESS_PTR>(&address_); }
  // The registry's name for this IA (a small integer), for the ia_handle fields of queries.
  DAT_IA_HANDLE consumer_handle();

  const RegistrationCheck& registration_check() const { return registration_check_; }

  AdapterCounters& counters() { return counters_; }
  // Everything that was made on this IA.
  ObjectList& objects() { return objects_; }

  // Posts an asynchronous error to the async EVD, if there is one. Any thread, no engine lock held.
  virtual void PostAsync(DAT_EVENT_NUMBER number, DAT_HANDLE object, DAT_COUNT reason) = 0;

  // Claims the adapter's progress descriptor for one more CNO, which wakes its program by it. -1
  // when there is none. Only one CNO has it at a time, because data wake every program that has it,
  // whoever they are for, and the kernel lets only some hundred sets hold one descriptor. May throw
  // bad_alloc.
  int ClaimProgressDescriptor();
  void ReleaseProgressDescriptor() { progress_claimed_.store(false, std::memory_order_release); }

 protected:
  // Both outlive the IA.
  IaCore(const DAT_PROVIDER& provider_table, const std::string& name)
      : Object(this, kHandleType), provider_table_(provider_table), name_(name) {}
  ~IaCore() override = default;

  // To be called once, before the IA is published. The adapter goes in Teardown, after the objects.
  void SetAdapter(std::unique_ptr<transport::Adapter> adapter);
  void CloseAdapter() { adapter_.reset(); }

 private:
  const DAT_PROVIDER& provider_table_;
  const std::string& name_;
  std::unique_ptr<transport::Adapter> adapter_;
  sockaddr_storage address_{};
  RegistrationCheck registration_check_;
  AdapterCounters counters_;
  std::atomic<bool> progress_claimed_{false};  // a living CNO has it
  ObjectList objects_;
};

}  // namespace softdat::engine

#endif  // SOFTDAT_DAT_ENGINE_OBJECT_IA_CORE_H_
