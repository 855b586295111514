// SPDX-License-Identifier: BSD-3-Clause
// The librdmacm of the null device.
#include <errno.h>
#include <infiniband/verbs.h>
#include <netinet/in.h>
#include <rdma/rdma_cma.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <deque>
#include <mutex>
#include <utility>

#include "tests/nulldevice/null_parts.h"
#include "tests/nulldevice/null_verbs.h"

namespace {

using softdat::nulldevice::Context;
using softdat::nulldevice::LibraryLock;
using softdat::nulldevice::NullAnswer;
using softdat::nulldevice::NullCmCalls;
using softdat::nulldevice::Pipe;
using softdat::nulldevice::TheNullDevice;

struct NullCmChannel {
  rdma_event_channel base;
  Pipe pipe;
};

// An event and the private data that it points to.
struct NullCmEvent {
  rdma_cm_event base;  // first: the library has a pointer to it
  std::vector<uint8_t> data;
};

std::mutex g_cm_mutex;                // protects the next four
std::vector<NullCmEvent*> g_pending;  // reported and not fetched yet
std::deque<NullAnswer> g_answers;
NullCmCalls g_calls;
rdma_cm_id* g_id = nullptr;  // the newest one

std::mutex g_library_mutex;
std::atomic<std::chrono::microseconds> g_library_time{};

// g_cm_mutex held. `listener`: whose request it is, if it is one.
void Tell(rdma_cm_id* id, const NullAnswer& answer, rdma_cm_id* listener = nullptr) {
  auto* event = new NullCmEvent{};
  event->base.id = id;
  event->base.listen_id = listener;
  event->base.event = answer.event;
  event->base.status = answer.status;
  event->data = answer.private_data;
  if (id->ps == RDMA_PS_UDP) {
    rdma_ud_param& ud = event->base.param.ud;
    ud.private_data = event->data.data();
    ud.private_data_len = static_cast<uint8_t>(event->data.size());
    ud.ah_attr.is_global = 1;
    ud.ah_attr.port_num = 1;
    ud.qp_num = answer.qpn;
    ud.qkey = answer.qkey;
  } else {
    event->base.param.conn.private_data = event->data.data();
    event->base.param.conn.private_data_len = static_cast<uint8_t>(event->data.size());
  }
  g_pending.push_back(event);
  reinterpret_cast<NullCmChannel*>(id->channel)->pipe.Put(event);
}

void Tell(rdma_cm_id* id, rdma_cm_event_type type) {
  const std::lock_guard<std::mutex> lock(g_cm_mutex);
  Tell(id, NullAnswer{.event = type});
}

void SetAddress(sockaddr* to, const sockaddr* from) {
  if (from == nullptr) return;
  std::memcpy(to, from, from->sa_family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in));
}

}  // namespace

namespace softdat::nulldevice {

void HoldNullLibraries(std::chrono::microseconds time) { g_library_time = time; }

LibraryLock::LibraryLock() {
  g_library_mutex.lock();
  const auto end = std::chrono::steady_clock::now() + g_library_time.load();
  while (std::chrono::steady_clock::now() < end) {
  }
}

LibraryLock::~LibraryLock() { g_library_mutex.unlock(); }

void AnswerNullConnect(const NullAnswer& answer) {
  const std::lock_guard<std::mutex> lock(g_cm_mutex);
  g_answers.push_back(answer);
}

void TellNullConnection(const NullAnswer& answer) {
  const std::lock_guard<std::mutex> lock(g_cm_mutex);
  if (g_id != nullptr) Tell(g_id, answer);
}

void ArriveNullRequest(const std::vector<uint8_t>& private_data) {
  const std::lock_guard<std::mutex> lock(g_cm_mutex);
  if (g_id == nullptr) return;
  rdma_cm_id* const listener = g_id;
  auto* const id = new rdma_cm_id{};
  id->channel = listener->channel;
  id->ps = listener->ps;
  id->verbs = listener->verbs;
  id->port_num = listener->port_num;
  id->route = listener->route;
  std::memcpy(&id->route.addr.dst_storage, &id->route.addr.src_storage,
              sizeof id->route.addr.dst_storage);
  g_id = id;
  Tell(id, {.event = RDMA_CM_EVENT_CONNECT_REQUEST, .private_data = private_data}, listener);
}

NullCmCalls TakeNullCmCalls() {
  const std::lock_guard<std::mutex> lock(g_cm_mutex);
  g_answers.clear();
  return std::exchange(g_calls, {});
}

}  // namespace softdat::nulldevice

