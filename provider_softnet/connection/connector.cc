// SPDX-License-Identifier: BSD-3-Clause
// Connector.
#include "provider_softnet/connection/connector.h"

#include <errno.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <string.h>

#include <algorithm>
#include <utility>

#include "dat/backend_kit/own_address.h"
#include "dat/backend_kit/qualifier_port.h"
#include "dat/base/log.h"
#include "dat/base/socket_address.h"
#include "provider_softnet/driver/loop_time.h"

namespace softdat::softnet {

using Need = Initiation::Need;
using Outcome = Initiation::Outcome;

namespace {

bool OnThisHost(const sockaddr_storage& address) {
  const sockaddr_storage unmapped = Unmapped(address);
  return IsLoopback(unmapped) || IsOwnAddress(unmapped);
}

// The peer's address, with the port that belongs to the qualifier.
sockaddr_storage Destination(const ConnectionContext& context,
                             const transport::ConnectParameters& p) {
  sockaddr_storage remote = p.remote;
  SetSocketPort(PortOfQualifier(p.conn_qual), &remote);
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&remote);
  if (remote.ss_family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(&v6->sin6_addr) &&
      v6->sin6_scope_id == 0) {
    v6->sin6_scope_id = context.shared->interface_index;
  }
  return remote;
}

Initiation::Parameters ParametersFor(const ConnectionContext& context,
                                     const sockaddr_storage& remote, bool same_host,
                                     const transport::ConnectParameters& p, uint32_t max_read_in,
                                     uint32_t max_read_out) {
  Initiation::Parameters parameters;
  parameters.mpa.crc = context.options.crc;
  parameters.mpa.revision = context.options.mpa_revision;
  parameters.mpa.max_read_in = max_read_in;
  parameters.mpa.max_read_out = max_read_out;
  parameters.mpa.conn_qual = p.conn_qual;
  parameters.private_data.assign(p.private_data.begin(), p.private_data.end());
  parameters.where = fmt::format("connect to {} (qualifier {})", AddressText(remote), p.conn_qual);
  parameters.same_host = same_host;
  parameters.grace = context.options.connect_grace;
  parameters.limit = p.timeout;
  return parameters;
}

}  // namespace

Connector::Connector(Endpoint* endpoint, ConnectionContext* context,
                     const transport::ConnectParameters& p, uint32_t max_read_in,
                     uint32_t max_read_out)
    : endpoint_(endpoint),
      context_(context),
      conn_qual_(p.conn_qual),
      local_(OnThisHost(p.remote)),
      remote_(Destination(*context, p)),
      initiation_(ParametersFor(*context, remote_, local_, p, max_read_in, max_read_out)),
      watch_(&context->driver.loop(), [this](int events) { OnReady(events); }),
      timer_(&context->driver.loop(), [this] { OnTime(); }) {}

Connector::~Connector() { CloseLink(); }

void Connector::Cancel() {
  CloseLink();
  timer_.Stop();
}

Status Connector::Start() {
  if (Status s = OpenLink(); !s.ok()) return s;
  initiation_.Begin(LoopTime());
  Dial();
  if (initiation_.need() == Need::kBytes) SendFrame();
  timer_.Start(std::chrono::microseconds(0));  // what comes of it is reported later
  return Status::Ok();
}

Status Connector::OpenLink() {
  Result<std::unique_ptr<ByteLink>> link = context_->OpenLink(remote_, local_);
  if (!link.ok()) return link.TakeStatus();
  link_ = link.Take();
  return Status::Ok();
}

void Connector::OnTime() {
  if (std::exchange(path_is_dead_, false)) initiation_.OnLost(ETIMEDOUT, LoopTime());
  initiation_.OnTime(LoopTime());
  Proceed(0);
}

void Connector::OnReady(int events) {
  if (initiation_.need() == Need::kLink) LookWhetherConnected(events);
  Proceed(events);
}

void Connector::Proceed(int events) {
  while (true) {
    switch (initiation_.need()) {
      case Need::kLink:
        if (dialled_ != initiation_.attempt()) {
          Dial();
          continue;
        }
        if (!Watch(kWritable)) continue;
        break;  // the link is being connected
      case Need::kBytes:
        SendFrame();
        PrepareLink();
        if ((events & kReadable) != 0) ReceiveFrame();
        if (initiation_.need() != Need::kBytes) continue;
        if (!Watch(initiation_.output().empty() ? kReadable : kReadable | kWritable)) continue;
        break;
      case Need::kPause:
        CloseLink();
        break;
      case Need::kOver:
        return Report();
    }
    const Initiation::Time at = initiation_.deadline();
    if (at == Initiation::kNever) return timer_.Stop();
    return timer_.Start(std::max(at - LoopTime(), Initiation::Time(0)));
  }
}

