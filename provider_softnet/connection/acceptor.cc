// SPDX-License-Identifier: BSD-3-Clause
// Acceptor.
#include "provider_softnet/connection/acceptor.h"

#include <errno.h>
#include <sys/socket.h>

#include <utility>

#include "provider_softnet/connection/connection_context.h"
#include "provider_softnet/driver/descriptor_limit.h"

namespace softdat::softnet {
namespace {

constexpr std::chrono::milliseconds kPause{50};
// How many connections are taken in one go, so that a flood cannot keep the loop from its streams.
constexpr int kBatch = 64;

}  // namespace

Acceptor::Acceptor(std::shared_ptr<ServicePoint> point, Handler handler)
    : point_(std::move(point)),
      handler_(std::make_shared<const Handler>(std::move(handler))),
      watch_(&point_->context->driver.loop(), [this](int) { OnReadable(); }),
      pause_(&point_->context->driver.loop(), [this] { watch_.Update(kReadable); }) {}

Acceptor::~Acceptor() {
  watch_.Stop();
  pause_.Close();
}

Status Acceptor::Start(int fd) {
  fd_ = fd;
  return watch_.Start(fd, kReadable);
}

void Acceptor::OnReadable() {
  const std::shared_ptr<ServicePoint> point = point_;
  const std::shared_ptr<const Handler> handler = handler_;
  const int fd = fd_;
  // A connection that comes alone is taken without another call, which would say that nobody else
  // waits. If the very next look finds one, there are many.
  const uint64_t look = point->context->driver.loop().looks();
  const bool many = look - std::exchange(found_at_, look) <= 1;
  for (int i = 0; i < (many ? kBatch : 1); ++i) {
    // An upcall may have destroyed this object.
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
    handler->take(std::move(socket));
  }
}

void Acceptor::Pause(int error) {
  watch_.Update(0);
  pause_.Start(kPause);
  if (std::exchange(held_, true) || !handler_->hold) return;
  const std::shared_ptr<const Handler> handler = handler_;
  handler->hold(error);
}

}  // namespace softdat::softnet
