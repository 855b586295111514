// SPDX-License-Identifier: BSD-3-Clause
// DatagramEndpoint's data path: posts, datagrams out, datagrams in.
//
// A datagram leaves when it is posted. Only those that find the socket full wait for it, and those
// behind them wait with them, because a pair's datagrams keep their order.
#include <new>
#include <utility>

#include "dat/backend_kit/datagram_header.h"
#include "provider_softnet/udp_wire/datagram_endpoint.h"

namespace softdat::softnet {

static_assert(kDatagramHeaderSize == transport::kDatagramHeader);

Code DatagramEndpoint::PostSend(const transport::SendRequest& request) {
  PendingUpcalls upcalls;
  std::unique_lock<FastMutex> lock(mutex_);
  const bool datagram = request.op == transport::Op::kSendDatagram;
  if (datagram && queues_.pd() == 0) return Code::kInvalidState;
  const Code code = datagrams_->PostSend(request);
  if (code != Code::kOk) return code;
  const auto& path = static_cast<const DatagramWay&>(*request.datagram.to).path();
  SendQueue& queue = queues_.sends();
  if (Side& side = SideOf(*path->plane); side.qpn == 0) {
    if (const Status s = GiveNumber(&side); !s.ok()) {
      queue.Withdraw();
      return s.code();
    }
  }
  if (queue.count() > 1 || full_ || !Transmit(*path)) KeepPath(queue.back() - 1, path);
  Finish(&lock, &upcalls);
  return Code::kOk;
}

Code DatagramEndpoint::PostReceive(const transport::ReceiveRequest& request) {
  const std::lock_guard<FastMutex> lock(mutex_);
  if (queues_.srq()) return Code::kInvalidState;
  return datagrams_->PostReceive(request);
}

uint32_t DatagramEndpoint::OutstandingSends() const {
  const std::lock_guard<FastMutex> lock(mutex_);
  return queues_.sends().count();
}

// None of an SRQ: a datagram takes a receive and completes it in one step.
uint32_t DatagramEndpoint::OutstandingReceives() const {
  const std::lock_guard<FastMutex> lock(mutex_);
  return queues_.srq() ? 0 : queues_.receives().count();
}

bool DatagramEndpoint::Transmit(const DatagramPath& path) {
  PacketBatch batch;
  datagrams_->Offer(SideOf(*path.plane).qpn, &batch);
  if (batch.empty()) return true;  // its memory is gone, so it has failed
  const SendResult sent = path.plane->Send(batch, path.to, 0);
  if (sent.packets == 0) {
    full_ = true;
    path.plane->WaitForRoom(this);
    return false;
  }
  datagrams_->Sent();
  return true;
}

// Without memory for what has to wait, it is lost on the way.
void DatagramEndpoint::KeepPath(uint64_t position,
                                const std::shared_ptr<const DatagramPath>& path) {
  try {
    if (paths_.empty()) paths_.resize(queues_.sends().capacity());
    paths_[position % paths_.size()] = path;
  } catch (const std::bad_alloc&) {
    while (!queues_.sends().empty()) datagrams_->Sent();
  }
}

void DatagramEndpoint::OnRoom() {
  PendingUpcalls upcalls;
  std::unique_lock<FastMutex> lock(mutex_);
  full_ = false;
  if (dead_) return;
  SendQueue& queue = queues_.sends();
  while (!queue.empty()) {
    std::shared_ptr<const DatagramPath>& path = paths_[queue.front() % paths_.size()];
    if (!Transmit(*path)) break;
    path.reset();
  }
  Finish(&lock, &upcalls);
}

void DatagramEndpoint::OnPacket(const Arrival& arrival) {
  const std::lock_guard<FastMutex> lock(mutex_);
  if (dead_) return;
  const Side* const side = SideOf(arrival.source.ss_family);
  if (side == nullptr || side->qpn != arrival.packet.bth.dest_qpn) return;
  const DatagramHeader header =
      MakeDatagramHeader(arrival.source, side->plane->address(), arrival.datagram.size());
  datagrams_->OnPacket(arrival.packet, header);
}

void DatagramEndpoint::OnPacketsEnd() {
  PendingUpcalls upcalls;
  std::unique_lock<FastMutex> lock(mutex_);
  if (!dead_) Finish(&lock, &upcalls);
}

void DatagramEndpoint::FinishPacketsSoon() { driver_->RequestAttention(this); }

void DatagramEndpoint::Finish(std::unique_lock<FastMutex>* lock, PendingUpcalls* upcalls) {
  const Notices notices = datagrams_->TakeNotices();
  if (notices.send) upcalls->Owe(queues_.send_cq());
  if (notices.receive) upcalls->Owe(queues_.recv_cq());
  if (notices.shared_limit) upcalls->OweLimit(queues_.srq());
  lock->unlock();
  upcalls->Make();
}

}  // namespace softdat::softnet
