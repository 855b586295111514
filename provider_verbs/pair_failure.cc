// SPDX-License-Identifier: BSD-3-Clause
#include "provider_verbs/pair_failure.h"

namespace softdat::verbs {

bool PairFailure::NoteCompletion(ibv_wc_status status, bool iwarp) {
  if (!watching_.load(std::memory_order_relaxed)) return false;
  // On iWARP the end of the TCP connection flushes, and rdma_cm tells how the connection ended.
  if (status == IBV_WC_WR_FLUSH_ERR && iwarp) return false;
  // If a pair flushes without having been told to end, that is a failure, too. But a flush is
  // seldom the cause.
  if (status != IBV_WC_WR_FLUSH_ERR) {
    int none = 0;
    status_.compare_exchange_strong(none, status, std::memory_order_relaxed);
  }
  return NoteFirst();
}

bool PairFailure::NoteFirst() {
  if (noted_.exchange(true, std::memory_order_relaxed)) return false;
  noted_life_.store(life(), std::memory_order_relaxed);
  return true;
}

const char* PairFailure::what() const {
  const int status = status_.load(std::memory_order_relaxed);
  return status == 0 ? "the device flushed the queue pair"
                     : ibv_wc_status_str(static_cast<ibv_wc_status>(status));
}

void PairFailure::Clear() {
  noted_.store(false, std::memory_order_relaxed);
  status_.store(0, std::memory_order_relaxed);
}

}  // namespace softdat::verbs
