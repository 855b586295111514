// SPDX-License-Identifier: BSD-3-Clause
// VerbsConnection: from an address to a connected queue pair.
#include "tools/raw/verbs_connection.h"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "tools/raw/socket_io.h"

namespace softdat::tools {
namespace {

constexpr int kMeetMs = 10000;  // for each step in which the two ends meet
constexpr int kResolveMs = 2000;
constexpr uint8_t kRetry = 7;  // retries without end while the receiver is not ready
constexpr uint32_t kMostInline = 256;
constexpr int kMostReads = 16;  // RDMA reads and atomics under way at once
constexpr uint32_t kPage = 4096;

Outcome BenchAddress(sockaddr_storage* address) {
  const char* const text = getenv(kVerbsAddressVariable);
  if (text == nullptr || *text == 0) {
    return Outcome::Fail(
        fmt::format("raw:verbs: {} is not set: it takes the address of an interface with an RDMA "
                    "device (`rdma link` shows them)",
                    kVerbsAddressVariable));
  }
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(text, nullptr, &hints, &found) != 0) {
    return Outcome::Fail(fmt::format("raw:verbs: {}={} is neither an IPv4 nor an IPv6 address",
                                     kVerbsAddressVariable, text));
  }
  std::memcpy(address, found->ai_addr, found->ai_addrlen);
  freeaddrinfo(found);
  return {};
}

// Checked before librdmacm is asked, which only says ENODEV.
Outcome AnyDevice() {
  int count = 0;
  ibv_device** const devices = ibv_get_device_list(&count);
  if (devices != nullptr) ibv_free_device_list(devices);
  if (count > 0) return {};
  return Outcome::Fail(
      "raw:verbs: this host has no RDMA device (`modprobe rdma_rxe; rdma link add rxe0 type rxe "
      "netdev IFACE` makes one of an interface)");
}

Outcome Describe(const rdma_cm_id* id, VerbsDevice* device) {
  ibv_device_attr attributes{};
  ibv_port_attr port{};
  const uint8_t number = std::max<uint8_t>(id->port_num, 1);
  errno = ibv_query_device(id->verbs, &attributes);
  if (errno == 0) errno = ibv_query_port(id->verbs, number, &port);
  if (errno != 0) return RawErrno("cannot query the RDMA device");
  device->name = ibv_get_device_name(id->verbs->device);
  device->is_iwarp = id->verbs->device->transport_type == IBV_TRANSPORT_IWARP;
  device->has_atomics = attributes.atomic_cap != IBV_ATOMIC_NONE && !device->is_iwarp;
  device->max_message = port.max_msg_sz;
  device->max_reads = static_cast<uint8_t>(
      std::min({kMostReads, attributes.max_qp_rd_atom, attributes.max_qp_init_rd_atom}));
  return {};
}

rdma_conn_param Parameters(const VerbsDevice& device) {
  rdma_conn_param parameters{};
  parameters.responder_resources = device.max_reads;
  parameters.initiator_depth = device.max_reads;
  parameters.flow_control = 1;
  parameters.retry_count = kRetry;
  parameters.rnr_retry_count = kRetry;
  return parameters;
}

}  // namespace

void VerbsConnection::EndQueues(rdma_cm_id* id) {
  rdma_disconnect(id);
  rdma_destroy_qp(id);
}

Outcome VerbsConnection::Open(bool is_server, VerbsDevice* device) {
  is_server_ = is_server;
  SOFTDAT_TRY(BenchAddress(&address_));
  SOFTDAT_TRY(AnyDevice());
  channel_.reset(rdma_create_event_channel());
  if (!channel_) return RawErrno("no connections through librdmacm (modprobe rdma_ucm)");
  rdma_cm_id* id = nullptr;
  if (rdma_create_id(channel_.get(), &id, nullptr, RDMA_PS_TCP) != 0)
    return RawErrno("rdma_create_id");
  bound_.reset(id);
  const int bound = rdma_bind_addr(id, reinterpret_cast<sockaddr*>(&address_));
  if (bound != 0 || id->verbs == nullptr) {
    return Outcome::Fail(fmt::format(
        "raw:verbs: no RDMA device at the address in {} ({}); `rdma link` shows the interfaces",
        kVerbsAddressVariable, bound != 0 ? strerror(errno) : "any address"));
  }
  SOFTDAT_TRY(Describe(id, &device_));
  *device = device_;
  const bool listens = !is_server_ || rdma_listen(id, 1) == 0;
  return listens ? Outcome() : RawErrno("rdma_listen");
}

