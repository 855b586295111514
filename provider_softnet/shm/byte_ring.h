// SPDX-License-Identifier: BSD-3-Clause
// One direction of a connection in memory that two processes share: a ring of bytes, which one end
// writes and the other one reads.
//
// The other end is not trusted. It can write anything into the header and the bytes at any time. So
// each end keeps its own position to itself, loads the other end's position once, checks it, and
// uses the copy. A position that cannot be is EPROTO. The bytes are whatever the peer sends, as on
// any wire: their reader judges a copy of them.
//
// Much that is written at once goes to memory past the caches if the other end runs on another
// processor (StreamingCopy). What that one has read of the ring is still in its cache, and taking
// it from there line by line is slow as well.
//
// Nobody is told of bytes or room, unless an end has said that it listens. Each side stores first
// and then asks whether the other one listens. A listener says so first and then looks whether
// there is something. So one of them sees the other (TakeListener).
#ifndef SOFTDAT_PROVIDER_SOFTNET_SHM_BYTE_RING_H_
#define SOFTDAT_PROVIDER_SOFTNET_SHM_BYTE_RING_H_

#include <sys/types.h>
#include <sys/uio.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "wire/bytes.h"

namespace softdat::softnet {

// At the beginning of a ring. All zeros in fresh memory. Each cache line has one writer while data
// move.
struct RingHeader {
  alignas(64) std::atomic<uint64_t> written;         // the writer's position
  std::atomic<uint32_t> over;                        // the writer writes nothing more
  alignas(64) std::atomic<uint64_t> read;            // the reader's position
  std::atomic<uint32_t> forgets;                     // the reader wants nothing more
  std::atomic<uint32_t> reader_runs_on;              // its processor's number + 1: a hint
  alignas(64) std::atomic<uint32_t> reader_listens;  // set by the reader, taken by the writer
  alignas(64) std::atomic<uint32_t> writer_listens;  // set by the writer, taken by the reader
};
static_assert(sizeof(RingHeader) == 256);
static_assert(std::atomic<uint64_t>::is_always_lock_free);

inline constexpr size_t kRingHeader = 4096;      // bytes in front of the data
inline constexpr size_t kRingData = 256 * 1024;  // a power of two
inline constexpr size_t kRingSize = kRingHeader + kRingData;
// The reader tells how far it is in steps of this size. Room for less is no room: the writer is not
// told of it.
inline constexpr size_t kRingStep = kRingData / 8;
inline constexpr size_t kRingRoom = kRingData / 4;
inline constexpr size_t kCacheLine = 64;

// DATA calls of a byte link need the lock of its owner, and so do Write() and Read(). The others
// may be called at the same time.
class RingWriter {
 public:
  explicit RingWriter(uint8_t* ring)
      : header_(reinterpret_cast<RingHeader*>(ring)), data_(ring + kRingHeader) {}

  // Returns the number of bytes taken, or -1 with EAGAIN or EPROTO. *ring_bell: the reader listens.
  ssize_t Write(const iovec* iov, size_t count, bool* ring_bell);
  // Ends the writing. Returns whether the reader listens.
  bool Finish();
  // Whether there is room that is worth a call.
  bool HasRoom() const;
  bool PeerForgets() const { return header_->forgets.load(std::memory_order_acquire) != 0; }
  // HasRoom() must be asked afterwards.
  void Listen(bool on);

 private:
  bool LookForRoom();
  // Copies what lies first in `iov` to the positions from `at` to `end`. Returns `end`.
  template <bool kStreams>
  uint64_t Put(const iovec* iov, uint64_t at, uint64_t end);
  // Fetches for writing the cache lines in which the next small message will end. The one in which
  // it begins is left to the reader, who is at it.
  void Claim(uint64_t at) const {
    constexpr int kForWriting = 1;
    __builtin_prefetch(data_ + (at + kCacheLine - 1) % kRingData, kForWriting);
    __builtin_prefetch(data_ + (at + 2 * kCacheLine - 1) % kRingData, kForWriting);
  }

  RingHeader* const header_;
  uint8_t* const data_;
  // Written under the owner's lock. Read by HasRoom() without it.
  std::atomic<uint64_t> written_{0};
  uint64_t peer_read_ = 0;     // checked copy of the reader's position
  uint32_t peer_runs_on_ = 0;  // copy of reader_runs_on, as old as peer_read_
};

class RingReader {
 public:
  explicit RingReader(uint8_t* ring)
      : header_(reinterpret_cast<RingHeader*>(ring)), data_(ring + kRingHeader) {}

  // Returns the number of bytes read, 0 when there are none, or -1 with EPROTO. *ring_bell: the
  // writer listens for room, and there is some.
  ssize_t Read(const iovec* iov, size_t count, bool* ring_bell);
  // The bytes that can be read next and lie in one piece. None also where Read() would fail.
  ByteSpan Lend();
  // So many of the lent bytes are read. Returns whether to ring the bell, as in Read().
  bool Skip(size_t size) { return Advance(read_.load(std::memory_order_relaxed) + size); }
  // Whether the last Lend() or Read() saw bytes that are not read.
  bool KnowsOfBytes() const { return peer_written_ != read_.load(std::memory_order_relaxed); }
  bool HasBytes() const {
    return header_->written.load(std::memory_order_acquire) !=
           read_.load(std::memory_order_relaxed);
  }
  // For a reader that looks again and again. Fetches the cache lines in which the next small
  // message lies, 64 bytes and their headers, while the position is fetched. So it waits for the
  // writer's cache once, not twice.
  void Expect() const {
    const uint64_t at = read_.load(std::memory_order_relaxed);
    __builtin_prefetch(data_ + at % kRingData);
    __builtin_prefetch(data_ + (at + kCacheLine) % kRingData);
    __builtin_prefetch(data_ + (at + 2 * kCacheLine) % kRingData);
  }
  // Whether the writer has finished. Bytes may be left, which HasBytes() tells if it is asked
  // afterwards.
  bool WriterIsOver() const { return header_->over.load(std::memory_order_acquire) != 0; }
  // What the writer writes from now on may vanish. Returns whether the writer listens for room.
  bool Forget();
  // HasBytes() and WriterIsOver() must be asked afterwards.
  void Listen(bool on);

 private:
  // Goes on to the position. Returns whether the writer listens for room, and there is some.
  bool Advance(uint64_t at);

  RingHeader* const header_;
  const uint8_t* const data_;
  // Written under the owner's lock. Read by HasBytes() without it.
  std::atomic<uint64_t> read_{0};
  uint64_t told_ = 0;          // the position in the header
  uint64_t peer_written_ = 0;  // checked copy of the writer's position
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_SHM_BYTE_RING_H_
