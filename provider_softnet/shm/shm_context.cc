// SPDX-License-Identifier: BSD-3-Clause
// ShmContext and ClosingLink.
#include "provider_softnet/shm/shm_context.h"

#include <errno.h>
#include <fmt/format.h>
#include <string.h>

#include <thread>
#include <utility>

#include "dat/base/socket_address.h"
#include "provider_softnet/connection/connection_request.h"
#include "provider_softnet/driver/local_socket.h"
#include "provider_softnet/driver/watch_events.h"
#include "provider_softnet/shm/shm_ports.h"

namespace softdat::softnet {

// -------------------------------------------------------------------------------------------------
// ClosingLink

ClosingLink::ClosingLink(ShmContext* context, std::unique_ptr<ShmLink> link, bool abrupt,
                         std::vector<uint8_t> rest, uint64_t id)
    : context_(context),
      link_(std::move(link)),
      id_(id),
      abrupt_(abrupt),
      rest_(std::move(rest)),
      watch_(&context->driver.loop(),
             [this](int) {
               if (!Proceed()) Leave();
             }),
      timer_(&context->driver.loop(), [this] { Leave(); }) {
  link_->StopReading();
}

ClosingLink::~ClosingLink() {
  watch_.Stop();
  timer_.Stop();
  context_->driver.counters().sockets_closed.Add();
}

bool ClosingLink::Start(std::chrono::milliseconds timeout) {
  if (!Proceed()) return false;
  const int wanted = finished_ ? kHangup : kHangup | kWritable;
  if (!watch_.Start(link_.get(), wanted).ok()) return false;
  timer_.Start(timeout);
  return true;
}

bool ClosingLink::Proceed() {
  while (sent_ < rest_.size()) {
    const iovec iov{rest_.data() + sent_, rest_.size() - sent_};
    const ssize_t n = link_->Send(&iov, 1);
    if (n < 0 && errno == EAGAIN) return true;
    if (n < 0) return false;
    sent_ += static_cast<size_t>(n);
  }
  if (!std::exchange(finished_, true)) {
    link_->FinishSending();
    if (watch_.active()) watch_.Update(kHangup);
  }
  return !abrupt_ && !link_->PeerHasGone() && !link_->PeerHasFinished();
}

void ClosingLink::Hurry() {
  abrupt_ = true;
  if (finished_) Leave();
}

bool ClosingLink::HasSaidAll() {
  link_->Happened(0);  // the loop does not run any more that would tell that the peer has gone
  return !Proceed() || finished_;
}

void ClosingLink::Leave() {
  watch_.Stop();
  timer_.Stop();
  std::unique_ptr<ClosingLink> self = context_->closing.Take(id_);
  if (self == nullptr) return;
  // Its own handlers call this.
  context_->driver.DeleteLater(std::shared_ptr<ClosingLink>(std::move(self)));
}

// -------------------------------------------------------------------------------------------------
// ShmContext

void ShmContext::Stop() {
  constexpr std::chrono::milliseconds kBriefly{50};
  SayLastWords(LoopClock::now() + kBriefly);
  half_open.Clear();
  closing.Clear();
  paths.Close();
}

void ShmContext::OnProcessExit(LoopClock::time_point deadline) {
  leavers.LeaveAll(deadline);
  driver.RunAtExit(deadline,
                   [self = shared_from_this(), deadline] { self->SayLastWords(deadline); });
}

// With the token. No loop runs any more that would tell when a peer has made room: the peer has
// what it reads before the deadline.
void ShmContext::SayLastWords(LoopClock::time_point deadline) {
  constexpr std::chrono::microseconds kLook{200};
  for (;;) {
    bool all = true;
    closing.ForEach([&all](ClosingLink& link) { all &= link.HasSaidAll(); });
    if (all || LoopClock::now() >= deadline) return;
    std::this_thread::sleep_for(kLook);
  }
}

Result<std::unique_ptr<ByteLink>> ShmContext::OpenLink(const sockaddr_storage& remote,
                                                       bool same_host) {
  if (AddressSize(remote) == 0) {
    return Status(Code::kAddressUnsupported,
                  fmt::format("address family {} is neither IPv4 nor IPv6", remote.ss_family));
  }
  UniqueFd fd = OpenLocalSocket();
  if (!fd.valid()) {
    return Status(Code::kNoResources, fmt::format("no local socket: {}", strerror(errno)));
  }
  driver.counters().sockets_opened.Add();
  return std::unique_ptr<ByteLink>(std::make_unique<ShmLink>(std::move(fd), same_host));
}

void ShmContext::CloseNow(std::unique_ptr<ByteLink> link, bool reset) {
  auto& shm = static_cast<ShmLink&>(*link);
  if (!reset) {
    shm.StopReading();
    shm.FinishSending();
  }
  link.reset();
  driver.counters().sockets_closed.Add();
}

uint64_t ShmContext::CloseGently(std::unique_ptr<ByteLink> link, bool abrupt,
                                 std::vector<uint8_t> rest, SocketWatch* watch) {
  if (watch != nullptr) watch->Stop();
  if (!driver.started()) return 0;
  std::unique_ptr<ShmLink> shm(static_cast<ShmLink*>(link.release()));
  auto one = std::make_unique<ClosingLink>(this, std::move(shm), abrupt, std::move(rest),
                                           closing.NextId());
  if (!one->Start(options.close_timeout)) return 0;
  const uint64_t id = one->id();
  closing.Add(std::move(one));
  return id;
}

void ShmContext::HurryClosing(uint64_t id) { closing.Hurry(id); }

Status ShmContext::HandOn(ArrivedRequest* request, uint64_t conn_qual) {
  const std::string host = HostText(request->addresses.local);
  const auto point = ShmPorts().Get().FindForHandoff(host, conn_qual);
  if (point == nullptr) {
    return Status(Code::kNotFound,
                  "nobody listens there in this process, and requests over shared memory do not "
                  "leave their process");
  }
  if (HandOnTo(point, request)) return Status::Ok();
  return Status(Code::kNotFound, "the adapter that listened there has closed");
}

}  // namespace softdat::softnet
