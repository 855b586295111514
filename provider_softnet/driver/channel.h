// SPDX-License-Identifier: BSD-3-Clause
// One stream as the driver sees it: something to receive on, to flush, and to attend to. It has
// counted references, so that a thread that polls a stream can keep it alive without a lock that
// other streams share.
#ifndef SOFTDAT_PROVIDER_SOFTNET_DRIVER_CHANNEL_H_
#define SOFTDAT_PROVIDER_SOFTNET_DRIVER_CHANNEL_H_

#include <atomic>
#include <cstdint>
#include <utility>

namespace softdat::softnet {

class Channel {
 public:
  Channel() = default;
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  void Ref() { references_.fetch_add(1, std::memory_order_relaxed); }
  void Unref() {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  // Reads what is there without blocking. Does nothing when another thread is reading, or while the
  // channel rests. Any thread, with or without the token. Returns true when something moved. Makes
  // completion upcalls, never connection upcalls.
  virtual bool TryReceive() = 0;
  // Any thread, a hint: the last TryReceive() did not look, because nothing is to be expected yet.
  bool rests() const { return rests_.load(std::memory_order_relaxed); }
  // Writes what was left to a gathered send. Any thread, with or without the token. `by` says who
  // flushes: a program that polls or waits flushes its sends itself, and the helper flushes those
  // of others. What a poll leaves behind is deferred again.
  enum class Flusher : uint8_t { kPoller, kWaiter, kHelper };
  virtual bool FlushSends(Flusher by) = 0;
  // Writes the few bytes that Driver::Owe() was called for, unless they have already left with
  // something else. Same rules as FlushSends(). A process that exits uses kTry, which gives up
  // after a while, because a thread that is inside a call may never end it. With kLeave it does not
  // wait for a thread that has the channel, but calls Owe() again, and that thread or a later one
  // pays. kRide is the same, and leaves the bytes also if the program will probably soon send
  // something that they can ride on (RideHope).
  enum class Patience : uint8_t { kWait, kTry, kLeave, kRide };
  virtual bool PayOwed(Patience patience) = 0;
  // A thread that polls has its own data to look for, so it leaves what another one has.
  static Patience PatienceOf(Flusher by) {
    return by == Flusher::kPoller ? Patience::kLeave : Patience::kWait;
  }
  // One more set that tells its streams contains this channel, or one less. While there is any, it
  // may keep memory between messages. Any thread, no lock of a channel held.
  virtual void SetHot(bool /*hot*/) {}
  // How often the queues that this channel feeds were polled so far. It may wrap. Needs the token.
  virtual uint32_t OwnPolls() const { return 0; }
  // Does what RequestAttention() was called for: watches, timers, connection upcalls. Needs the
  // token.
  virtual void Attend() = 0;

 protected:
  virtual ~Channel() = default;
  void SetRests(bool rests) { rests_.store(rests, std::memory_order_relaxed); }

 private:
  friend class ChannelStack;
  friend class Driver;
  // Guarded by the token: OwnPolls() when a thread that polls other queues last found data here.
  uint32_t polls_when_found_ = 0;
  std::atomic<uint32_t> references_{1};
  std::atomic<bool> rests_{false};
  // One link for each kind of stack. The flag says "in the stack", which makes a push idempotent.
  struct StackLink {
    std::atomic<bool> queued{false};
    Channel* next = nullptr;
  };
  StackLink links_[4];  // deferred sends, attention, starving, owing
};

// A counted pointer to a Channel (or a class derived from it).
template <typename T>
class RefPtr {
 public:
  RefPtr() = default;
  // Takes over the reference that a new object starts with.
  static RefPtr Adopt(T* pointer) {
    RefPtr r;
    r.pointer_ = pointer;
    return r;
  }
  explicit RefPtr(T* pointer) : pointer_(pointer) {
    if (pointer_ != nullptr) pointer_->Ref();
  }
  RefPtr(const RefPtr& other) : RefPtr(other.pointer_) {}
  RefPtr(RefPtr&& other) noexcept : pointer_(std::exchange(other.pointer_, nullptr)) {}
  RefPtr& operator=(RefPtr other) noexcept {
    std::swap(pointer_, other.pointer_);
    return *this;
  }
  ~RefPtr() {
    if (pointer_ != nullptr) pointer_->Unref();
  }
  T* get() const { return pointer_; }
  T* operator->() const { return pointer_; }
  T& operator*() const { return *pointer_; }
  explicit operator bool() const { return pointer_ != nullptr; }

 private:
  T* pointer_ = nullptr;
};

// A set of channels that many threads push to and any thread empties, without a lock or an
// allocation. Each channel is kept alive from its push until it is taken.
class ChannelStack {
 public:
  explicit ChannelStack(int link) : link_(link) {}
  ~ChannelStack() {
    TakeAll([](Channel*) {});
  }
  ChannelStack(const ChannelStack&) = delete;
  ChannelStack& operator=(const ChannelStack&) = delete;

  bool empty() const { return head_.load(std::memory_order_seq_cst) == nullptr; }

  // Returns true when the channel was not in the set yet.
  bool Push(Channel* channel) {
    Channel::StackLink& link = channel->links_[link_];
    if (link.queued.exchange(true, std::memory_order_seq_cst)) return false;
    channel->Ref();
    Channel* head = head_.load(std::memory_order_relaxed);
    do {
      link.next = head;
    } while (!head_.compare_exchange_weak(head, channel, std::memory_order_seq_cst,
                                          std::memory_order_relaxed));
    return true;
  }

  // Empties the set, oldest channel first. What is pushed meanwhile stays for the next time.
  template <typename Function>
  void TakeAll(Function&& function) {
    Channel* newest = head_.exchange(nullptr, std::memory_order_seq_cst);
    Channel* oldest = nullptr;
    while (newest != nullptr) {
      Channel* next = newest->links_[link_].next;
      newest->links_[link_].next = oldest;
      oldest = newest;
      newest = next;
    }
    while (oldest != nullptr) {
      Channel* channel = oldest;
      oldest = channel->links_[link_].next;
      channel->links_[link_].queued.store(false, std::memory_order_seq_cst);
      function(channel);
      channel->Unref();
    }
  }

 private:
  const int link_;
  std::atomic<Channel*> head_{nullptr};
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_DRIVER_CHANNEL_H_
