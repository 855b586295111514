// SPDX-License-Identifier: BSD-3-Clause
// Connector.
#include "provider_softnet/tcp/connector.h"

#include <errno.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <string.h>

#include <algorithm>
#include <utility>

#include "dat/backend_kit/qualifier_port.h"
#include "dat/base/log.h"
#include "dat/base/socket_address.h"
#include "provider_softnet/tcp/loop_time.h"
#include "provider_softnet/tcp/socket_util.h"

namespace softdat::softnet {

using Need = Initiation::Need;
using Outcome = Initiation::Outcome;

namespace {

// The peer's address, with the port of the qualifier.
sockaddr_storage Destination(const TcpContext& adapter, const transport::ConnectParameters& p) {
  sockaddr_storage remote = p.remote;
  SetSocketPort(PortOfQualifier(p.conn_qual), &remote);
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&remote);
  if (remote.ss_family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(&v6->sin6_addr) &&
      v6->sin6_scope_id == 0) {
    v6->sin6_scope_id = adapter.shared->interface_index;
  }
  return remote;
}

Initiation::Parameters ParametersFor(const TcpContext& adapter, const sockaddr_storage& remote,
                                     const transport::ConnectParameters& p, uint32_t max_read_in,
                                     uint32_t max_read_out) {
  Initiation::Parameters parameters;
  parameters.mpa.crc = adapter.options.crc;
  parameters.mpa.revision = adapter.options.mpa_revision;
  parameters.mpa.max_read_in = max_read_in;
  parameters.mpa.max_read_out = max_read_out;
  parameters.mpa.conn_qual = p.conn_qual;
  parameters.private_data.assign(p.private_data.begin(), p.private_data.end());
  parameters.where = fmt::format("connect to {} (qualifier {})", AddressText(remote), p.conn_qual);
  parameters.same_host = IsLocal(p.remote);
  parameters.grace = adapter.options.connect_grace;
  parameters.limit = p.timeout;
  return parameters;
}

}  // namespace

Connector::Connector(Endpoint* endpoint, TcpContext* adapter, const transport::ConnectParameters& p,
                     uint32_t max_read_in, uint32_t max_read_out)
    : endpoint_(endpoint),
      adapter_(adapter),
      conn_qual_(p.conn_qual),
      local_(IsLocal(p.remote)),
      remote_(Destination(*adapter, p)),
      initiation_(ParametersFor(*adapter, remote_, p, max_read_in, max_read_out)),
      watch_(&adapter->driver.loop(), [this](int) { OnReady(); }),
      timer_(&adapter->driver.loop(), [this] { OnTime(); }) {}

Connector::~Connector() { CloseSocket(); }

void Connector::Cancel() {
  CloseSocket();
  timer_.Stop();
}

Status Connector::Start() {
  if (Status s = OpenSocket(); !s.ok()) return s;
  initiation_.Begin(LoopTime());
  timer_.Start(std::chrono::microseconds(0));
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
    return Status(Code::kNoResources,
                  fmt::format("connect to {}: cannot use the adapter's address {}: {}",
                              AddressText(remote_), HostText(own), strerror(errno)));
  }
  return Status::Ok();
}

void Connector::OnTime() {
  initiation_.OnTime(LoopTime());
  Proceed();
}

void Connector::OnReady() {
  if (initiation_.need() == Need::kLink) LookWhetherConnected();
  Proceed();
}

void Connector::Proceed() {
  while (true) {
    switch (initiation_.need()) {
      case Need::kLink:
        if (dialled_ != initiation_.attempt()) {
          Dial();
          continue;
        }
        break;  // it is being connected
      case Need::kBytes:
        MoveFrames();
        if (initiation_.need() != Need::kBytes) continue;
        watch_.Update(initiation_.output().empty() ? UV_READABLE : UV_READABLE | UV_WRITABLE);
        break;
      case Need::kPause:
        CloseSocket();
        break;
      case Need::kOver:
        return Report();
    }
    const Initiation::Time at = initiation_.deadline();
    if (at == Initiation::kNever) return timer_.Stop();
    return timer_.Start(std::max(at - LoopTime(), Initiation::Time(0)));
  }
}

