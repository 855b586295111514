// SPDX-License-Identifier: BSD-3-Clause
// ShmListener.
#include "provider_softnet/shm/shm_listener.h"

#include <errno.h>
#include <fmt/format.h>
#include <string.h>
#include <sys/socket.h>

#include <string>
#include <utility>

#include "dat/base/log.h"
#include "dat/base/socket_address.h"
#include "provider_softnet/connection/incoming.h"
#include "provider_softnet/driver/descriptor_limit.h"
#include "provider_softnet/shm/local_socket.h"

namespace softdat::softnet {
namespace {

constexpr std::chrono::milliseconds kPause{50};
// How many connections are taken in one go, so that a flood cannot keep the loop from its streams.
constexpr int kAcceptBatch = 64;

}  // namespace

ShmListener::ShmListener(std::shared_ptr<ShmContext> context)
    : context_(std::move(context)),
      watch_(&context_->driver.loop(), [this](int) { OnReadable(); }),
      pause_(&context_->driver.loop(), [this] { watch_.Update(UV_READABLE); }) {}

Result<std::unique_ptr<transport::Listener>> ShmListener::Create(
    const std::shared_ptr<ShmContext>& context, const transport::ListenParameters& p) {
  if (p.sink == nullptr) return Status(Code::kInvalidArgument, "a listener without a sink");
  if (!p.any && p.conn_qual == 0) return Status(Code::kInvalidArgument, "connection qualifier 0");
  if (p.address != nullptr && AddressSize(*p.address) == 0) {
    return Status(Code::kAddressUnsupported, "the address to listen on is neither IPv4 nor IPv6");
  }
  if (Status s = context->driver.Start(); !s.ok()) return s;
  const TokenHold token(&context->driver.token());
  std::unique_ptr<ShmListener> listener(new ShmListener(context));
  listener->point_->context = context;
  listener->point_->conn_qual = p.any ? 0 : p.conn_qual;
  listener->point_->sink = p.sink;
  const std::string host = p.address == nullptr ? "" : HostText(Unmapped(*p.address));
  if (Status s =
          ShmPorts::Get().Join(listener->point_, host, p.any, &listener->fd_, &listener->port_);
      !s.ok()) {
    return s;
  }
  listener->joined_ = true;
  context->driver.counters().sockets_opened.Add();
  if (Status s = listener->watch_.Start(listener->fd_.get(), UV_READABLE); !s.ok()) return s;
  return std::unique_ptr<transport::Listener>(std::move(listener));
}

ShmListener::~ShmListener() {
  const TokenHold token(&context_->driver.token());
  watch_.Stop();
  pause_.Close();
  if (!joined_) return;
  point_->sink = nullptr;
  ShmPorts::Get().Leave(port_, point_);
  fd_.Close();
  context_->driver.counters().sockets_closed.Add();
}

void ShmListener::OnReadable() {
  const std::shared_ptr<ShmContext> context = context_;
  const std::shared_ptr<ServicePoint> point = point_;
  const ShmPort port = port_;
  const int fd = fd_.get();
  const auto find = [port](uint64_t conn_qual, bool whole) {
    return ShmPorts::Get().Find(port, conn_qual, whole);
  };
  for (int i = 0; i < kAcceptBatch; ++i) {
    // An upcall may have destroyed this listener.
    if (point->sink == nullptr) return;
    UniqueFd socket(accept4(fd, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!socket.valid()) {
      const int error = errno;
      if (error == EAGAIN || error == EWOULDBLOCK) return;
      if (error == EMFILE && RaiseDescriptorLimit()) continue;
      if (error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM)
        return Pause(error);
      continue;  // this connection is gone, but the next one may not be
    }
    held_ = false;
    if (!IsOwnUsersSocket(socket.get())) {
      SOFTDAT_LOG(Warning, "connection to port {} from another user refused", port.second);
      continue;
    }
    context->driver.counters().sockets_opened.Add();
    if (Incoming* const oldest = context->half_open.Surplus()) oldest->Evict();
    auto link = std::make_unique<ShmLink>(std::move(socket));
    context->half_open.Add(std::make_unique<Incoming>(context, std::move(link), port.second, find))
        ->Start();
  }
}

void ShmListener::Pause(int error) {
  watch_.Update(0);
  pause_.Start(kPause);
  if (std::exchange(held_, true)) return;
  // This must come last, because the upcall may destroy this listener.
  point_->sink->OnRequestsHeld(
      fmt::format("cannot take connections on port {}: {}", port_.second, strerror(error)));
}

}  // namespace softdat::softnet
