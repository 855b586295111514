// SPDX-License-Identifier: BSD-3-Clause
// TcpListener.
#include "provider_softnet/tcp/listener.h"

#include <errno.h>
#include <fmt/format.h>
#include <string.h>
#include <sys/socket.h>

#include <utility>

#include "dat/base/log.h"
#include "dat/base/socket_address.h"
#include "provider_softnet/connection/incoming.h"
#include "provider_softnet/driver/descriptor_limit.h"
#include "provider_softnet/tcp/socket_util.h"
#include "provider_softnet/tcp/tcp_link.h"

namespace softdat::softnet {
namespace {

constexpr std::chrono::milliseconds kPause{50};
// How many connections are taken in one go, so that a flood cannot keep the loop from its streams.
constexpr int kAcceptBatch = 64;

}  // namespace

TcpListener::TcpListener(std::shared_ptr<TcpContext> adapter)
    : adapter_(std::move(adapter)),
      watch_(&adapter_->driver.loop(), [this](int) { OnReadable(); }),
      pause_(&adapter_->driver.loop(), [this] { watch_.Update(UV_READABLE); }) {}

Result<std::unique_ptr<transport::Listener>> TcpListener::Create(
    const std::shared_ptr<TcpContext>& adapter, const transport::ListenParameters& p) {
  if (p.sink == nullptr) return Status(Code::kInvalidArgument, "a listener without a sink");
  if (!p.any && p.conn_qual == 0) return Status(Code::kInvalidArgument, "connection qualifier 0");
  if (p.address != nullptr && AddressSize(*p.address) == 0) {
    return Status(Code::kAddressUnsupported, "the address to listen on is neither IPv4 nor IPv6");
  }
  if (Status s = adapter->driver.Start(); !s.ok()) return s;
  const TokenHold token(&adapter->driver.token());
  std::unique_ptr<TcpListener> listener(new TcpListener(adapter));
  listener->point_ = std::make_shared<ServicePoint>();
  listener->point_->context = adapter;
  listener->point_->conn_qual = p.any ? 0 : p.conn_qual;
  listener->point_->sink = p.sink;
  if (Status s = PortRegistry::Get().Join(listener->point_, p.address, p.any, &listener->fd_,
                                          &listener->key_);
      !s.ok()) {
    return s;
  }
  listener->registered_ = true;
  adapter->driver.counters().sockets_opened.Add();
  if (Status s = listener->watch_.Start(listener->fd_.get(), UV_READABLE); !s.ok()) return s;
  listener->handoff_ = std::make_unique<HandoffListener>(listener->point_, listener->key_.first);
  return std::unique_ptr<transport::Listener>(std::move(listener));
}

TcpListener::~TcpListener() {
  const TokenHold token(&adapter_->driver.token());
  watch_.Stop();
  pause_.Close();
  handoff_.reset();
  if (registered_) {
    point_->sink = nullptr;
    PortRegistry::Get().Leave(key_, point_);
    adapter_->CloseListening(std::move(fd_));
  }
}

void TcpListener::OnReadable() {
  const std::shared_ptr<TcpContext> adapter = adapter_;
  const std::shared_ptr<ServicePoint> point = point_;
  const PortKey key = key_;
  const int fd = fd_.get();
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
    adapter->driver.counters().sockets_opened.Add();
    PrepareStream(socket.get(), adapter->options.dead_path);
    if (Incoming* const oldest = adapter->half_open.Surplus()) oldest->Evict();
    auto link = std::make_unique<TcpLink>(std::move(socket));
    auto find = [key](uint64_t conn_qual, bool whole) {
      return PortRegistry::Get().Find(key, conn_qual, whole);
    };
    adapter->half_open.Add(std::make_unique<Incoming>(adapter, std::move(link), key.second, find))
        ->Start();
  }
}

void TcpListener::Pause(int error) {
  watch_.Update(0);
  pause_.Start(kPause);
  if (std::exchange(held_, true)) return;
  // This must come last, because the upcall may destroy this listener.
  point_->sink->OnRequestsHeld(
      fmt::format("cannot take connections on port {}: {}", key_.second, strerror(error)));
}

}  // namespace softdat::softnet
