// SPDX-License-Identifier: BSD-3-Clause
// Listener.
#include "provider_verbs/listener.h"

#include <errno.h>
#include <fmt/format.h>
#include <netinet/in.h>

#include <optional>
#include <utility>

#include "dat/backend_kit/qualifier_port.h"
#include "dat/base/descriptor.h"
#include "dat/base/log.h"
#include "dat/base/socket_address.h"
#include "provider_verbs/datagram_request.h"
#include "provider_verbs/interfaces.h"
#include "provider_verbs/os_error.h"
#include "wire/private_header.h"

namespace softdat::verbs {
namespace {

constexpr int kBacklog = 1024;  // large, because the engine's own backlog decides
constexpr int kPortTries = 32;

// Listens on one address. Returns nullptr without a failure for an address that rdma_cm cannot use
// (yet).
Result<std::shared_ptr<CmId>> ListenOn(Device& device, rdma_port_space space,
                                       sockaddr_storage address, bool must,
                                       const std::shared_ptr<ListenerCore>& core) {
  auto created = CmId::Create(*device.cm, space);
  if (!created.ok()) return created.TakeStatus();
  std::shared_ptr<CmId> id = created.Take();
  if (const int error = id->Bind(&address); error != 0) {
    if (error != EADDRINUSE && !must) {
      SOFTDAT_LOG(Info, "not listening on {}: {}", AddressText(address), OsText(error));
      return std::shared_ptr<CmId>();
    }
    return OsStatus(error, "rdma_bind_addr to " + AddressText(address));
  }
  id->SetSink(core);
  if (const int error = id->Listen(kBacklog); error != 0) {
    if (error != EADDRINUSE && !must) return std::shared_ptr<CmId>();
    return OsStatus(error, "rdma_listen on " + AddressText(address));
  }
  return id;
}

// Listens on all addresses with the same port, for connections and for datagrams. 0: chooses a port
// that is free on all of them.
Result<std::vector<std::shared_ptr<CmId>>> ListenOnAll(Device& device,
                                                       std::vector<sockaddr_storage> addresses,
                                                       uint16_t* port,
                                                       const std::shared_ptr<ListenerCore>& core) {
  std::vector<std::shared_ptr<CmId>> ids;
  for (sockaddr_storage& address : addresses) {
    SetSocketPort(*port, &address);
    auto made = ListenOn(device, RDMA_PS_TCP, address, ids.empty(), core);
    if (!made.ok()) return made.TakeStatus();
    if (made.value() == nullptr) continue;
    ids.push_back(made.Take());
    if (*port == 0) *port = ntohs(rdma_get_src_port(ids.back()->get()));
    if (!device.traits.datagrams) continue;
    SetSocketPort(*port, &address);
    made = ListenOn(device, RDMA_PS_UDP, address, /*must=*/false, core);
    if (!made.ok()) return made.TakeStatus();
    if (made.value() != nullptr) ids.push_back(made.Take());
  }
  return ids;
}

Result<std::vector<sockaddr_storage>> Candidates(const Device& device,
                                                 const sockaddr_storage* asked) {
  std::vector<sockaddr_storage> own = AddressesOf(device.traits.netdev);
  if (own.empty()) {
    return Status(Code::kAddressUnsupported, device.traits.netdev + " has no address any more");
  }
  if (asked == nullptr || IsWildcard(*asked)) return own;
  for (const sockaddr_storage& address : own) {
    if (SameHost(address, *asked)) return std::vector<sockaddr_storage>{address};
  }
  return Status(Code::kAddressUnsupported,
                fmt::format("{} is no address of {}", AddressText(*asked), device.traits.netdev));
}

}  // namespace

Result<std::unique_ptr<transport::Listener>> Listener::Create(
    Device& device, const transport::ListenParameters& parameters) {
  if (parameters.sink == nullptr) return Status(Code::kInvalidArgument, "a listener needs a sink");
  auto addresses = Candidates(device, parameters.address);
  if (!addresses.ok()) return addresses.TakeStatus();
  if (!parameters.any && PortOfQualifier(parameters.conn_qual) == 0) {
    return Status(Code::kInvalidArgument, "connection qualifier 0");
  }
  auto core = std::make_shared<ListenerCore>(device, parameters.conn_qual, parameters.sink);
  for (int tries = 1;; ++tries) {
    uint16_t port = parameters.any ? 0 : PortOfQualifier(parameters.conn_qual);
    // A request may come as soon as the first address is listened on, but its upcall comes later.
    auto ids = ListenOnAll(device, addresses.value(), &port, core);
    if (ids.ok()) {
      if (parameters.any) core->set_conn_qual(port);
      return std::unique_ptr<transport::Listener>(
          new Listener(device, std::move(core), ids.Take()));
    }
    if (!parameters.any || ids.status().code() != Code::kInUse) return ids.TakeStatus();
    if (tries == kPortTries)
      return Status(Code::kNoFreeQualifier, std::string(ids.status().reason()));
  }
}

Listener::~Listener() {
  if (device_.abandoned) return;
  ids_.clear();
  core_->Close();
}

void ListenerCore::OnCmEvent(const CmEvent& event) {
  if (event.type != RDMA_CM_EVENT_CONNECT_REQUEST) {
    SOFTDAT_LOG(Info, "listener: {}", rdma_event_str(event.type));
    if (event.type == RDMA_CM_EVENT_DEVICE_REMOVAL) device_.OnGone(rdma_event_str(event.type));
    return;
  }
  auto id = std::make_shared<CmId>(*device_.cm, event.id);
  const bool datagrams = event.id->ps == RDMA_PS_UDP;
  const rdmacm::FieldView field =
      rdmacm::ReadField(datagrams ? rdmacm::CmField::kSidrRequest : rdmacm::CmField::kRequest,
                        event.private_data(), device_.traits.iwarp);
  const bool ours = event.id->verbs != nullptr &&
                    device_.traits.rdma_device == ibv_get_device_name(event.id->verbs->device);
  // A qualifier above 65535 is carried whole and must be the listener's. Smaller ones are not
  // carried.
  const uint64_t asked = field.qualifier.value_or(
      conn_qual_ <= kMaxPortQualifier ? conn_qual_ : PortOfQualifier(conn_qual_));
  if (!ours || asked != conn_qual_) {
    SOFTDAT_LOG(Info, "request for qualifier {:#x} at a listener for {:#x} refused", asked,
                conn_qual_);
    return datagrams ? DatagramRequest::Refuse(event.id, field.trailer)
                     : ConnectionRequest::Refuse(device_, event.id, field.trailer);
  }
  std::unique_ptr<transport::ConnectionRequest> request;
  if (datagrams) {
    request = std::make_unique<DatagramRequest>(device_, std::move(id), conn_qual_,
                                                event.private_data(), field);
  } else {
    request = std::make_unique<ConnectionRequest>(device_, std::move(id), conn_qual_, field,
                                                  event.params);
  }
  const UpcallGate::Pass pass(gate_);
  if (pass.open()) sink_->OnRequest(request);
}

}  // namespace softdat::verbs
