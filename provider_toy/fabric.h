// SPDX-License-Identifier: BSD-3-Clause
// What all toy adapters of a process share: one lock, the keys of all memory, and the table of
// listeners. The lock protects every object of this back end. It is never held across an upcall.
#ifndef SOFTDAT_PROVIDER_TOY_FABRIC_H_
#define SOFTDAT_PROVIDER_TOY_FABRIC_H_

#include <sys/socket.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "dat/transport/transport.h"
#include "provider_toy/completion_queue.h"
#include "provider_toy/memory.h"

namespace softdat::toy {

class DatagramPair;
class Listener;

inline constexpr uint32_t kDeviceCount = 64;
// A device without extensions, which shows what a program is told about missing ones.
inline constexpr uint32_t kPlainDevice = 1;

// toy-<n> answers to 127.0.0.<n+1> and to ::<n+1>.
sockaddr_storage AddressOf(uint32_t device, int family);
// Returns kOk and the device. kUnreachable: no device has this address. kAddressUnsupported: it is
// neither IPv4 nor IPv6.
Code DeviceOf(const sockaddr_storage& address, uint32_t* device);

class Fabric {
 public:
  // The lock, and the completion upcalls that became due under it. This thread makes them right
  // after the unlock. The destructor may let a thread's cancellation pass through.
  class Lock {
   public:
    explicit Lock(Fabric& fabric) : fabric_(fabric) { fabric_.mutex_.lock(); }
    ~Lock() noexcept(false) { fabric_.UnlockAndNotify(); }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

   private:
    Fabric& fabric_;
  };

  static Fabric& Instance();

  // To be called in a forked child. Everything that refers to this fabric is dead, and a new fabric
  // takes its place.
  void AbandonAfterFork();
  bool abandoned() const { return abandoned_; }

  // All of these need the lock.
  KeyTable& keys() { return keys_; }
  void Complete(const std::shared_ptr<CompletionQueueState>& queue,
                const transport::Completion& completion);
  Status AddListener(uint32_t device, uint64_t conn_qual, Listener* listener);
  // The first free qualifier of the dynamic port range. 0: none is free.
  uint64_t FreeQualifier(uint32_t device) const;
  void RemoveListener(uint32_t device, uint64_t conn_qual);
  Listener* FindListener(uint32_t device, uint64_t conn_qual) const;
  uint64_t NextQueuePairNumber() { return ++last_queue_pair_; }
  void AddDatagramPair(uint32_t number, DatagramPair* pair) { datagram_pairs_[number] = pair; }
  void RemoveDatagramPair(uint32_t number) { datagram_pairs_.erase(number); }
  // Null when no pair has this number.
  DatagramPair* FindDatagramPair(uint32_t number) const;

 private:
  void List(const std::shared_ptr<CompletionQueueState>& queue);
  void UnlockAndNotify();

  std::mutex mutex_;  // protects all members, and the state of all objects of the back end
  KeyTable keys_;
  std::map<std::pair<uint32_t, uint64_t>, Listener*> listeners_;
  std::unordered_map<uint32_t, DatagramPair*> datagram_pairs_;
  std::shared_ptr<CompletionQueueState> first_due_;  // queues with an upcall due, linked by `next`
  uint64_t last_queue_pair_ = 0;

  bool abandoned_ = false;  // written only in a child with one thread
};

}  // namespace softdat::toy

#endif  // SOFTDAT_PROVIDER_TOY_FABRIC_H_
