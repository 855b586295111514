// SPDX-License-Identifier: BSD-3-Clause
// What RDS counts: RDS_INFO_COUNTERS.
#ifndef SOFTDAT_RDS_PROTOCOL_COUNTERS_H_
#define SOFTDAT_RDS_PROTOCOL_COUNTERS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace softdat::rds {

// Linux's counters in its order: those of RDS, and those of its InfiniBand transport. Tools know
// them by name. They take octets to be counted where "_bytes" is in the name.
#define SOFTDAT_RDS_COUNTERS(X)                                              \
  X(kConnReset, "conn_reset")                                                \
  X(kRecvDropBadChecksum, "recv_drop_bad_checksum")                          \
  X(kRecvDropOldSeq, "recv_drop_old_seq")                                    \
  X(kRecvDropNoSock, "recv_drop_no_sock")                                    \
  X(kRecvDropDeadSock, "recv_drop_dead_sock")                                \
  X(kRecvDeliverRaced, "recv_deliver_raced")                                 \
  X(kRecvDelivered, "recv_delivered") /* to the program, also by MSG_PEEK */ \
  X(kRecvQueued, "recv_queued")                                              \
  X(kRecvImmediateRetry, "recv_immediate_retry")                             \
  X(kRecvDelayedRetry, "recv_delayed_retry")                                 \
  X(kRecvAckRequired, "recv_ack_required")                                   \
  X(kRecvRdmaBytes, "recv_rdma_bytes") /* of RDMA reads made here */         \
  X(kRecvPing, "recv_ping")                                                  \
  X(kSendQueueEmpty, "send_queue_empty")                                     \
  X(kSendQueueFull, "send_queue_full")                                       \
  X(kSendLockContention, "send_lock_contention")                             \
  X(kSendLockQueueRaced, "send_lock_queue_raced")                            \
  X(kSendImmediateRetry, "send_immediate_retry")                             \
  X(kSendDelayedRetry, "send_delayed_retry")                                 \
  X(kSendDropAcked, "send_drop_acked")                                       \
  X(kSendAckRequired, "send_ack_required")                                   \
  X(kSendQueued, "send_queued")                                              \
  X(kSendRdma, "send_rdma")                                                  \
  X(kSendRdmaBytes, "send_rdma_bytes") /* of RDMA writes made here */        \
  X(kSendPong, "send_pong")                                                  \
  X(kPageRemainderHit, "page_remainder_hit")                                 \
  X(kPageRemainderMiss, "page_remainder_miss")                               \
  X(kCopyToUser, "copy_to_user")     /* octets */                            \
  X(kCopyFromUser, "copy_from_user") /* octets */                            \
  X(kCongUpdateQueued, "cong_update_queued")                                 \
  X(kCongUpdateReceived, "cong_update_received")                             \
  X(kCongSendError, "cong_send_error")                                       \
  X(kCongSendBlocked, "cong_send_blocked")                                   \
  X(kRecvBytesAddedToSock, "recv_bytes_added_to_sock")                       \
  X(kRecvBytesFreedFromSock, "recv_bytes_freed_fromsock")                    \
  X(kSendStuckRm, "send_stuck_rm")                                           \
  X(kIbConnectRaced, "ib_connect_raced")                                     \
  X(kIbListenClosedStale, "ib_listen_closed_stale")                          \
  X(kIbEvtHandlerCall, "ib_evt_handler_call")                                \
  X(kIbTaskletCall, "ib_tasklet_call")                                       \
  X(kIbTxCqEvent, "ib_tx_cq_event")                                          \
  X(kIbTxRingFull, "ib_tx_ring_full")                                        \
  X(kIbTxThrottle, "ib_tx_throttle")                                         \
  X(kIbTxSgMappingFailure, "ib_tx_sg_mapping_failure")                       \
  X(kIbTxStalled, "ib_tx_stalled")                                           \
  X(kIbTxCreditUpdates, "ib_tx_credit_updates")                              \
  X(kIbRxCqEvent, "ib_rx_cq_event")                                          \
  X(kIbRxRingEmpty, "ib_rx_ring_empty")                                      \
  X(kIbRxRefillFromCq, "ib_rx_refill_from_cq")                               \
  X(kIbRxRefillFromThread, "ib_rx_refill_from_thread")                       \
  X(kIbRxAllocLimit, "ib_rx_alloc_limit")                                    \
  X(kIbRxTotalFrags, "ib_rx_total_frags")                                    \
  X(kIbRxTotalIncs, "ib_rx_total_incs")                                      \
  X(kIbRxCreditUpdates, "ib_rx_credit_updates")                              \
  X(kIbAckSent, "ib_ack_sent")                                               \
  X(kIbAckSendFailure, "ib_ack_send_failure")                                \
  X(kIbAckSendDelayed, "ib_ack_send_delayed")                                \
  X(kIbAckSendPiggybacked, "ib_ack_send_piggybacked")                        \
  X(kIbAckReceived, "ib_ack_received")                                       \
  X(kIbRdmaMr8kAlloc, "ib_rdma_mr_8k_alloc")                                 \
  X(kIbRdmaMr8kFree, "ib_rdma_mr_8k_free")                                   \
  X(kIbRdmaMr8kUsed, "ib_rdma_mr_8k_used")                                   \
  X(kIbRdmaMr8kPoolFlush, "ib_rdma_mr_8k_pool_flush")                        \
  X(kIbRdmaMr8kPoolWait, "ib_rdma_mr_8k_pool_wait")                          \
  X(kIbRdmaMr8kPoolDepleted, "ib_rdma_mr_8k_pool_depleted")                  \
  X(kIbRdmaMr1mAlloc, "ib_rdma_mr_1m_alloc")                                 \
  X(kIbRdmaMr1mFree, "ib_rdma_mr_1m_free")                                   \
  X(kIbRdmaMr1mUsed, "ib_rdma_mr_1m_used")                                   \
  X(kIbRdmaMr1mPoolFlush, "ib_rdma_mr_1m_pool_flush")                        \
  X(kIbRdmaMr1mPoolWait, "ib_rdma_mr_1m_pool_wait")                          \
  X(kIbRdmaMr1mPoolDepleted, "ib_rdma_mr_1m_pool_depleted")                  \
  X(kIbRdmaMr8kReused, "ib_rdma_mr_8k_reused")                               \
  X(kIbRdmaMr1mReused, "ib_rdma_mr_1m_reused")                               \
  X(kIbAtomicCswp, "ib_atomic_cswp")                                         \
  X(kIbAtomicFadd, "ib_atomic_fadd")

enum class Counter : uint8_t {
#define SOFTDAT_RDS_COUNTER(counter, name) counter,
  SOFTDAT_RDS_COUNTERS(SOFTDAT_RDS_COUNTER)
#undef SOFTDAT_RDS_COUNTER
};

// By the number of the counter.
inline constexpr auto kCounterNames = std::to_array<std::string_view>({
#define SOFTDAT_RDS_COUNTER(counter, name) name,
    SOFTDAT_RDS_COUNTERS(SOFTDAT_RDS_COUNTER)
#undef SOFTDAT_RDS_COUNTER
});

// Since the start, and never less. Not for several threads at once.
struct Counters {
  std::array<uint64_t, kCounterNames.size()> values{};

  void Count(Counter counter, uint64_t more = 1) { values[static_cast<size_t>(counter)] += more; }
  uint64_t operator[](Counter counter) const { return values[static_cast<size_t>(counter)]; }
  // Adds those of another process.
  Counters& operator+=(const Counters& other) {
    for (size_t i = 0; i < values.size(); ++i) values[i] += other.values[i];
    return *this;
  }
  bool operator==(const Counters&) const = default;
};

}  // namespace softdat::rds

#endif  // SOFTDAT_RDS_PROTOCOL_COUNTERS_H_
