// SPDX-License-Identifier: BSD-3-Clause
// HandoffListener and HandoffArrival.
#include "provider_softnet/tcp/handoff_listener.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "dat/base/log.h"
#include "dat/base/socket_address.h"
#include "provider_softnet/connection/connection_request.h"
#include "provider_softnet/driver/local_socket.h"
#include "provider_softnet/tcp/handoff_message.h"
#include "provider_softnet/tcp/handoff_rebuild.h"
#include "provider_softnet/tcp/socket_util.h"
#include "provider_softnet/tcp/tcp_link.h"

namespace softdat::softnet {
namespace {

constexpr int kBacklog = 128;
constexpr size_t kMaxArrivals = 64;

bool OptionIs(int fd, int option, int expected) {
  int value = -1;
  socklen_t size = sizeof(value);
  return getsockopt(fd, SOL_SOCKET, option, &value, &size) == 0 && value == expected;
}

// Does not change the descriptor's flags, blocking or not. The process that passed it may get the
// connection back.
bool IsTcpConnection(int fd) {
  return (OptionIs(fd, SO_DOMAIN, AF_INET) || OptionIs(fd, SO_DOMAIN, AF_INET6)) &&
         OptionIs(fd, SO_TYPE, SOCK_STREAM) && OptionIs(fd, SO_PROTOCOL, IPPROTO_TCP) &&
         RemoteAddressOf(fd).ss_family != AF_UNSPEC;
}

// Makes a request from the message. On failure returns the reason, and *out still owns the link.
const char* Take(const ServicePoint& point, std::span<const uint8_t> bytes,
                 ReceivedMessage* received, ArrivedRequest* out) {
  if (received->cut) return "its message is too long, or there is no descriptor left for it";
  if (received->descriptors.size() != 1) return "there must be one descriptor";
  UniqueFd fd = std::move(received->descriptors.front());
  if (!IsTcpConnection(fd.get())) return "its descriptor is no TCP connection";
  out->link = std::make_unique<TcpLink>(std::move(fd));
  out->handed_on = true;
  out->conn_qual = point.conn_qual;
  out->addresses.local = out->link->LocalAddress();
  out->addresses.remote = out->link->RemoteAddress();
  out->addresses.remote_port = SocketPort(out->addresses.remote);
  RebuiltRequest rebuilt = RebuildRequest(bytes, point.conn_qual, SocketPort(out->addresses.local),
                                          point.context->options.crc);
  out->addresses.local_port = rebuilt.aimed_at;
  out->responder = std::move(rebuilt.responder);
  return rebuilt.refusal;
}

// Another process has connected to the service point's local socket.
void TakeArrival(const std::shared_ptr<ServicePoint>& point, UniqueFd socket) {
  if (!IsOwnUsersSocket(socket.get())) {
    SOFTDAT_LOG(Warning, "handoff to qualifier {} from another user refused", point->conn_qual);
    return;
  }
  auto& list = ContextOf(*point).handoffs;
  if (list.size() >= kMaxArrivals) list.front()->Discard("too many at once; the oldest goes");
  list.push_back(std::make_unique<HandoffArrival>(point, std::move(socket)));
  list.back()->Start();
}

}  // namespace

// -------------------------------------------------------------------------------------------------
// HandoffListener

HandoffListener::HandoffListener(const std::shared_ptr<ServicePoint>& point,
                                 const std::string& host)
    : acceptor_(point, {[point](UniqueFd socket) { TakeArrival(point, std::move(socket)); }, {}}) {
  fd_ = OpenLocalSocket();
  const int error =
      fd_.valid()
          ? ListenAt(fd_.get(), HandoffAddressOf(geteuid(), host, point->conn_qual), kBacklog)
          : errno;
  Status s = error == 0 ? acceptor_.Start(fd_.get()) : Status(Code::kNoResources, strerror(error));
  if (s.ok()) return;
  fd_.Close();
  SOFTDAT_LOG(Warning, "other processes cannot hand requests to qualifier {}: {}", point->conn_qual,
              s.reason());
}

// -------------------------------------------------------------------------------------------------
// HandoffArrival

HandoffArrival::HandoffArrival(std::shared_ptr<ServicePoint> point, UniqueFd fd)
    : point_(std::move(point)),
      fd_(std::move(fd)),
      watch_(&point_->context->driver.loop(), [this](int) { OnReadable(); }),
      timer_(&point_->context->driver.loop(),
             [this] { Discard("no offer within the time limit"); }) {}

void HandoffArrival::Start() {
  timer_.Start(point_->context->options.handshake_timeout);
  if (Status s = watch_.Start(fd_.get(), kReadable); !s.ok())
    return Discard(std::string(s.reason()));
  OnReadable();  // the offer has usually arrived already
}

void HandoffArrival::Leave() {
  watch_.Stop();
  timer_.Stop();
  fd_.Close();
  auto& list = ContextOf(*point_).handoffs;
  const auto it =
      std::find_if(list.begin(), list.end(), [this](const auto& a) { return a.get() == this; });
  if (it == list.end()) return;
  std::unique_ptr<HandoffArrival> self = std::move(*it);
  list.erase(it);
  point_->context->driver.DeleteLater(std::shared_ptr<HandoffArrival>(std::move(self)));
}

void HandoffArrival::Discard(const std::string& why) {
  SOFTDAT_LOG(Warning, "handoff from another process to qualifier {} dropped: {}",
              point_->conn_qual, why);
  Leave();
}

bool HandoffArrival::Answer(HandoffVerdict verdict) {
  auto bytes = EncodeHandoffAnswer(verdict);
  const iovec iov{bytes.data(), bytes.size()};
  ssize_t n;
  do {
    n = SendNow(fd_.get(), &iov, 1);
  } while (n < 0 && errno == EINTR);
  return n == static_cast<ssize_t>(bytes.size());
}

void HandoffArrival::OnReadable() {
  std::array<uint8_t, kMaxHandoffOffer> bytes;
  ReceivedMessage received = ReceiveWithDescriptors(fd_.get(), bytes);
  if (received.size < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
  if (received.size < 0) return Discard(strerror(errno));
  if (received.size == 0) return Discard("it went away without an offer");
  if (point_->sink == nullptr) {
    Answer(HandoffVerdict::kNoListener);
    return Discard("the service point is gone");
  }
  ArrivedRequest request;
  // The connection belongs to the other process until the offer is taken. So an unwanted descriptor
  // is closed without a word to the peer.
  const std::span<const uint8_t> message{bytes.data(), static_cast<size_t>(received.size)};
  if (const char* why = Take(*point_, message, &received, &request)) {
    Answer(HandoffVerdict::kRefused);
    return Discard(why);
  }
  if (!Answer(HandoffVerdict::kTaken)) return Discard("it did not wait for the answer");
  const std::shared_ptr<ServicePoint> point = point_;
  point->context->driver.counters().sockets_opened.Add();
  Leave();
  DeliverRequest(point, std::move(request));
}

}  // namespace softdat::softnet
