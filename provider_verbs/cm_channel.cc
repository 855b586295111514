// SPDX-License-Identifier: BSD-3-Clause
// CmChannel and CmId.
#include "provider_verbs/cm_channel.h"

#include <errno.h>
#include <fcntl.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <utility>

#include "dat/base/descriptor.h"
#include "dat/base/log.h"
#include "provider_verbs/library_call.h"
#include "provider_verbs/os_error.h"

namespace softdat::verbs {

namespace {

// librdmacm opens the device of an id when it learns which device that is.
bool NextEvent(rdma_event_channel* channel, rdma_cm_event** event) {
  const StandardDescriptorsTaken taken;
  const LibraryCall call;
  return rdma_get_cm_event(channel, event) == 0;
}

}  // namespace

Result<std::unique_ptr<CmChannel>> CmChannel::Create() {
  std::unique_ptr<CmChannel> made(new CmChannel);
  {
    const StandardDescriptorsTaken taken;
    const LibraryCall call;
    made->channel_ = rdma_create_event_channel();
  }
  if (made->channel_ == nullptr) {
    const int error = errno;
    Status status = OsStatus(error, "rdma_create_event_channel");
    if (error == ENODEV || error == ENOENT) {
      return Status(Code::kNotFound, std::string(status.reason()) +
                                         " (no /dev/infiniband/rdma_cm: load the module rdma_ucm)");
    }
    return status;
  }
  const int flags = fcntl(made->fd(), F_GETFL);
  if (flags < 0 || fcntl(made->fd(), F_SETFL, flags | O_NONBLOCK) != 0) {
    return OsStatus(errno, "fcntl on the rdma_cm event channel");
  }
  return made;
}

CmChannel::~CmChannel() {
  if (channel_ == nullptr || abandoned_) return;
  const LibraryCall call;
  rdma_destroy_event_channel(channel_);
}

bool CmChannel::Dispatch() {
  bool any = false;
  rdma_cm_event* raw = nullptr;
  while (NextEvent(channel_, &raw)) {
    any = true;
    CmEvent event;
    event.type = raw->event;
    event.status = raw->status;
    event.id = raw->id;
    if (raw->id->ps == RDMA_PS_UDP) {
      event.datagrams = raw->param.ud;
      event.datagrams.private_data = nullptr;
    } else {
      event.params = raw->param.conn;
      event.params.private_data = nullptr;
    }
    // Both begin with the private data.
    if (raw->param.conn.private_data != nullptr) {
      event.data_size = std::min<size_t>(raw->param.conn.private_data_len, event.data.size());
      std::memcpy(event.data.data(), raw->param.conn.private_data, event.data_size);
    }
    rdma_cm_id* const addressee =
        raw->event == RDMA_CM_EVENT_CONNECT_REQUEST ? raw->listen_id : raw->id;
    std::shared_ptr<CmSink> sink;
    {
      // The sink is found before the acknowledgement, because the id's address cannot be reused
      // until then.
      const std::lock_guard<std::mutex> lock(mutex_);
      const auto found = sinks_.find(addressee);
      if (found != sinks_.end()) {
        sink = found->second.sink;
        event.serial = found->second.serial;
      }
    }
    SOFTDAT_LOG(Debug, "rdma_cm: {} status {}", rdma_event_str(event.type), event.status);
    rdma_ack_cm_event(raw);
    if (sink != nullptr) {
      sink->OnCmEvent(event);
    } else if (event.type == RDMA_CM_EVENT_CONNECT_REQUEST) {
      const LibraryCall call;
      rdma_destroy_id(event.id);  // its listener has gone, so this rejects it
    }
  }
  return any;
}

static_assert(offsetof(rdma_conn_param, private_data) == offsetof(rdma_ud_param, private_data) &&
              offsetof(rdma_conn_param, private_data_len) ==
                  offsetof(rdma_ud_param, private_data_len));

Result<std::unique_ptr<CmId>> CmId::Create(CmChannel& channel, rdma_port_space space) {
  rdma_cm_id* id = nullptr;
  const LibraryCall call;
  if (rdma_create_id(channel.channel_, &id, nullptr, space) != 0) {
    return OsStatus(errno, "rdma_create_id");
  }
  return std::make_unique<CmId>(channel, id);
}

int CmId::Bind(sockaddr_storage* address) {
  const StandardDescriptorsTaken taken;
  const LibraryCall call;
  return rdma_bind_addr(id_, reinterpret_cast<sockaddr*>(address)) == 0 ? 0 : errno;
}

int CmId::Listen(int backlog) {
  const StandardDescriptorsTaken taken;
  const LibraryCall call;
  return rdma_listen(id_, backlog) == 0 ? 0 : errno;
}

int CmId::Resolve(sockaddr_storage* from, sockaddr_storage* to, int timeout_ms) {
  const StandardDescriptorsTaken taken;
  const LibraryCall call;
  return rdma_resolve_addr(id_, reinterpret_cast<sockaddr*>(from), reinterpret_cast<sockaddr*>(to),
                           timeout_ms) == 0
             ? 0
             : errno;
}

uint64_t CmId::NextSerial() {
  static std::atomic<uint64_t> last{0};  // any thread makes ids
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

CmId::~CmId() {
  if (channel_.abandoned_) return;
  SetSink(nullptr);
  const LibraryCall call;
  rdma_destroy_id(id_);
}

void CmId::SetSink(std::shared_ptr<CmSink> sink) {
  // `sink` becomes the old sink. It dies after the mutex is released, because parameters outlive
  // locals.
  const std::lock_guard<std::mutex> lock(channel_.mutex_);
  CmChannel::Addressee& place = channel_.sinks_[id_];
  place.serial = serial_;
  std::swap(place.sink, sink);
  if (place.sink == nullptr) channel_.sinks_.erase(id_);
}

}  // namespace softdat::verbs
