// SPDX-License-Identifier: BSD-3-Clause
// Loops over memory that both processes share: a ring of slots in each direction. A message is
// copied into a slot and out of it again. Both ends spin.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "tools/common/unique_fd.h"
#include "tools/raw/patience.h"
#include "tools/raw/socket_io.h"
#include "tools/raw/transfer.h"

namespace softdat::tools {
namespace {

constexpr uint32_t kLooks = 1 << 14;
constexpr uint64_t kCacheLine = 64;
constexpr uint64_t kMostRingBytes = 64 << 20;  // of both directions; each must have room for a slot

struct ShmOffer {
  pid_t pid = 0;
  int fd = -1;
};

// The layout of a ring in memory. Each slot has its turn, then a message.
struct RingShape {
  uint32_t size = 0;  // of a message
  uint64_t slots = 0;
  uint64_t message_at = 0;
  uint64_t stride = 0;

  uint64_t Bytes() const { return slots * stride; }
};

RingShape MakeShape(uint32_t size, uint64_t slots, uint64_t most_bytes) {
  RingShape shape;
  shape.size = size;
  // A small message shares the cache line of the turn.
  const bool is_small = sizeof(uint64_t) + size <= kCacheLine;
  shape.message_at = is_small ? sizeof(uint64_t) : kCacheLine;
  shape.stride = (shape.message_at + size + kCacheLine - 1) / kCacheLine * kCacheLine;
  shape.slots = std::clamp<uint64_t>(most_bytes / shape.stride, 1, slots);
  return shape;
}

struct Unmap {
  uint64_t bytes = 0;
  void operator()(uint8_t* memory) const { munmap(memory, bytes); }
};

// One end of a ring, which either only puts or only takes. A slot's turn counts how often the slot
// changed hands. If it is even, the slot belongs to the writer, else to the reader.
class Ring {
 public:
  Ring() = default;
  Ring(const RingShape& shape, uint8_t* memory) : shape_(shape), memory_(memory) {}

  Outcome Put(const uint8_t* from) {
    SOFTDAT_TRY(AwaitTurn(round_));
    std::memcpy(Slot() + shape_.message_at, from, shape_.size);
    PassOn(round_ + 1);
    return {};
  }

  Outcome Take(uint8_t* to) {
    SOFTDAT_TRY(AwaitTurn(round_ + 1));
    std::memcpy(to, Slot() + shape_.message_at, shape_.size);
    PassOn(round_ + 2);
    return {};
  }

 private:
  uint8_t* Slot() const { return memory_ + at_ * shape_.stride; }
  std::atomic_ref<uint64_t> Turn() const {
    return std::atomic_ref<uint64_t>(*reinterpret_cast<uint64_t*>(Slot()));
  }

  Outcome AwaitTurn(uint64_t turn) const {
    const std::atomic_ref<uint64_t> now = Turn();
    for (Patience patience(kLooks); now.load(std::memory_order_acquire) != turn;) {
      if (patience.Pause() && patience.IsOver())
        return Outcome::Fail(
            "raw: nothing has moved in shared memory for 5 s: has the other side stopped?");
    }
    return {};
  }

  void PassOn(uint64_t turn) {
    Turn().store(turn, std::memory_order_release);
    if (++at_ < shape_.slots) return;
    at_ = 0;
    round_ += 2;
  }

  RingShape shape_;
  uint8_t* memory_ = nullptr;
  uint64_t at_ = 0;     // the next slot
  uint64_t round_ = 0;  // twice the number of times that the ring was gone round
};

class ShmTransfer : public RawTransfer {
 public:
  ShmTransfer(const RawJob& job, bool is_server) : RawTransfer(job, is_server) {
    if (job.shape == Shape::kLatency) {
      forth_shape_ = back_shape_ = MakeShape(job.size, 2, kMostRingBytes / 2);
    } else {
      forth_shape_ = MakeShape(job.size, std::max(2u, job.window), kMostRingBytes);
      back_shape_ = MakeShape(1, 1, kMostRingBytes);
    }
  }

  Outcome Prepare(RawOffer* offer) override {
    if (!is_server_) return {};
    memory_fd_ = UniqueFd(memfd_create("softdat-raw", MFD_CLOEXEC));
    // All memory is allocated now, because missing memory would end the process later.
    if (!memory_fd_ || fallocate(memory_fd_.get(), 0, 0, static_cast<off_t>(Bytes())) != 0)
      return RawErrno("cannot get memory to share");
    const ShmOffer mine{getpid(), memory_fd_.get()};
    static_assert(sizeof mine <= sizeof *offer);
    std::memcpy(offer->data(), &mine, sizeof mine);
    return Map();
  }

  Outcome Meet(const RawOffer& offer) override {
    buffer_.resize(job_.size);
    if (is_server_) return {};
    ShmOffer theirs;
    std::memcpy(&theirs, offer.data(), sizeof theirs);
    const std::string path = fmt::format("/proc/{}/fd/{}", theirs.pid, theirs.fd);
    memory_fd_ = UniqueFd(open(path.c_str(), O_RDWR | O_CLOEXEC));
    if (!memory_fd_) {
      return Outcome::Fail(
          fmt::format("{} (both ends must run as the same user and see the same "
                      "/proc)",
                      RawErrno(path.c_str()).message()));
    }
    return Map();
  }

  Outcome Run() override {
    if (job_.shape == Shape::kLatency) return PingPong();
    return is_server_ ? StreamIn() : StreamOut();
  }

 private:
  uint64_t Bytes() const { return forth_shape_.Bytes() + back_shape_.Bytes(); }

  Outcome Map() {
    void* const memory = mmap(nullptr, Bytes(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
                              memory_fd_.get(), 0);
    if (memory == MAP_FAILED) return RawErrno("mmap");
    memory_ = {static_cast<uint8_t*>(memory), Unmap{Bytes()}};
    // Virtual machines have tables of pages that fill when a page is touched, whatever was asked
    // for. All of it is zero, and nobody has begun.
    std::memset(memory, 0, Bytes());
    forth_ = Ring(forth_shape_, memory_.get());
    back_ = Ring(back_shape_, memory_.get() + forth_shape_.Bytes());
    return {};
  }

  Outcome PingPong() {
    uint8_t* const buffer = buffer_.data();
    for (uint64_t i = 0; i < job_.iterations; ++i) {
      SOFTDAT_TRY(is_server_ ? forth_.Take(buffer) : forth_.Put(buffer));
      SOFTDAT_TRY(is_server_ ? back_.Put(buffer) : back_.Take(buffer));
    }
    return {};
  }

  Outcome StreamOut() {
    for (uint64_t i = 0; i < job_.iterations; ++i) SOFTDAT_TRY(forth_.Put(buffer_.data()));
    return back_.Take(buffer_.data());
  }

  Outcome StreamIn() {
    for (uint64_t i = 0; i < job_.iterations; ++i) SOFTDAT_TRY(forth_.Take(buffer_.data()));
    return back_.Put(buffer_.data());
  }

  RingShape forth_shape_;
  RingShape back_shape_;
  UniqueFd memory_fd_;
  std::unique_ptr<uint8_t, Unmap> memory_;
  Ring forth_;
  Ring back_;
  std::vector<uint8_t> buffer_;
};

}  // namespace

std::unique_ptr<RawTransfer> MakeShmTransfer(const RawJob& job, bool is_server) {
  return std::make_unique<ShmTransfer>(job, is_server);
}

}  // namespace softdat::tools
