// SPDX-License-Identifier: BSD-3-Clause
// What all service points do: listen, announce requests, stop.
#include "dat/engine/service_point.h"

#include <cstring>
#include <string>
#include <utility>

#include "dat/base/log.h"
#include "dat/engine/cr.h"
#include "dat/engine/guarded_slot.h"
#include "dat/engine/object/dat_error.h"
#include "dat/engine/object/ia_core.h"
#include "dat2/dat_ib_extensions.h"

namespace softdat::engine {

using transport::ConnectionRequest;

DAT_HANDLE ServicePoint::Find(IaCore& ia, DAT_CONN_QUAL conn_qual) {
  return ia.objects().Find([conn_qual](const Object& object) {
    const DAT_HANDLE_TYPE type = object.type();
    if (type != DAT_HANDLE_TYPE_PSP && type != DAT_HANDLE_TYPE_RSP && type != DAT_HANDLE_TYPE_CSP)
      return false;
    const auto& sp = static_cast<const ServicePoint&>(object);
    return sp.listening() && sp.conn_qual() == conn_qual;
  });
}

DAT_RETURN ServicePoint::PublishAndListen(Evd* evd, DAT_CONN_QUAL conn_qual, bool any,
                                          const sockaddr_storage* address) {
  Draft<ServicePoint> draft(this);
  evd_ = Use<Evd>(evd);
  if (!evd_) return BadHandle(DAT_INVALID_HANDLE_EVD_CR);
  if (!any) conn_qual_.store(conn_qual, std::memory_order_release);
  if (!draft.Publish()) {
    return Error(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY, NoHandleReason());
  }
  listening_.store(true, std::memory_order_release);
  transport::ListenParameters p;
  p.conn_qual = conn_qual;
  p.any = any;
  p.address = address;
  p.sink = this;
  auto listener = ia().adapter().Listen(p);
  if (!listener.ok()) return Fail(listener.status(), Subject::kQualifier);
  draft.Finish();
  std::unique_ptr<transport::Listener> unwanted = listener.Take();
  conn_qual_.store(any ? unwanted->conn_qual() : conn_qual, std::memory_order_release);
  {
    std::lock_guard<std::mutex> lock(mu_);
    if (!stopped_) std::swap(listener_, unwanted);
  }
  AdapterCounters& counters = ia().counters();
  counters.Count(DCNT_IA_CM_LISTEN);
  if (any && type() == DAT_HANDLE_TYPE_PSP) {
    counters.Count(DCNT_IA_PSP_CREATE_ANY);
  } else {
    counters.CountCreated(type());
  }
  return DAT_SUCCESS;
}

namespace {

void MarkAsDatagrams(DAT_EVENT* event) {
  event->event_number = static_cast<DAT_EVENT_NUMBER>(DAT_IB_UD_CONNECTION_REQUEST_EVENT);
  DAT_IB_EXTENSION_EVENT_DATA extension;
  std::memset(&extension, 0, sizeof(extension));
  extension.type = DAT_IB_UD_CONNECT_REQUEST;
  extension.status = DAT_OP_SUCCESS;
  std::memcpy(event->event_extension_data, &extension, sizeof(extension));
}

}  // namespace

void ServicePoint::OnRequest(std::unique_ptr<ConnectionRequest>& request) {
  AdapterCounters& counters = ia().counters();  // this object stays until the upcall is over
  const bool datagrams = request->service() == transport::Service::kDatagram;
  if (!request->handed_on()) counters.Count(datagrams ? DCNT_IA_CM_AH_REQ_RX : DCNT_IA_CM_REQ_RX);
  Arrive(request);
  if (request == nullptr) return;
  counters.Count(DCNT_IA_CM_ERR);
  counters.Count(DCNT_IA_CM_ERR_REJ_TX);
}

void ServicePoint::OnRequestsHeld(const std::string& why) {
  SOFTDAT_LOG(Warning, "{}: requests for {} wait: {}", ia().name(), conn_qual(), why);
  ia().counters().Count(DCNT_IA_CM_ERR);
  ia().PostAsync(DAT_ASYNC_ERROR_PROVIDER_INTERNAL_ERROR, ia().consumer_handle(),
                 DAT_IA_OTHER_ERROR);
}

void ServicePoint::StopListening() {
  listening_.store(false, std::memory_order_release);
  std::unique_ptr<transport::Listener> listener;
  {
    std::lock_guard<std::mutex> lock(mu_);
    stopped_ = true;
    std::swap(listener, listener_);
  }
}

bool ServicePoint::Announce(std::unique_ptr<ConnectionRequest>& request, Ep* ep,
                            bool provider_created) {
  const DAT_CONN_QUAL asked_for = request->conn_qual();
  const bool datagrams = request->service() == transport::Service::kDatagram;
  Cr* const none = nullptr;
  Cr* cr = OrNoMemory([&] { return Cr::Create(&ia(), request, ep, provider_created); }, none);
  if (cr == nullptr) return false;
  ia().counters().Count(DCNT_IA_SP_CR);
  DAT_EVENT event;
  event.event_number = DAT_CONNECTION_REQUEST_EVENT;
  if (datagrams) MarkAsDatagrams(&event);
  auto& data = event.event_data.cr_arrival_event_data;
  data.sp_handle.psp_handle = handle();
  data.local_ia_address_ptr = ia().address();
  // The first requests of a qualifier that the back end chose may come before Listen has returned
  // it.
  data.conn_qual = conn_qual() != 0 ? conn_qual() : asked_for;
  data.cr_handle = cr->handle();
  data.truncate_flag = DAT_FALSE;
  if (evd_->TryPush(event))
    return true;  // the consumer may have answered already: cr is not ours any more
  ia().counters().Count(DCNT_IA_CM_ERR_REQ_FULLQ);
  SOFTDAT_LOG(Info, "{}: request for {} refused: its event queue is full", ia().name(),
              data.conn_qual);
  cr->Withdraw(&request);
  return false;
}

bool ServicePoint::AnnounceWithNewEp(std::unique_ptr<ConnectionRequest>& request) {
  Ep* ep = nullptr;
  const DAT_RETURN ret = OrNoMemory(
      [&] {
        return Ep::Create(&ia(), Ep::Parts{}, nullptr, DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING,
                          &ep);
      },
      kNoMemory);
  if (ret != DAT_SUCCESS) return false;
  const Ref<Ep> keep(ep);
  if (Announce(request, ep, true)) return true;
  keep->TakeBack();
  return false;
}

DAT_RETURN ServicePoint::FreeAs(DAT_RETURN_SUBTYPE expected_handle) {
  if (!Retire()) return BadHandle(expected_handle);
  Destroy(1);
  return DAT_SUCCESS;
}

void ServicePoint::Teardown() {
  StopListening();
  evd_.Reset();
}

}  // namespace softdat::engine