// Begins to connect.
void Connector::Dial() {
  if (dialled_ != 0) CloseSocket();
  dialled_ = initiation_.attempt();
  if (!fd_.valid()) {
    if (Status s = OpenSocket(); !s.ok()) return initiation_.OnNoLink(std::string(s.reason()));
  }
  int rc;
  do {
    rc = connect(fd_.get(), reinterpret_cast<const sockaddr*>(&remote_), AddressSize(remote_));
  } while (rc != 0 && errno == EINTR);
  if (rc != 0 && errno != EINPROGRESS) return initiation_.OnLost(errno, LoopTime());
  if (Status s = watch_.Start(fd_.get(), UV_WRITABLE); !s.ok())
    initiation_.OnNoLink(std::string(s.reason()));
}

void Connector::LookWhetherConnected() {
  int error = 0;
  socklen_t size = sizeof(error);
  getsockopt(fd_.get(), SOL_SOCKET, SO_ERROR, &error, &size);
  if (error != 0) return initiation_.OnLost(error, LoopTime());
  const sockaddr_storage local = LocalAddressOf(fd_.get()), remote = RemoteAddressOf(fd_.get());
  if (remote.ss_family == 0) return initiation_.OnLost(ENOTCONN, LoopTime());
  // Until the stream watches its own path. The peer's TCP takes the request, whoever answers it.
  SetUnansweredLimit(fd_.get(), adapter_->options.dead_path);
  const bool to_itself =
      local_ && SocketPort(local) == SocketPort(remote) && SameHost(local, remote);
  initiation_.OnConnected(to_itself, LoopTime());
}

void Connector::MoveFrames() {
  while (!initiation_.output().empty() && initiation_.need() == Need::kBytes) {
    const std::span<const uint8_t> output = initiation_.output();
    const iovec iov{const_cast<uint8_t*>(output.data()), output.size()};
    const ssize_t n = SendNow(fd_.get(), &iov, 1);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) break;
    if (n < 0) return initiation_.OnLost(errno, LoopTime());
    initiation_.OnSent(static_cast<size_t>(n), LoopTime());
  }
  uint8_t buffer[iwarp::kMpaMaxFrameSize];
  while (initiation_.bytes_wanted() > 0) {
    const iovec iov{buffer, std::min(sizeof(buffer), initiation_.bytes_wanted())};
    const ssize_t n = ReceiveNow(fd_.get(), &iov, 1);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return;
    if (n <= 0) return initiation_.OnLost(n == 0 ? 0 : errno, LoopTime());
    initiation_.OnReceived(buffer, static_cast<size_t>(n), LoopTime());
  }
}

void Connector::Report() {
  timer_.Stop();
  watch_.Stop();
  if (initiation_.outcome() == Outcome::kEstablished) {
    SetUnansweredLimit(fd_.get(), std::chrono::milliseconds(0));
    AgreedConnection connection;
    connection.agreement = initiation_.agreement();
    connection.addresses.local = LocalAddressOf(fd_.get());
    connection.addresses.remote = RemoteAddressOf(fd_.get());
    connection.addresses.local_port = SocketPort(connection.addresses.local);
    connection.addresses.remote_port = conn_qual_;
    connection.fd = std::move(fd_);
    return endpoint_->OnConnected(std::move(connection), initiation_.peer_private_data());
  }
  const std::span<const uint8_t> words = initiation_.last_words();
  if (fd_.valid() && !words.empty()) {  // a Terminate for a Reply that cannot be used
    const iovec iov{const_cast<uint8_t*>(words.data()), words.size()};
    (void)SendNow(fd_.get(), &iov, 1);  // which the peer may not read
  }
  if (fd_.valid() && initiation_.outcome() == Outcome::kRejected)
    adapter_->CloseGently(std::move(fd_));
  CloseSocket();
  const std::span<const uint8_t> data = initiation_.outcome() == Outcome::kRejected
                                            ? initiation_.peer_private_data()
                                            : std::span<const uint8_t>();
  endpoint_->OnConnectFailed(initiation_.reason(), data, initiation_.why());
}

void Connector::CloseSocket() {
  watch_.Stop();
  if (fd_.valid()) adapter_->CloseNow(std::move(fd_), false);
}

}  // namespace softdat::softnet
