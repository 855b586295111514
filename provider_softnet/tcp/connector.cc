// SPDX-License-Identifier: BSD-3-Clause
// Connector.
#include "provider_softnet/tcp/connector.h"

#include <errno.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <string.h>

#include <algorithm>

#include "dat/backend_kit/qualifier_port.h"
#include "dat/base/log.h"
#include "dat/base/socket_address.h"
#include "provider_softnet/tcp/socket_util.h"

namespace softdat::softnet {

using transport::RejectReason;

namespace {

constexpr std::chrono::milliseconds kSlowestRetry{20};

// ETIMEDOUT is the kernel's patience, which says that nobody is there; kTimedOut is for the
// consumer's own time limit (semantics 9.2).
RejectReason ReasonOf(int error) {
  switch (error) {
    case ECONNREFUSED:
    case ECONNRESET:
    case EPIPE:
      return RejectReason::kNonPeer;
    default:
      return RejectReason::kUnreachable;
  }
}

MpaConfig ConfigFor(const TcpContext& adapter, uint64_t conn_qual, uint32_t in, uint32_t out) {
  MpaConfig config;
  config.crc = adapter.options.crc;
  config.revision = adapter.options.mpa_revision;
  config.max_read_in = in;
  config.max_read_out = out;
  config.conn_qual = conn_qual;
  return config;
}

}  // namespace

Connector::Connector(Endpoint* endpoint, TcpContext* adapter, const transport::ConnectParameters& p,
                     uint32_t max_read_in, uint32_t max_read_out)
    : endpoint_(endpoint),
      adapter_(adapter),
      remote_(p.remote),
      conn_qual_(p.conn_qual),
      timeout_(p.timeout),
      private_data_(p.private_data.begin(), p.private_data.end()),
      mpa_config_(ConfigFor(*adapter, p.conn_qual, max_read_in, max_read_out)),
      local_(IsLocal(p.remote)),
      watch_(&adapter->driver.loop(), [this](int) { OnReady(); }),
      retry_timer_(&adapter->driver.loop(), [this] { Attempt(); }),
      limit_timer_(&adapter->driver.loop(), [this] {
        Fail(RejectReason::kTimedOut,
             fmt::format("{}: no answer within {} ms ({})", Where(), timeout_.count() / 1000,
                         tcp_connected_ ? "TCP is connected, the request unanswered"
                                        : "TCP not connected"));
      }) {
  SetSocketPort(PortOfQualifier(conn_qual_), &remote_);
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&remote_);
  if (remote_.ss_family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(&v6->sin6_addr) &&
      v6->sin6_scope_id == 0) {
    v6->sin6_scope_id = adapter->shared->interface_index;
  }
}

Connector::~Connector() { CloseSocket(); }

void Connector::Cancel() {
  CloseSocket();
  limit_timer_.Stop();
  retry_timer_.Stop();
}

std::string Connector::Where() const {
  return fmt::format("connect to {} (qualifier {})", AddressText(remote_), conn_qual_);
}

Status Connector::Start() {
  if (Status s = OpenSocket(); !s.ok()) return s;
  started_ = LoopClock::now();
  if (timeout_ != std::chrono::microseconds::max()) limit_timer_.Start(timeout_);
  retry_timer_.Start(std::chrono::microseconds(0));
  return Status::Ok();
}

Status Connector::OpenSocket() {
  Result<UniqueFd> fd = OpenTcp(remote_.ss_family);
  if (!fd.ok()) return fd.TakeStatus();
  fd_ = fd.Take();
  PrepareStream(fd_.get(), adapter_->options.dead_path);
  // Leave through the adapter's own address, as the IA's name promises, unless the kernel knows
  // better: a destination on this host, or an adapter that is the loopback interface.
  const sockaddr_storage& own = adapter_->attributes.address;
  if (local_ || IsLoopback(own) || own.ss_family != remote_.ss_family) return Status::Ok();
  const int on = 1;
  setsockopt(fd_.get(), IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof(on));
  sockaddr_storage source = own;
  SetSocketPort(0, &source);
  if (bind(fd_.get(), reinterpret_cast<const sockaddr*>(&source), AddressSize(source)) != 0) {
    return Status(Code::kNoResources, fmt::format("{}: cannot use the adapter's address {}: {}",
                                                  Where(), HostText(own), strerror(errno)));
  }
  return Status::Ok();
}

void Connector::Attempt() {
  if (!fd_.valid()) {
    if (Status s = OpenSocket(); !s.ok()) {
      return Fail(RejectReason::kUnreachable, std::string(s.reason()));
    }
  }
  tcp_connected_ = false;
  int rc;
  do {
    rc = connect(fd_.get(), reinterpret_cast<const sockaddr*>(&remote_), AddressSize(remote_));
  } while (rc != 0 && errno == EINTR);
  if (rc != 0 && errno != EINPROGRESS) return OnTcpFailed(errno);
  if (Status s = watch_.Start(fd_.get(), UV_WRITABLE); !s.ok()) {
    return Fail(RejectReason::kUnreachable, std::string(s.reason()));
  }
}

