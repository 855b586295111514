// SPDX-License-Identifier: BSD-3-Clause
// QpCore: making a connection, from either side.
#include <errno.h>
#include <fmt/format.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstring>

#include "dat/backend_kit/own_address.h"
#include "dat/backend_kit/qualifier_port.h"
#include "dat/base/descriptor.h"
#include "dat/base/log.h"
#include "dat/base/settings.h"
#include "dat/base/socket_address.h"
#include "provider_verbs/interfaces.h"
#include "provider_verbs/os_error.h"
#include "provider_verbs/queue_pair.h"
#include "wire/private_header.h"

namespace softdat::verbs {

using transport::Clock;
using transport::RejectReason;

namespace {

// InfiniBand CM reject reasons (IBTA vol. 1 §12.6.7.2).
constexpr int kRejectInvalidServiceId = 8;
constexpr int kRejectConsumerDefined = 28;

constexpr uint8_t kRetryCount = 7;
constexpr uint8_t kRetryForEver =
    7;  // receivers that are not ready are waited for (semantics 10.5)
constexpr auto kRetryPause = std::chrono::milliseconds(20);
// One try to resolve an address or a route, at most.
constexpr auto kResolveTime = std::chrono::milliseconds(4000);

int ResolveTime(Clock::time_point deadline) {
  if (deadline == transport::kForever) return static_cast<int>(kResolveTime.count());
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return static_cast<int>(std::clamp<int64_t>(left, 1, kResolveTime.count()));
}

}  // namespace

Status QpCore::CheckConnect(const transport::ConnectParameters& p) {
  if (state_.load(std::memory_order_relaxed) != State::kIdle) {
    return Status(Code::kInvalidState, "the queue pair is not idle");
  }
  if (attributes_.pd == nullptr) {
    return Status(Code::kInvalidState, "the queue pair has no protection domain");
  }
  if (p.remote.ss_family != AF_INET && p.remote.ss_family != AF_INET6) {
    return Status(Code::kAddressUnsupported,
                  fmt::format("address family {}: neither IPv4 nor IPv6", p.remote.ss_family));
  }
  size_t most = device_.attributes.max_private_data;
  if (!device_.traits.iwarp && p.conn_qual > kMaxPortQualifier) most -= kPrivateHeaderSize;
  if (p.private_data.size() > most) {
    return Status(
        Code::kInvalidArgument,
        fmt::format("{} bytes of private data, at most {}{}", p.private_data.size(), most,
                    p.conn_qual > kMaxPortQualifier ? " with a qualifier above 65535" : ""));
  }
  return Status::Ok();
}

Status QpCore::Connect(const transport::ConnectParameters& parameters) {
  Deferred deferred(*this);
  Status status;
  {
    const std::lock_guard<std::mutex> lock(control_);
    status = CheckConnect(parameters);
    if (status.ok()) status = EnsureHardware();
    if (!status.ok()) return status;
    connect_ = parameters;
    connect_data_.assign(parameters.private_data.begin(), parameters.private_data.end());
    connect_.private_data = connect_data_;
    SetSocketPort(PortOfQualifier(parameters.conn_qual), &connect_.remote);
    const Clock::time_point now = Clock::now();
    connect_deadline_ = parameters.timeout == std::chrono::microseconds::max()
                            ? transport::kForever
                            : now + parameters.timeout;
    grace_until_ = std::min(connect_deadline_,
                            now + std::chrono::milliseconds(GetSettings().connect_grace_ms));
    active_ = true;
    padded_ = !device_.traits.iwarp;
    status = StartConnecting();
    if (!status.ok() && status.code() != Code::kUnreachable) {
      DestroyHardware(&deferred);
      id_.reset();
    } else {
      SetState(State::kConnecting);
      completions.holding.store(true, std::memory_order_relaxed);
      if (!status.ok()) {
        // What only the network could tell is an event, also when it is known at once
        // (semantics 9.2).
        device_.driver.Post([qp = shared_from_this(), generation = generation_,
                             why = std::string(status.reason())] {
          Deferred later(*qp);
          {
            const std::lock_guard<std::mutex> relock(qp->control_);
            if (qp->generation_ != generation) return;
            qp->Fail(RejectReason::kUnreachable, why, &later);
          }
          qp->Run(later);
        });
        status = Status::Ok();
      } else if (connect_deadline_ != transport::kForever) {
        timer_ = device_.driver.PostAt(
            connect_deadline_, [qp = shared_from_this(), generation = generation_] {
              Deferred later(*qp);
              {
                const std::lock_guard<std::mutex> relock(qp->control_);
                if (qp->generation_ != generation ||
                    qp->state_.load(std::memory_order_relaxed) != State::kConnecting) {
                  return;
                }
                qp->timer_.reset();
                qp->Fail(RejectReason::kTimedOut, "no answer within the connect timeout", &later);
              }
              qp->Run(later);
            });
      }
    }
  }
  Run(deferred);
  return status;
}

// kUnreachable: the network cannot reach the address; anything else is a failure of this host.
Status QpCore::StartConnecting() {
  // rdma_cm would resolve it to a group's or everybody's link address, and ask in vain.
  if (IsOfNoHost(connect_.remote)) {
    return Status(Code::kUnreachable, AddressText(connect_.remote) + " is no host's address");
  }
  auto created = CmId::Create(*device_.cm);
  if (!created.ok()) return created.TakeStatus();
  std::shared_ptr<CmId> id = created.Take();
  sockaddr_storage local{};
  if (!AddressOfFamily(device_.traits.netdev, connect_.remote.ss_family, &local)) {
    return Status(Code::kUnreachable,
                  fmt::format("{} has no {} address to connect from", device_.traits.netdev,
                              connect_.remote.ss_family == AF_INET ? "IPv4" : "IPv6"));
  }
  if (IsLoopback(connect_.remote)) {
    // rdma_cm has no loopback (and a request to ::1 wedges soft-RoCE of Linux 6.1 for everybody):
    // this host, seen from the device, is the interface's own address.
    SOFTDAT_LOG(Info, "{} stands for {}", AddressText(connect_.remote), AddressText(local));
    const uint16_t port = SocketPort(connect_.remote);
    connect_.remote = local;
    SetSocketPort(port, &connect_.remote);
  }
  id_ = id;
  addresses_ = {.local = local,
                .remote = connect_.remote,
                .local_port = 0,
                .remote_port = connect_.conn_qual};
  id->SetSink(shared_from_this());
  const StandardDescriptorsTaken taken;  // librdmacm opens the device
  if (rdma_resolve_addr(id->get(), reinterpret_cast<sockaddr*>(&local),
                        reinterpret_cast<sockaddr*>(&connect_.remote),
                        ResolveTime(connect_deadline_)) != 0) {
    return Status(Code::kUnreachable,
                  fmt::format("rdma_resolve_addr from {} to {}: {}", AddressText(local),
                              AddressText(connect_.remote), OsText(errno)));
  }
  return Status::Ok();
}

// Another try, while the other program on this host may still be starting (semantics 9.2).
void QpCore::Retry() {
  device_.driver.PostAt(
      Clock::now() + kRetryPause, [qp = shared_from_this(), generation = generation_] {
        Deferred deferred(*qp);
        {
          const std::lock_guard<std::mutex> lock(qp->control_);
          if (qp->generation_ != generation ||
              qp->state_.load(std::memory_order_relaxed) != State::kConnecting) {
            return;
          }
          qp->DestroyHardware(&deferred);
          qp->id_.reset();
          Status status = qp->MakeHardware();
          if (status.ok()) status = qp->StartConnecting();
          if (!status.ok()) {
            qp->Fail(RejectReason::kUnreachable, std::string(status.reason()), &deferred);
          }
        }
        qp->Run(deferred);
      });
}

bool QpCore::OurDevice(const rdma_cm_id* id) const {
  return id->verbs != nullptr &&
         device_.traits.rdma_device == ibv_get_device_name(id->verbs->device);
}

void QpCore::OnCmEvent(const CmEvent& event) {
  Deferred deferred(*this);
  {
    const std::lock_guard<std::mutex> lock(control_);
    const State state = state_.load(std::memory_order_relaxed);
    if (state == State::kClosed || id_ == nullptr || id_->serial() != event.serial) return;
    if (event.type > RDMA_CM_EVENT_ROUTE_ERROR) unanswered_ = false;
    switch (event.type) {
      case RDMA_CM_EVENT_ADDR_RESOLVED:
        if (state != State::kConnecting) break;
        if (!OurDevice(event.id)) {
          Fail(RejectReason::kUnreachable,
               "the route to " + AddressText(connect_.remote) + " does not lead over this device",
               &deferred);
        } else if (rdma_resolve_route(event.id, ResolveTime(connect_deadline_)) != 0) {
          Fail(RejectReason::kUnreachable, "rdma_resolve_route: " + OsText(errno), &deferred);
        }
        break;
      case RDMA_CM_EVENT_ROUTE_RESOLVED:
        if (state == State::kConnecting) OnRouteResolved(&deferred);
        break;
      case RDMA_CM_EVENT_CONNECT_RESPONSE:
        if (state == State::kConnecting) OnResponse(event, &deferred);
        break;
      case RDMA_CM_EVENT_ESTABLISHED:
        if (state != State::kConnecting) break;
        Established(active_ ? rdmacm::ReadField(rdmacm::CmField::kReply, event.private_data(),
                                                device_.traits.iwarp)
                                  .data
                            : std::span<const uint8_t>(),
                    &deferred);
        break;
      case RDMA_CM_EVENT_REJECTED:
        if (state == State::kConnecting) OnRejected(event, &deferred);
        break;
      case RDMA_CM_EVENT_ADDR_ERROR:
      case RDMA_CM_EVENT_ROUTE_ERROR:
      case RDMA_CM_EVENT_CONNECT_ERROR:
      case RDMA_CM_EVENT_UNREACHABLE:
        if (state != State::kConnecting) break;
        if (active_ && event.status == -ECONNREFUSED) {
          OnNobodyListens(&deferred);
          break;
        }
        Fail(active_ ? RejectReason::kUnreachable : RejectReason::kAborted,
             fmt::format("{}: {}", rdma_event_str(event.type), OsText(event.status)), &deferred);
        break;
      case RDMA_CM_EVENT_DISCONNECTED:
      case RDMA_CM_EVENT_DEVICE_REMOVAL:
        OnDisconnected(event, &deferred);
        break;
      default:
        SOFTDAT_LOG(Info, "{}: {}", device_.attributes.device_name, rdma_event_str(event.type));
        break;
    }
  }
  Run(deferred);
  if (event.type == RDMA_CM_EVENT_DEVICE_REMOVAL) device_.OnGone(rdma_event_str(event.type));
}

void QpCore::OnRouteResolved(Deferred* deferred) {
  rdma_cm_id* const id = id_->get();
  Status status = ToInit(id);
  if (status.ok()) status = ActivateReceives();
  if (status.ok()) {
    const rdmacm::FieldWriter field(rdmacm::CmField::kRequest, padded_,
                                    connect_.conn_qual > kMaxPortQualifier
                                        ? std::optional<uint64_t>(connect_.conn_qual)
                                        : std::nullopt,
                                    connect_data_);
    rdma_conn_param param{};
    param.private_data = field.data();
    param.private_data_len = field.size();
    param.responder_resources = static_cast<uint8_t>(std::min(attributes_.max_read_in, 255u));
    param.initiator_depth = static_cast<uint8_t>(std::min(attributes_.max_read_out, 255u));
    param.flow_control = 1;
    param.retry_count = kRetryCount;
    param.rnr_retry_count = kRetryForEver;
    param.srq = attributes_.srq != nullptr;
    param.qp_num = qp_->qp_num;
    unanswered_ = true;
    if (rdma_connect(id, &param) != 0) {
      unanswered_ = false;
      // siw connects before it returns.
      if (errno == ECONNREFUSED) return OnNobodyListens(deferred);
      status = OsStatus(errno, "rdma_connect");
    }
  }
  if (!status.ok()) {
    Fail(RejectReason::kUnreachable, std::string(status.reason()), deferred);
    return;
  }
  addresses_.local_port = ntohs(rdma_get_src_port(id));
  std::memcpy(&addresses_.local, rdma_get_local_addr(id), AddressSize(addresses_.local));
}

void QpCore::OnResponse(const CmEvent& event, Deferred* deferred) {
  // The reply's depths have been taken over by the kernel; our own are an upper bound anyway.
  Status status = ToReady(event.id, std::nullopt, std::nullopt);
  if (status.ok() && rdma_establish(event.id) != 0) status = OsStatus(errno, "rdma_establish");
  if (!status.ok()) {
    Fail(RejectReason::kNonPeer, std::string(status.reason()), deferred);
    return;
  }
  Established(rdmacm::ReadField(rdmacm::CmField::kReply, event.private_data(), false).data,
              deferred);
}

void QpCore::Established(std::span<const uint8_t> data, Deferred* deferred) {
  CancelTimer();
  established_ = linked_ = true;
  SetState(State::kConnected);
  deferred->upcall = Deferred::Upcall::kEstablished;
  deferred->data.assign(data.begin(), data.end());
}

void QpCore::OnRejected(const CmEvent& event, Deferred* deferred) {
  if (!active_) {
    Fail(RejectReason::kAborted, fmt::format("the peer gave up (status {})", event.status),
         deferred);
    return;
  }
  const bool iwarp = device_.traits.iwarp;
  const rdmacm::FieldView field =
      rdmacm::ReadField(rdmacm::CmField::kReject, event.private_data(), iwarp);
  bool by_consumer = false;
  bool nobody_listens = false;
  if (iwarp) {
    // An MPA reject reports as a reset; a refused TCP connection is one that nobody listens to.
    nobody_listens = event.status == -ECONNREFUSED;
    by_consumer = event.status == -ECONNRESET && !field.refusal;
  } else {
    nobody_listens = event.status == kRejectInvalidServiceId;
    // Without a trailer the whole field comes; a kernel that rejects for its consumer leaves it
    // empty.
    const bool any =
        std::any_of(field.data.begin(), field.data.end(), [](uint8_t b) { return b != 0; });
    by_consumer =
        event.status == kRejectConsumerDefined && !field.refusal && (field.trailer || any);
  }
  if (nobody_listens) {
    OnNobodyListens(deferred);
    return;
  }
  Fail(by_consumer ? RejectReason::kPeer : RejectReason::kNonPeer,
       by_consumer ? "the peer's consumer rejected the connection"
                   : fmt::format("rejected with status {}", event.status),
       deferred, by_consumer ? field.data : std::span<const uint8_t>());
}

void QpCore::OnNobodyListens(Deferred* deferred) {
  if (Clock::now() < grace_until_ && IsOwnAddress(connect_.remote)) {
    Retry();
  } else {
    Fail(RejectReason::kNonPeer, fmt::format("nobody listens at {}", AddressText(connect_.remote)),
         deferred);
  }
}

Status QpCore::Accept(const AcceptParameters& p, std::span<const uint8_t> private_data) {
  Deferred deferred(*this);
  Status status;
  {
    const std::lock_guard<std::mutex> lock(control_);
    if (state_.load(std::memory_order_relaxed) != State::kIdle) {
      return Status(Code::kInvalidState, "the queue pair is not idle");
    }
    if (attributes_.pd == nullptr) {
      return Status(Code::kInvalidState, "the queue pair has no protection domain");
    }
    status = EnsureHardware();
    if (!status.ok()) return status;
    active_ = false;
    padded_ = p.padded;
    id_ = p.id;
    addresses_ = p.addresses;
    rdma_cm_id* const id = id_->get();
    completions.holding.store(true, std::memory_order_relaxed);
    const auto read_in =
        static_cast<uint8_t>(std::min<uint32_t>(attributes_.max_read_in, p.responder_resources));
    const auto read_out =
        static_cast<uint8_t>(std::min<uint32_t>(attributes_.max_read_out, p.initiator_depth));
    bool gone = p.gone;
    if (!gone) {
      // A requester that gave up meanwhile makes each of these fail; that is no failure of the
      // call.
      status = ToInit(id);
      if (status.ok()) status = ActivateReceives();
      if (status.ok()) status = ToReady(id, read_in, read_out);
      if (status.ok()) {
        const rdmacm::FieldWriter field(rdmacm::CmField::kReply, padded_, std::nullopt,
                                        private_data);
        rdma_conn_param param{};
        param.private_data = field.data();
        param.private_data_len = field.size();
        param.responder_resources = read_in;
        param.initiator_depth = read_out;
        param.flow_control = 1;
        param.rnr_retry_count = kRetryForEver;
        param.srq = attributes_.srq != nullptr;
        param.qp_num = qp_->qp_num;
        SetState(State::kConnecting);
        if (rdma_accept(id, &param) != 0) status = OsStatus(errno, "rdma_accept");
      }
      gone = !status.ok();
    }
    if (gone) {
      SetState(State::kConnecting);
      device_.driver.Post([qp = shared_from_this(), generation = generation_,
                           why = status.ok() ? std::string("the requester had given up")
                                             : std::string(status.reason())] {
        Deferred later(*qp);
        {
          const std::lock_guard<std::mutex> relock(qp->control_);
          if (qp->generation_ != generation) return;
          qp->Fail(RejectReason::kAborted, why, &later);
        }
        qp->Run(later);
      });
    } else {
      linked_ = true;
    }
  }
  Run(deferred);
  return Status::Ok();
}

void QpCore::OnFirstMessage(uint32_t life) {
  const std::lock_guard<std::mutex> lock(control_);
  if (life != hardware_life()) return;
  if (state_.load(std::memory_order_relaxed) == State::kConnecting && id_ != nullptr) {
    rdma_notify(id_->get(), IBV_EVENT_COMM_EST);
  }
}

}  // namespace softdat::verbs
