// SPDX-License-Identifier: BSD-3-Clause
// The RDMA of a task: the control messages that ask for it, its memory, and whether it did what it
// must.
#ifndef SOFTDAT_TOOLS_RDS_STRESS_RDMA_H_
#define SOFTDAT_TOOLS_RDS_STRESS_RDMA_H_

#include <linux/rds.h>
#include <sys/socket.h>

#include <cstdint>
#include <cstring>
#include <unordered_set>
#include <vector>

#include "tools/common/outcome.h"
#include "tools/rds/calls.h"
#include "tools/rds/stress_counts.h"
#include "tools/rds/stress_exchange.h"
#include "tools/rds/stress_memory.h"

namespace softdat::tools {

// What a message with RDMA has besides its payload. It must live until sendmsg has returned.
class RdmaControl {
 public:
  template <typename T>
  void Set(int type, const T& value, msghdr* message) {
    static_assert(CMSG_SPACE(sizeof value) <= sizeof bytes_);
    message->msg_control = bytes_;
    message->msg_controllen = CMSG_SPACE(sizeof value);
    cmsghdr* const header = CMSG_FIRSTHDR(message);
    header->cmsg_level = SOL_RDS;
    header->cmsg_type = type;
    header->cmsg_len = CMSG_LEN(sizeof value);
    std::memcpy(CMSG_DATA(header), &value, sizeof value);
  }
  std::vector<rds_iovec> vectors;  // to which the control message points

 private:
  alignas(cmsghdr) uint8_t bytes_[CMSG_SPACE(sizeof(rds_rdma_args))];
};

class StressRdma {
 public:
  using Outgoing = StressExchange::Outgoing;

  StressRdma(const StressJob& job, StressExchange* exchange, SharedCounts* counts)
      : job_(job), exchange_(*exchange), counts_(*counts) {}

  // With a bound socket, if the job has RDMA.
  Outcome Open(const RdsSocket& socket);

  // The control message of a request, which opens memory, or of an ack, which has it carried.
  Outcome Ask(const Outgoing& out, RdmaControl* control, msghdr* message);
  // It is on its way.
  void Sent(const Outgoing& out);
  // Requests open their memory by RDMA_MAP.
  bool UsesMap() const { return !job_.get_mr && !job_.cache_mrs; }

  Outcome OnStatus(const rds_rdma_notify& status);
  // The ack of a request with RDMA has come, for the memory of this slot.
  Outcome OnAck(const StressMessage& ack, uint32_t slot);

 private:
  Outcome OpenMemory(const Outgoing& out, RdmaControl* control, msghdr* message);
  Outcome CloseMemory(const StressMessage& ack, rds_rdma_cookie_t cookie);
  void Carry(const Outgoing& out, RdmaControl* control, msghdr* message);
  void CountKey(rds_rdma_cookie_t cookie);

  const StressJob& job_;
  StressExchange& exchange_;
  SharedCounts& counts_;
  const RdsSocket* socket_ = nullptr;
  StressMemory memory_;                     // of own requests
  StressMemory answer_memory_;              // of acks
  std::vector<rds_rdma_cookie_t> cookies_;  // by slot of memory_; 0: not open
  std::vector<StressMessage> answers_;      // by slot of answer_memory_: the request
  std::unordered_set<uint32_t> keys_;
};

// The request that an ack answers.
StressMessage RequestOf(const StressMessage& ack);
// " RDMA read", " RDMA write" or "".
const char* WayName(RdmaWay way);
// Success for problem "", else that the bytes of `what` are wrong.
Outcome Verified(const std::string& problem, const char* what, const StressMessage& message);

}  // namespace softdat::tools

#endif  // SOFTDAT_TOOLS_RDS_STRESS_RDMA_H_
