// SPDX-License-Identifier: BSD-3-Clause
// ReceiveSocket.
#include "provider_softnet/udp/receive_socket.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

namespace softdat::softnet {
namespace {

const void* Me() { return reinterpret_cast<const void*>(pthread_self()); }

}  // namespace

ReceiveSocket::ReceiveSocket(std::shared_ptr<UdpCore> core, UniqueFd fd, From from)
    : core_(std::move(core)),
      from_(from),
      fd_(std::move(fd)),
      watch_(&core_->driver->loop(), [this](int) { OnReadable(); }) {}

Status ReceiveSocket::Watch() {
  if (closed_) return Status::Ok();
  core_->driver->counters().sockets_opened.Add();
  return watch_.Start(fd_.get(), kReadable);
}

void ReceiveSocket::Close() {
  if (std::exchange(closed_, true)) return;
  if (watch_.active()) core_->driver->counters().sockets_closed.Add();
  watch_.Stop();
  core_->driver->DropHot(this);
  // The name of a member's socket is to be free at once. A reader that is slow lets go of it later.
  constexpr int kLooks = 1000;
  for (int looks = 0; looks < kLooks; ++looks) {
    if (BecomeReader(this)) {
      fd_.Close();  // and nobody reads any more
      break;
    }
    if (!IsLeftSoon()) break;
    sched_yield();
  }
  // The handler of this very watch may be what closes it.
  core_->driver->DeleteLater(std::make_shared<RefPtr<ReceiveSocket>>(this));
}

bool ReceiveSocket::BecomeReader(const void* thread) {
  const void* nobody = nullptr;
  return reader_.compare_exchange_strong(nobody, thread, std::memory_order_acquire,
                                         std::memory_order_relaxed);
}

// Whether the reader, if there is one, is on its way out. Not if it is what closes the socket. Nor
// if the gate is closed: those that were inside have left then, except threads that wait for this
// one.
bool ReceiveSocket::IsLeftSoon() const {
  return reader_.load(std::memory_order_relaxed) != Me() && !core_->gate.closed();
}

void ReceiveSocket::OnReadable() {
  if (TryReceive()) core_->driver->FoundByTurn(this);
}

[[gnu::hot]] bool ReceiveSocket::TryReceive() {
  const SinkGate::Pass pass(&core_->gate);
  if (!pass.open() || !BecomeReader(Me())) return false;
  const bool moved = ReadBatch(pass);
  // An upcall that OnBatchEnd makes may wait for packets of this very socket.
  reader_.store(nullptr, std::memory_order_release);
  if (moved && pass.open()) core_->sink->OnBatchEnd();
  return moved;
}

void ReceiveSocket::TakeTheRest() {
  constexpr int kMostBatches = 64;
  constexpr int kMostLooks = 100;
  constexpr std::chrono::microseconds kLook{100};
  int batches = 0;
  int looks = 0;
  while (batches < kMostBatches && looks < kMostLooks) {
    if (TryReceive()) {
      ++batches;
    } else if (const void* reader = reader_.load(std::memory_order_relaxed);
               reader != nullptr && reader != Me()) {
      ++looks;
      std::this_thread::sleep_for(kLook);
    } else {
      return;
    }
  }
}

[[gnu::hot]] bool ReceiveSocket::ReadBatch(const SinkGate::Pass& pass) {
  std::unique_ptr<ReceiveArea> area = core_->areas.Take();
  const size_t count = area->Read(fd_.get(), wanted_);
  core_->counters.receive_calls.Add();
  if (count == 0) {
    core_->counters.receive_empty.Add();
  } else {
    wanted_ = std::min(count == wanted_ ? 2 * count : count, ReceiveArea::kDatagrams);
    last_read_.store(core_->counters.receive_calls.value(), std::memory_order_relaxed);
  }
  for (size_t i = 0; i < count; ++i) {
    if (from_ == From::kMembers) {
      TakeMembersMessage(area.get(), i, pass);
    } else if (pass.open()) {
      TakeMessage(area.get(), i, pass);
    }
  }
  core_->areas.Give(std::move(area));
  const bool was_due = core_->TakeDue(pass);
  return count > 0 || was_due;
}

// Also when nothing is taken any more: descriptors that came along have to be closed.
void ReceiveSocket::TakeMembersMessage(ReceiveArea* area, size_t i, const SinkGate::Pass& pass) {
  std::vector<UniqueFd> descriptors = area->TakeDescriptors(i);
  if (!pass.open()) return;
  if (area->cut(i)) return core_->counters.malformed.Add();
  if (!area->trusted(i)) return core_->counters.distrusted.Add();
  core_->TakeHandedOn(area->datagram(i), std::move(descriptors));
}

[[gnu::hot]] void ReceiveSocket::TakeMessage(ReceiveArea* area, size_t i,
                                             const SinkGate::Pass& pass) {
  if (area->cut(i)) return core_->counters.malformed.Add();
  std::span<const uint8_t> rest = area->datagram(i);
  const size_t segment = area->segment(i);
  if (segment == 0) return core_->TakeDatagram(area->source(i), rest, 0, &area->judge);
  for (size_t n = 0; !rest.empty() && pass.open(); ++n) {
    const std::span<const uint8_t> one = rest.first(std::min(segment, rest.size()));
    rest = rest.subspan(one.size());
    core_->TakeDatagram(area->source(i), one, n, &area->judge);
  }
}

}  // namespace softdat::softnet