// Starts connecting. A link to this host is connected at once, so its first bytes need not wait for
// the loop to say so.
void Connector::Dial() {
  if (dialled_ != 0) CloseLink();
  dialled_ = initiation_.attempt();
  if (link_ == nullptr) {
    if (Status s = OpenLink(); !s.ok()) return initiation_.OnNoLink(std::string(s.reason()));
  }
  const int error = link_->Connect(remote_);
  if (error != 0 && error != EINPROGRESS) return initiation_.OnLost(error, LoopTime());
  if (local_) NoteIfConnected();
}

// False when the link cannot be watched, and then the initiation is over.
bool Connector::Watch(int events) {
  if (watch_.active()) {
    watch_.Update(events);
    return true;
  }
  const Status s = watch_.Start(link_.get(), events);
  if (!s.ok()) initiation_.OnNoLink(std::string(s.reason()));
  return s.ok();
}

void Connector::LookWhetherConnected(int events) {
  const int error = events == kWritable ? 0 : link_->TakeError();  // an error is every event
  if (error != 0) return initiation_.OnLost(error, LoopTime());
  if (!NoteIfConnected()) initiation_.OnLost(ENOTCONN, LoopTime());
}

bool Connector::NoteIfConnected() {
  remote_address_ = link_->RemoteAddress();
  if (remote_address_.ss_family == AF_UNSPEC) return false;
  local_address_ = link_->LocalAddress();
  const bool to_itself = local_ && SocketPort(local_address_) == SocketPort(remote_address_) &&
                         SameHost(local_address_, remote_address_);
  initiation_.OnConnected(to_itself, LoopTime());
  if (initiation_.need() != Need::kBytes) return true;
  // The peer's TCP acknowledges the request even when no program answers it. An attempt that gives
  // up before a path counts as dead needs no watch.
  const Initiation::Time left = initiation_.deadline() - LoopTime();
  if (left > context_->options.dead_path) context_->paths.Add(this);
  return true;
}

// Reports later, as this may not: OnTime().
bool Connector::LookAtPath(LoopClock::time_point now) {
  const PathSample sample = link_->SamplePath();
  if (path_judge_.IsDead(sample, now, context_->options.dead_path)) {
    path_is_dead_ = true;
    timer_.Start(std::chrono::microseconds(0));
  }
  return sample.outstanding;
}

void Connector::SendFrame() {
  while (!initiation_.output().empty() && initiation_.need() == Need::kBytes) {
    const std::span<const uint8_t> output = initiation_.output();
    const iovec iov{const_cast<uint8_t*>(output.data()), output.size()};
    const ssize_t n = link_->Send(&iov, 1);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) break;
    if (n < 0) return initiation_.OnLost(errno, LoopTime());
    initiation_.OnSent(static_cast<size_t>(n), LoopTime());
    context_->paths.NoteSent();
  }
}

// The link's options are several system calls. The peer works on the Request meanwhile.
void Connector::PrepareLink() {
  if (prepared_ == dialled_ || initiation_.need() != Need::kBytes) return;
  prepared_ = dialled_;
  link_->Prepare(context_->options.dead_path);
}

void Connector::ReceiveFrame() {
  uint8_t buffer[iwarp::kMpaMaxFrameSize];
  while (initiation_.bytes_wanted() > 0) {
    const iovec iov{buffer, std::min(sizeof(buffer), initiation_.bytes_wanted())};
    const ssize_t n = link_->Receive(&iov, 1);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return;
    if (n <= 0) return initiation_.OnLost(n == 0 ? 0 : errno, LoopTime());
    initiation_.OnReceived(buffer, static_cast<size_t>(n), LoopTime());
  }
}

void Connector::Report() {
  timer_.Stop();
  context_->paths.Remove(this);
  if (initiation_.outcome() == Outcome::kEstablished) {
    AgreedConnection connection;
    connection.agreement = initiation_.agreement();
    connection.addresses.local = local_address_;
    connection.addresses.remote = remote_address_;
    connection.addresses.local_port = SocketPort(local_address_);
    connection.addresses.remote_port = conn_qual_;
    connection.link = std::move(link_);
    return endpoint_->OnConnected(std::move(connection), &watch_, initiation_.peer_private_data());
  }
  const std::span<const uint8_t> words = initiation_.last_words();
  if (link_ != nullptr && !words.empty()) {  // a Terminate for a Reply that cannot be used
    const iovec iov{const_cast<uint8_t*>(words.data()), words.size()};
    (void)link_->Send(&iov, 1);  // the peer may not read it
  }
  if (link_ != nullptr && initiation_.outcome() == Outcome::kRejected)
    context_->CloseGently(std::move(link_), false, {}, watch_.Release());
  CloseLink();
  const std::span<const uint8_t> data = initiation_.outcome() == Outcome::kRejected
                                            ? initiation_.peer_private_data()
                                            : std::span<const uint8_t>();
  endpoint_->OnConnectFailed(initiation_.reason(), data, initiation_.why());
}

void Connector::CloseLink() {
  watch_.Stop();
  context_->paths.Remove(this);
  path_judge_.Forget();
  path_is_dead_ = false;
  if (link_ != nullptr) context_->CloseNow(std::move(link_), false);
}

}  // namespace softdat::softnet
