// SPDX-License-Identifier: BSD-3-Clause
// RingWriter and RingReader.
#include "provider_softnet/shm/byte_ring.h"

#include <errno.h>
#include <sched.h>
#include <string.h>

#include <algorithm>

#include "provider_softnet/shm/streaming_copy.h"

namespace softdat::softnet {

namespace {

// The writer tells of long messages piece by piece, so that the reader copies at the same time.
constexpr size_t kPiece = 32 * 1024;
// Fewer bytes come sooner from cache to cache where both processors have one in common.
constexpr size_t kStreamed = 8 * 1024;

// Whether the other side of the ring listens. It either finds what was stored in front of this, or
// is found here: both exchange, so the later one sees everything before the earlier one. An
// exchange of this word, which the other side rarely touches, costs little. One of the position
// would have to fetch its cache line from the other side, and only after all bytes have left.
bool TakeListener(std::atomic<uint32_t>* listens) {
  return listens->exchange(0, std::memory_order_acq_rel) != 0;
}

// The number of this processor as reader_runs_on has it.
uint32_t ThisProcessor() { return static_cast<uint32_t>(sched_getcpu()) + 1; }

void SetListener(std::atomic<uint32_t>* listens, bool on) {
  listens->exchange(on ? 1 : 0, std::memory_order_acq_rel);
}

}  // namespace

// -------------------------------------------------------------------------------------------------
// RingWriter

bool RingWriter::LookForRoom() {
  const uint64_t read = header_->read.load(std::memory_order_acquire);
  if (written_.load(std::memory_order_relaxed) - read > kRingData) return false;
  peer_read_ = read;
  peer_runs_on_ = header_->reader_runs_on.load(std::memory_order_relaxed);
  return true;
}

template <bool kStreams>
[[gnu::always_inline]] inline uint64_t RingWriter::Put(const iovec* iov, uint64_t at,
                                                       uint64_t end) {
  uint64_t told = at;
  for (; at < end; ++iov) {
    const auto* from = static_cast<const uint8_t*>(iov->iov_base);
    const size_t size = std::min<uint64_t>(iov->iov_len, end - at);
    for (size_t done = 0; done < size;) {
      const size_t place = at % kRingData;
      const size_t n = std::min({size - done, kRingData - place, kPiece});
      if constexpr (kStreams)
        StreamingCopy(data_ + place, from + done, n);
      else
        memcpy(data_ + place, from + done, n);
      done += n;
      at += n;
      if (at - told < kPiece) continue;
      if constexpr (kStreams) OrderStreamed();
      header_->written.store(at, std::memory_order_release);
      told = at;
    }
  }
  if constexpr (kStreams) OrderStreamed();
  return at;
}

[[gnu::hot]] ssize_t RingWriter::Write(const iovec* iov, size_t count, bool* ring_bell) {
  *ring_bell = false;
  size_t wanted = 0;
  for (size_t i = 0; i < count; ++i) wanted += iov[i].iov_len;
  uint64_t at = written_.load(std::memory_order_relaxed);
  if (kRingData - (at - peer_read_) < wanted) {
    if (PeerForgets()) return static_cast<ssize_t>(wanted);
    if (!LookForRoom()) {
      errno = EPROTO;
      return -1;
    }
  }
  // A reader on this processor finds the bytes in its cache.
  const bool streamed = wanted >= kStreamed && peer_runs_on_ != ThisProcessor();
  const uint64_t begin = at;
  const uint64_t end = at + std::min<uint64_t>(wanted, kRingData - (at - peer_read_));
  at = streamed ? Put<true>(iov, at, end) : Put<false>(iov, at, end);
  if (at == begin && wanted > 0) {
    errno = EAGAIN;
    return -1;
  }
  header_->written.store(at, std::memory_order_release);
  written_.store(at, std::memory_order_relaxed);
  *ring_bell = TakeListener(&header_->reader_listens);
  Claim(at);
  return static_cast<ssize_t>(at - begin);
}

bool RingWriter::Finish() {
  header_->over.store(1, std::memory_order_release);
  return TakeListener(&header_->reader_listens);
}

// A position that cannot be counts as room, so that the owner comes and finds it.
bool RingWriter::HasRoom() const {
  const uint64_t read = header_->read.load(std::memory_order_acquire);
  const uint64_t full = written_.load(std::memory_order_relaxed) - read;
  return full > kRingData || kRingData - full >= kRingRoom || PeerForgets();
}

void RingWriter::Listen(bool on) { SetListener(&header_->writer_listens, on); }

// -------------------------------------------------------------------------------------------------
// RingReader

[[gnu::hot]] ssize_t RingReader::Read(const iovec* iov, size_t count, bool* ring_bell) {
  *ring_bell = false;
  uint64_t at = read_.load(std::memory_order_relaxed);
  const uint64_t begin = at;
  const uint64_t written = header_->written.load(std::memory_order_acquire);
  if (written != peer_written_) {
    if (written - at > kRingData) {
      errno = EPROTO;
      return -1;
    }
    peer_written_ = written;
  }
  for (size_t i = 0; i < count && at < peer_written_; ++i) {
    auto* to = static_cast<uint8_t*>(iov[i].iov_base);
    const size_t size = std::min<uint64_t>(iov[i].iov_len, peer_written_ - at);
    for (size_t done = 0; done < size;) {
      const size_t place = at % kRingData;
      const size_t n = std::min(size - done, kRingData - place);
      memcpy(to + done, data_ + place, n);
      done += n;
      at += n;
    }
  }
  *ring_bell = Advance(at);
  return static_cast<ssize_t>(at - begin);
}

[[gnu::hot]] ByteSpan RingReader::Lend() {
  const uint64_t at = read_.load(std::memory_order_relaxed);
  const uint64_t written = header_->written.load(std::memory_order_acquire);
  if (written - at > kRingData) return {};
  peer_written_ = written;
  const size_t place = at % kRingData;
  return {data_ + place, std::min<uint64_t>(written - at, kRingData - place)};
}

bool RingReader::Advance(uint64_t at) {
  read_.store(at, std::memory_order_relaxed);
  if (at - told_ < kRingStep) return false;
  told_ = at;
  header_->reader_runs_on.store(ThisProcessor(), std::memory_order_relaxed);
  header_->read.store(at, std::memory_order_release);
  // Less is no room for the writer, so it goes on to listen.
  return peer_written_ - at <= kRingData - kRingRoom && TakeListener(&header_->writer_listens);
}

bool RingReader::Forget() {
  header_->forgets.store(1, std::memory_order_release);
  return TakeListener(&header_->writer_listens);
}

void RingReader::Listen(bool on) { SetListener(&header_->reader_listens, on); }

}  // namespace softdat::softnet
