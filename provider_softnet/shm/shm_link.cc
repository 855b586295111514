// SPDX-License-Identifier: BSD-3-Clause
// ShmLink.
#include "provider_softnet/shm/shm_link.h"

#include <errno.h>
#include <unistd.h>

#include <array>

#include "dat/base/socket_address.h"
#include "provider_softnet/driver/local_socket.h"
#include "provider_softnet/driver/watch_events.h"
#include "provider_softnet/driver/wire_order.h"
#include "provider_softnet/shm/bell.h"
#include "provider_softnet/shm/hello.h"

namespace softdat::softnet {

namespace {

// The port by which the active end is called. It is no listener's, and only tells connections
// apart.
uint16_t NextPort(uint16_t other_than) {
  constexpr uint32_t kFirst = 32768;
  static std::atomic<uint32_t> next{static_cast<uint32_t>(getpid()) * 64};
  uint16_t port;
  do {
    port = static_cast<uint16_t>(kFirst + next.fetch_add(1, std::memory_order_relaxed) % kFirst);
  } while (port == other_than);
  return port;
}

}  // namespace

int ShmLink::Connect(const sockaddr_storage& remote) {
  if (!same_host_) return EHOSTUNREACH;
  Result<UniqueFd> memory = SharedArea::MakeMemory();
  if (!memory.ok()) return ENOMEM;
  area_ = SharedArea::Map(memory.value().get(), SharedArea::Side::kRequester);
  if (area_ == nullptr) return errno;
  const uint16_t port = SocketPort(remote);
  Hello hello;
  hello.to = hello.from = Unmapped(remote);
  SetSocketPort(NextPort(port), &hello.from);
  int error = ConnectTo(fd_.get(), MeetingPlaceOf(geteuid(), HostText(hello.to), port));
  if (error == ECONNREFUSED) error = ConnectTo(fd_.get(), MeetingPlaceOf(geteuid(), "", port));
  if (error == EAGAIN) error = ECONNREFUSED;  // too many wait already
  if (error == 0) error = SendWithDescriptor(fd_.get(), EncodeHello(hello), memory.value().get());
  if (error != 0) return error;
  local_ = hello.from;
  remote_ = hello.to;
  return 0;
}

bool ShmLink::TakeHello() {
  std::array<uint8_t, kHelloSize + 1> bytes;
  const ReceivedMessage message = ReceiveWithDescriptors(fd_.get(), bytes);
  if (message.size < 0) return false;
  if (message.size == 0) {
    errno = ECONNRESET;
    return false;
  }
  const std::optional<Hello> hello = DecodeHello({bytes.data(), static_cast<size_t>(message.size)});
  if (!hello || message.cut || message.descriptors.size() != 1) {
    errno = EPROTO;
    return false;
  }
  area_ = SharedArea::Map(message.descriptors.front().get(), SharedArea::Side::kListener);
  if (area_ == nullptr) return false;
  awaits_hello_ = false;
  local_ = hello->to;
  remote_ = hello->from;
  return true;
}

// -------------------------------------------------------------------------------------------------
// Data

[[gnu::hot]] ssize_t ShmLink::Send(const iovec* iov, size_t count) {
  if (area_ == nullptr || gone_.load(std::memory_order_acquire)) {
    errno = area_ != nullptr && area_->in.WriterIsOver() ? EPIPE : ECONNRESET;
    return -1;
  }
  bool bell = false;
  BeforeSend();
  const ssize_t n = area_->out.Write(iov, count, &bell);
  if (bell) RingBell(fd_.get());
  return n;
}

// The end is asked for before the bytes in front of it.
[[gnu::hot]] ssize_t ShmLink::Receive(const iovec* iov, size_t count) {
  if (awaits_hello_ && !TakeHello()) return -1;
  const bool gone = gone_.load(std::memory_order_acquire);
  const bool over = area_->in.WriterIsOver();
  bool bell = false;
  const ssize_t n = area_->in.Read(iov, count, &bell);
  AfterReceive();
  if (bell) RingBell(fd_.get());
  if (n != 0) return n;
  if (over) return 0;
  errno = gone ? ECONNRESET : EAGAIN;
  return -1;
}

[[gnu::hot]] ByteSpan ShmLink::Lend() {
  if (awaits_hello_) return {};
  const ByteSpan bytes = area_->in.Lend();
  AfterReceive();
  return bytes;
}

[[gnu::hot]] bool ShmLink::TakeBack(size_t size) {
  if (area_->in.Skip(size)) RingBell(fd_.get());
  return area_->in.KnowsOfBytes();
}

ssize_t ShmLink::Peek() {
  if (awaits_hello_ && !TakeHello()) return -1;
  const bool gone = gone_.load(std::memory_order_acquire);
  const bool over = area_->in.WriterIsOver();
  if (area_->in.HasBytes()) return 1;
  if (over) return 0;
  errno = gone ? ECONNRESET : EAGAIN;
  return -1;
}

int ShmLink::TakeError() {
  if (!PeerHasGone() || PeerHasFinished() || std::exchange(error_taken_, true)) return 0;
  return ECONNRESET;
}

// -------------------------------------------------------------------------------------------------
// Control

int ShmLink::Ready() const {
  const bool gone = gone_.load(std::memory_order_acquire);
  if (area_ == nullptr) return gone ? kError : 0;
  const bool over = gone || area_->in.WriterIsOver();
  int events = 0;
  if (over || area_->in.HasBytes()) events |= kReadable;
  if (gone || area_->out.HasRoom()) events |= kWritable;
  if (over) events |= kHangup;
  return events;
}

int ShmLink::WatchFor(int events) {
  if ((events & ~wanted_) != 0) heralded_ = false;
  wanted_ = events;
  return events == 0 || PeerHasGone() ? 0 : kReadable;
}

int ShmLink::Happened(int) {
  heralded_ = false;
  if (awaits_hello_) return wanted_ & kReadable;  // it is read like the bytes behind it
  if (!SilenceBell(fd_.get())) gone_.store(true, std::memory_order_release);
  return Look();
}

// That the peer has gone is told once, whatever is waited for.
int ShmLink::Look() {
  if (wanted_ == 0) return 0;
  const int ready = Ready();
  if (PeerHasGone() && !std::exchange(end_reported_, true)) return ready;
  return ready & wanted_;
}

bool ShmLink::Herald() {
  if (awaits_hello_) {
    heralded_ = true;  // the hello comes by the socket
    return true;
  }
  if (area_ == nullptr) return true;
  area_->in.Listen((wanted_ & (kReadable | kHangup)) != 0);
  area_->out.Listen((wanted_ & kWritable) != 0);
  heralded_ = (Ready() & wanted_) == 0;
  return heralded_;
}

void ShmLink::FinishSending() {
  if (area_ != nullptr && area_->out.Finish()) RingBell(fd_.get());
}

void ShmLink::StopReading() {
  if (area_ != nullptr && area_->in.Forget()) RingBell(fd_.get());
}

}  // namespace softdat::softnet
