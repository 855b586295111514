// SPDX-License-Identifier: BSD-3-Clause
// Declarations that the files of the null device share.
#ifndef SOFTDAT_TESTS_NULLDEVICE_NULL_PARTS_H_
#define SOFTDAT_TESTS_NULLDEVICE_NULL_PARTS_H_

#include <infiniband/verbs.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>

namespace softdat::nulldevice {

// Pointers that the library fetches later come to it through a pipe, so that the pipe's descriptor
// can be polled.
struct Pipe {
  int ends[2] = {-1, -1};
  bool Open() { return pipe(ends) == 0; }
  void Close() {
    for (const int end : ends)
      if (end >= 0) close(end);
  }
  void Put(void* item) { [[maybe_unused]] const ssize_t n = write(ends[1], &item, sizeof item); }
};

inline bool Get(int fd, void** item) { return read(fd, item, sizeof *item) == sizeof *item; }

struct NullChannel {
  ibv_comp_channel base;  // first: the library has a pointer to it
  Pipe pipe;
};

struct NullQueue {
  ibv_cq base;
  uint32_t pages = 0;
  std::atomic_flag lock = ATOMIC_FLAG_INIT;  // guards the rest
  bool armed = false;  // for every completion; solicited ones and failures never come here
  uint32_t head = 0, tail = 0, mask = 0;
  std::unique_ptr<ibv_wc[]> ring;
};

// The work of a pair whose device holds (null_held.cc).
struct HeldWork {
  struct Send {
    ibv_wc wc;
    bool signalled;
  };
  std::mutex mutex;  // protects the rest
  std::deque<Send> sends;
  std::deque<uint64_t> receives;  // wr_id
  bool in_error = false;
};

struct NullPair {
  ibv_qp base;
  bool signal_all = false;
  uint32_t pages = 0;
  HeldWork held;
};

class Locked {
 public:
  explicit Locked(NullQueue* queue) : queue_(queue) {
    while (queue_->lock.test_and_set(std::memory_order_acquire)) {
    }
  }
  ~Locked() { queue_->lock.clear(std::memory_order_release); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  NullQueue* const queue_;
};

// The lock that libibverbs and librdmacm have for the whole process, as long as HoldNullLibraries
// says.
class LibraryLock {
 public:
  LibraryLock();
  ~LibraryLock();
  LibraryLock(const LibraryLock&) = delete;
  LibraryLock& operator=(const LibraryLock&) = delete;
};

// The device, with the properties in TheNullDevice().
ibv_context* Context();
// The newest pair that is not destroyed, or null.
NullPair* LastPair();
// Does what a device does: puts `wc` into the queue, and raises an event if one was asked for.
void PushCompletion(ibv_cq* queue, const ibv_wc& wc);

// The posts of a device that holds.
int PostSendHeld(ibv_qp* qp, ibv_send_wr* first, ibv_send_wr** bad);
int PostRecvHeld(ibv_qp* qp, ibv_recv_wr* first, ibv_recv_wr** bad);
void EnterErrorHeld(NullPair* pair);

}  // namespace softdat::nulldevice

#endif  // SOFTDAT_TESTS_NULLDEVICE_NULL_PARTS_H_