Outcome VerbsConnection::Register(uint32_t bytes, VerbsOffer* offer) {
  bytes_ = bytes;
  box_ = (bytes + kPage - 1) / kPage * kPage;
  memory_.reset(static_cast<uint8_t*>(aligned_alloc(kPage, size_t{box_} * 2)));
  if (!memory_) return RawErrno("no memory");
  std::memset(memory_.get(), 0, size_t{box_} * 2);
  domain_.reset(ibv_alloc_pd(bound_->verbs));
  if (!domain_) return RawErrno("ibv_alloc_pd");
  int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
  if (device_.has_atomics) access |= IBV_ACCESS_REMOTE_ATOMIC;
  region_.reset(ibv_reg_mr(domain_.get(), memory_.get(), size_t{box_} * 2, access));
  if (!region_)
    return RawErrno("ibv_reg_mr (`ulimit -l unlimited` lifts the limit of locked memory)");
  offer->address = reinterpret_cast<uintptr_t>(inbox());
  offer->key = region_->rkey;
  offer->port = is_server_ ? ntohs(rdma_get_src_port(bound_.get())) : 0;
  return {};
}

Outcome VerbsConnection::Connect(const VerbsOffer& peer, uint32_t depth, uint32_t receives) {
  peer_ = peer;
  rdma_cm_id* id = bound_.get();
  if (is_server_) {
    SOFTDAT_TRY(NextEvent(RDMA_CM_EVENT_CONNECT_REQUEST, &id));
    accepted_.reset(id);
  } else {
    SOFTDAT_TRY(Resolve(peer.port));
  }
  SOFTDAT_TRY(MakeQueues(id, depth, receives));
  // Posted before the other end can send.
  for (uint32_t i = 0; i < receives; ++i) SOFTDAT_TRY(PostReceive());
  rdma_conn_param parameters = Parameters(device_);
  const int begun = is_server_ ? rdma_accept(id, &parameters) : rdma_connect(id, &parameters);
  if (begun != 0) return RawErrno(is_server_ ? "rdma_accept" : "rdma_connect");
  return NextEvent(RDMA_CM_EVENT_ESTABLISHED, &id);
}

Outcome VerbsConnection::Resolve(uint16_t port) {
  rdma_cm_id* id = bound_.get();
  // The port is at the same place in an IPv6 address.
  reinterpret_cast<sockaddr_in*>(&address_)->sin_port = htons(port);
  if (rdma_resolve_addr(id, nullptr, reinterpret_cast<sockaddr*>(&address_), kResolveMs) != 0)
    return RawErrno("rdma_resolve_addr");
  SOFTDAT_TRY(NextEvent(RDMA_CM_EVENT_ADDR_RESOLVED, &id));
  if (rdma_resolve_route(id, kResolveMs) != 0) return RawErrno("rdma_resolve_route");
  return NextEvent(RDMA_CM_EVENT_ROUTE_RESOLVED, &id);
}

Outcome VerbsConnection::NextEvent(rdma_cm_event_type wanted, rdma_cm_id** id) {
  pollfd news{channel_->fd, POLLIN, 0};
  if (poll(&news, 1, kMeetMs) == 0) {
    return Outcome::Fail(fmt::format("raw:verbs: {} has not come within {} s",
                                     rdma_event_str(wanted), kMeetMs / 1000));
  }
  rdma_cm_event* event = nullptr;
  if (rdma_get_cm_event(channel_.get(), &event) != 0) return RawErrno("rdma_get_cm_event");
  const rdma_cm_event_type type = event->event;
  const int status = event->status;
  *id = event->id;
  rdma_ack_cm_event(event);
  if (type == wanted) return {};
  return Outcome::Fail(fmt::format("raw:verbs: {} (status {}) instead of {}", rdma_event_str(type),
                                   status, rdma_event_str(wanted)));
}

Outcome VerbsConnection::MakeQueues(rdma_cm_id* id, uint32_t depth, uint32_t receives) {
  const auto cqe = static_cast<int>(depth + receives);
  completions_.reset(ibv_create_cq(id->verbs, cqe, nullptr, nullptr, 0));
  if (!completions_) return RawErrno("ibv_create_cq");
  // Not every device takes data along with the request.
  for (const uint32_t wanted : {bytes_ <= kMostInline ? bytes_ : 0, 0u}) {
    ibv_qp_init_attr attributes{};
    attributes.send_cq = attributes.recv_cq = completions_.get();
    attributes.qp_type = IBV_QPT_RC;
    attributes.cap = {.max_send_wr = depth,
                      .max_recv_wr = receives,
                      .max_send_sge = 1,
                      .max_recv_sge = 1,
                      .max_inline_data = wanted};
    if (rdma_create_qp(id, domain_.get(), &attributes) != 0) continue;
    connected_.reset(id);
    inline_ = attributes.cap.max_inline_data;
    return {};
  }
  return RawErrno("rdma_create_qp");
}

}  // namespace softdat::tools
