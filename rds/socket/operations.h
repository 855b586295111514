// SPDX-License-Identifier: BSD-3-Clause
// The operations of one sendmsg, and what its socket is told of how they ended.
#ifndef SOFTDAT_RDS_SOCKET_OPERATIONS_H_
#define SOFTDAT_RDS_SOCKET_OPERATIONS_H_

#include <linux/rds.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "rds/socket/control_messages.h"
#include "rds/socket/socket.h"

namespace softdat::rds {

class Operations {
 public:
  enum class Kind : uint8_t { kRdma = 0, kAtomic = 1 };

  Operations() = default;
  // `tells_errors`: the socket's RDS_RECVERR.
  Operations(std::optional<RdmaOperation> rdma, std::optional<AtomicOperation> atomic,
             bool tells_errors)
      : rdma_(std::move(rdma)), atomic_(std::move(atomic)), tells_errors_(tells_errors) {}

  const std::optional<RdmaOperation>& rdma() const { return rdma_; }
  const std::optional<AtomicOperation>& atomic() const { return atomic_; }
  bool any() const { return rdma_ || atomic_; }
  // Nothing is said to the peer when there is no payload either.
  bool silent() const {
    return any() && (!rdma_ || rdma_->silent) && (!atomic_ || atomic_->silent);
  }

  // One of them has ended. `alone`: no message follows, so nothing else has to be waited for.
  // Returns what is to be told.
  std::vector<Notification> Ended(Kind kind, int status, bool alone) {
    // What a lost connection has left open is told when there is a new one.
    if (status == RDS_RDMA_DROPPED) return {};
    if (status == RDS_RDMA_SUCCESS) succeeded_[static_cast<int>(kind)] = true;
    if (status != RDS_RDMA_SUCCESS || alone) return Tell(kind, status);
    return {};
  }
  bool succeeded() const { return (!rdma_ || succeeded_[0]) && (!atomic_ || succeeded_[1]); }
  // All has ended: with the message acknowledged, taken back, or lost.
  std::vector<Notification> AllEnded(int status) {
    std::vector<Notification> out = Tell(Kind::kRdma, status);
    for (const Notification& n : Tell(Kind::kAtomic, status)) out.push_back(n);
    return out;
  }

 private:
  std::vector<Notification> Tell(Kind kind, int status) {
    bool& told = told_[static_cast<int>(kind)];
    if (told) return {};
    const bool wanted = kind == Kind::kRdma ? Wants(rdma_, status) : Wants(atomic_, status);
    if (!wanted) return {};
    told = true;
    return {{kind == Kind::kRdma ? rdma_->token : atomic_->token, status}};
  }
  bool Wants(const std::optional<RdmaOperation>& operation, int status) const {
    if (!operation) return false;
    const bool failed = status != RDS_RDMA_SUCCESS && status != RDS_RDMA_CANCELED;
    return operation->notify || (tells_errors_ && failed);
  }
  static bool Wants(const std::optional<AtomicOperation>& operation, int) {
    return operation && operation->notify;
  }

  std::optional<RdmaOperation> rdma_;
  std::optional<AtomicOperation> atomic_;
  bool tells_errors_ = false;
  bool told_[2] = {};
  bool succeeded_[2] = {};
};

}  // namespace softdat::rds

#endif  // SOFTDAT_RDS_SOCKET_OPERATIONS_H_
