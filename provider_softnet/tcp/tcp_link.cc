// SPDX-License-Identifier: BSD-3-Clause
// TcpLink.
#include "provider_softnet/tcp/tcp_link.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <utility>

#include "dat/base/socket_address.h"
#include "provider_softnet/tcp/socket_util.h"

namespace softdat::softnet {

[[gnu::hot]] ssize_t TcpLink::Send(const iovec* iov, size_t count) {
  return SendNow(fd_.get(), iov, count);
}

[[gnu::hot]] ssize_t TcpLink::Receive(const iovec* iov, size_t count) {
  const ssize_t n = ReceiveNow(fd_.get(), iov, count);
  if (n == 0) peer_has_finished_ = true;
  return n;
}

ssize_t TcpLink::Peek() { return PeekNow(fd_.get()); }

void TcpLink::ExpectBulk() {
  if (std::exchange(expects_bulk_, true)) return;
  short_queue_ = IsWithinHost(fd_.get());
  if (short_queue_) ShortenQueue(fd_.get());
}

void TcpLink::MakeRoom() {
  if (std::exchange(short_queue_, false)) LengthenQueue(fd_.get());
}

int TcpLink::UnsentBytes() const { return softnet::UnsentBytes(fd_.get()); }

PathSample TcpLink::SamplePath() const { return softnet::SamplePath(fd_.get()); }

int TcpLink::TakeError() {
  int error = 0;
  socklen_t size = sizeof(error);
  getsockopt(fd_.get(), SOL_SOCKET, SO_ERROR, &error, &size);
  return error;
}

bool TcpLink::PeerHasGone() const { return TcpStateOf(fd_.get()) == TCP_CLOSE; }

int TcpLink::Connect(const sockaddr_storage& remote) {
  int rc;
  do {
    rc = connect(fd_.get(), reinterpret_cast<const sockaddr*>(&remote), AddressSize(remote));
  } while (rc != 0 && errno == EINTR);
  return rc == 0 ? 0 : errno;
}

void TcpLink::Prepare(std::chrono::milliseconds dead_path) { PrepareStream(fd_.get(), dead_path); }

sockaddr_storage TcpLink::LocalAddress() const { return LocalAddressOf(fd_.get()); }

sockaddr_storage TcpLink::RemoteAddress() const { return RemoteAddressOf(fd_.get()); }

size_t TcpLink::SegmentSize() const { return softnet::SegmentSize(fd_.get()); }

}  // namespace softdat::softnet