extern "C" {

rdma_event_channel* rdma_create_event_channel(void) {
  const LibraryLock library;
  auto* channel = new NullCmChannel{};
  if (!channel->pipe.Open()) return nullptr;
  channel->base.fd = channel->pipe.ends[0];
  return &channel->base;
}
void rdma_destroy_event_channel(rdma_event_channel* base) {
  auto* channel = reinterpret_cast<NullCmChannel*>(base);
  // The event of a connection's end may be left in the channel, because nobody waits for it any
  // more.
  close(std::exchange(channel->pipe.ends[1], -1));
  const std::lock_guard<std::mutex> lock(g_cm_mutex);
  for (void* event = nullptr; softdat::nulldevice::Get(channel->pipe.ends[0], &event);) {
    std::erase(g_pending, event);
    delete static_cast<NullCmEvent*>(event);
  }
  channel->pipe.Close();
  delete channel;
}
int rdma_get_cm_event(rdma_event_channel* channel, rdma_cm_event** event) {
  const LibraryLock library;
  void* item = nullptr;
  while (softdat::nulldevice::Get(channel->fd, &item)) {
    auto* told = static_cast<NullCmEvent*>(item);
    const std::lock_guard<std::mutex> lock(g_cm_mutex);
    std::erase(g_pending, told);
    *event = &told->base;
    if (told->base.id != nullptr) return 0;
    delete told;  // its identifier has gone
  }
  return -1;
}
int rdma_ack_cm_event(rdma_cm_event* event) {
  delete reinterpret_cast<NullCmEvent*>(event);
  return 0;
}
int rdma_create_id(rdma_event_channel* channel, rdma_cm_id** id, void* context,
                   rdma_port_space space) {
  const LibraryLock library;
  auto* made = new rdma_cm_id{};
  made->channel = channel;
  made->context = context;
  made->ps = space;
  *id = made;
  const std::lock_guard<std::mutex> lock(g_cm_mutex);
  g_id = made;
  return 0;
}
int rdma_destroy_id(rdma_cm_id* id) {
  const LibraryLock library;
  {
    const std::lock_guard<std::mutex> lock(g_cm_mutex);
    if (g_id == id) g_id = nullptr;
    for (NullCmEvent* event : g_pending)
      if (event->base.id == id) event->base.id = nullptr;
  }
  delete id;
  return 0;
}
int rdma_set_option(rdma_cm_id*, int, int, void*, size_t) { return 0; }
int rdma_bind_addr(rdma_cm_id* id, sockaddr* address) {
  const LibraryLock library;
  SetAddress(rdma_get_local_addr(id), address);
  id->verbs = Context();
  id->port_num = 1;
  return 0;
}
int rdma_listen(rdma_cm_id*, int) {
  const LibraryLock library;
  return 0;
}
int rdma_resolve_addr(rdma_cm_id* id, sockaddr* from, sockaddr* to, int) {
  const LibraryLock library;
  SetAddress(rdma_get_local_addr(id), from);
  SetAddress(rdma_get_peer_addr(id), to);
  id->verbs = Context();
  id->port_num = 1;
  Tell(id, RDMA_CM_EVENT_ADDR_RESOLVED);
  return 0;
}
int rdma_resolve_route(rdma_cm_id* id, int) {
  Tell(id, RDMA_CM_EVENT_ROUTE_RESOLVED);
  return 0;
}
int rdma_create_qp(rdma_cm_id* id, ibv_pd* pd, ibv_qp_init_attr* init) {
  id->qp = ibv_create_qp(pd, init);
  id->pd = pd;
  return 0;
}
void rdma_destroy_qp(rdma_cm_id* id) {
  ibv_destroy_qp(id->qp);
  id->qp = nullptr;
}
int rdma_init_qp_attr(rdma_cm_id*, ibv_qp_attr* attr, int* mask) {
  attr->port_num = 1;
  *mask = IBV_QP_STATE;
  return 0;
}
int rdma_connect(rdma_cm_id* id, rdma_conn_param* param) {
  {
    const std::lock_guard<std::mutex> lock(g_cm_mutex);
    ++g_calls.connects;
    const auto* data = static_cast<const uint8_t*>(param->private_data);
    g_calls.private_data.assign(data, data + param->private_data_len);
    g_calls.qpn = param->qp_num;
    if (!g_answers.empty()) {
      const NullAnswer answer = g_answers.front();
      g_answers.pop_front();
      if (answer.error != 0) {
        errno = answer.error;
        return -1;
      }
      if (!answer.silent) Tell(id, answer);
      return 0;
    }
  }
  // On iWARP, and if librdmacm knows the queue pair, the connection is complete now.
  const bool whole = id->qp != nullptr || TheNullDevice().iwarp;
  Tell(id, whole ? RDMA_CM_EVENT_ESTABLISHED : RDMA_CM_EVENT_CONNECT_RESPONSE);
  return 0;
}
int rdma_establish(rdma_cm_id*) { return 0; }
int rdma_accept(rdma_cm_id*, rdma_conn_param* param) {
  const std::lock_guard<std::mutex> lock(g_cm_mutex);
  ++g_calls.accepts;
  const auto* data = static_cast<const uint8_t*>(param->private_data);
  g_calls.private_data.assign(data, data + param->private_data_len);
  g_calls.qpn = param->qp_num;
  return 0;
}
int rdma_reject(rdma_cm_id*, const void* data, uint8_t size) {
  const std::lock_guard<std::mutex> lock(g_cm_mutex);
  ++g_calls.rejects;
  g_calls.private_data.assign(static_cast<const uint8_t*>(data),
                              static_cast<const uint8_t*>(data) + size);
  return 0;
}
int rdma_notify(rdma_cm_id* id, ibv_event_type) {
  Tell(id, RDMA_CM_EVENT_ESTABLISHED);
  return 0;
}
int rdma_disconnect(rdma_cm_id* id) {
  {
    const std::lock_guard<std::mutex> lock(g_cm_mutex);
    ++g_calls.disconnects;
  }
  Tell(id, RDMA_CM_EVENT_DISCONNECTED);
  return 0;
}
__be16 rdma_get_src_port(rdma_cm_id* id) { return id->route.addr.src_sin.sin_port; }
__be16 rdma_get_dst_port(rdma_cm_id* id) { return id->route.addr.dst_sin.sin_port; }
const char* rdma_event_str(rdma_cm_event_type) { return "event"; }

}  // extern "C"