void Connector::OnReady() {
  if (tcp_connected_) return ExchangeFrames();
  int error = 0;
  socklen_t size = sizeof(error);
  getsockopt(fd_.get(), SOL_SOCKET, SO_ERROR, &error, &size);
  if (error != 0) return OnTcpFailed(error);
  OnTcpConnected();
}

void Connector::OnTcpConnected() {
  const sockaddr_storage local = LocalAddressOf(fd_.get()), remote = RemoteAddressOf(fd_.get());
  if (remote.ss_family == 0) return OnTcpFailed(ENOTCONN);
  if (local_ && SocketPort(local) == SocketPort(remote) && SameHost(local, remote)) {
    // Nobody listens, but the kernel chose the destination as our own port: TCP met itself (RFC
    // 9293 §3.5, simultaneous open).
    return OnTcpFailed(ECONNREFUSED);
  }
  tcp_connected_ = true;
  // Until the stream watches its own path. The peer's TCP takes the request, whoever answers it.
  SetUnansweredLimit(fd_.get(), adapter_->options.dead_path);
  initiator_.emplace(mpa_config_, private_data_);
  ExchangeFrames();
}

void Connector::OnTcpFailed(int error) {
  CloseSocket();
  if (error == ECONNREFUSED && local_ &&
      LoopClock::now() - started_ < std::chrono::milliseconds(adapter_->options.connect_grace)) {
    return RetryLater();
  }
  std::string why = fmt::format("{}: {}", Where(), strerror(error));
  if (error == ECONNREFUSED) why += ": nobody listens there";
  Fail(ReasonOf(error), why);
}

void Connector::RetryLater() {
  retry_timer_.Start(retry_delay_);
  retry_delay_ = std::min(retry_delay_ * 2, kSlowestRetry);
}

void Connector::ExchangeFrames() {
  MpaInitiator& mpa = *initiator_;
  while (!mpa.output().empty()) {
    const iovec iov{const_cast<uint8_t*>(mpa.output().data()), mpa.output().size()};
    const ssize_t n = SendNow(fd_.get(), &iov, 1);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) break;
    if (n < 0 && ReasonOf(errno) == RejectReason::kUnreachable) return OnTcpFailed(errno);
    if (n < 0) {
      mpa.OnClosed(strerror(errno));
      break;
    }
    mpa.OnSent(static_cast<size_t>(n));
  }
  uint8_t buffer[iwarp::kMpaMaxFrameSize];
  while (mpa.state() == MpaState::kExchange && mpa.bytes_wanted() > 0) {
    const iovec iov{buffer, std::min(sizeof(buffer), mpa.bytes_wanted())};
    const ssize_t n = ReceiveNow(fd_.get(), &iov, 1);
    if (n > 0) {
      mpa.OnReceived(buffer, static_cast<size_t>(n));
    } else if (n == 0) {
      mpa.OnClosed("the peer closed");
    } else if (errno == EAGAIN) {
      break;
    } else if (errno != EINTR && ReasonOf(errno) == RejectReason::kUnreachable) {
      return OnTcpFailed(errno);
    } else if (errno != EINTR) {
      mpa.OnClosed(strerror(errno));
    }
  }
  if (mpa.state() == MpaState::kExchange) {
    watch_.Update(mpa.output().empty() ? UV_READABLE : UV_READABLE | UV_WRITABLE);
    return;
  }
  if (!mpa.output()
           .empty()) {  // a Terminate for a Reply that cannot be used; the peer may not read it
    const iovec iov{const_cast<uint8_t*>(mpa.output().data()), mpa.output().size()};
    (void)SendNow(fd_.get(), &iov, 1);
  }
  OnFramesDone();
}

void Connector::OnFramesDone() {
  MpaInitiator& mpa = *initiator_;
  watch_.Stop();
  if (mpa.state() == MpaState::kEstablished) {
    limit_timer_.Stop();
    SetUnansweredLimit(fd_.get(), std::chrono::milliseconds(0));
    AgreedConnection connection;
    connection.agreement = mpa.agreement();
    connection.addresses.local = LocalAddressOf(fd_.get());
    connection.addresses.remote = RemoteAddressOf(fd_.get());
    connection.addresses.local_port = SocketPort(connection.addresses.local);
    connection.addresses.remote_port = conn_qual_;
    connection.fd = std::move(fd_);
    return endpoint_->OnConnected(std::move(connection), mpa.peer_private_data());
  }
  const std::string why = fmt::format("{}: {}", Where(), mpa.reason());
  if (mpa.state() == MpaState::kRejected) {
    adapter_->CloseGently(std::move(fd_));
    limit_timer_.Stop();
    return endpoint_->OnConnectFailed(RejectReason::kPeer, mpa.peer_private_data(), why);
  }
  if (mpa.retry_with_revision1()) {
    SOFTDAT_LOG(Info, "{}; once more with MPA revision 1", why);
    CloseSocket();
    mpa_config_.revision = 1;
    return RetryLater();
  }
  Fail(RejectReason::kNonPeer, why);
}

void Connector::CloseSocket() {
  watch_.Stop();
  initiator_.reset();
  if (fd_.valid()) adapter_->CloseNow(std::move(fd_), false);
}

void Connector::Fail(RejectReason reason, const std::string& why) {
  Cancel();
  endpoint_->OnConnectFailed(reason, {}, why);
}

}  // namespace softdat::softnet
