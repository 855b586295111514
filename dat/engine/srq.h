// SPDX-License-Identifier: BSD-3-Clause
// Shared receive queue (semantics 11).
#ifndef SOFTDAT_DAT_ENGINE_SRQ_H_
#define SOFTDAT_DAT_ENGINE_SRQ_H_

#include <atomic>
#include <memory>
#include <mutex>

#include "dat/engine/events/receive_tally.h"
#include "dat/engine/object/object.h"
#include "dat/engine/pz.h"
#include "dat/transport/transport.h"

namespace softdat::engine {

class Srq final : public Object, private transport::SharedReceiveSink {
 public:
  static constexpr DAT_HANDLE_TYPE kHandleType = DAT_HANDLE_TYPE_SRQ;

  // dat_srq_create. On success *out is published.
  static DAT_RETURN Create(IaCore* ia, Pz* pz, const DAT_SRQ_ATTR& attr, Srq** out);

  void Query(DAT_SRQ_PARAM* param);
  DAT_RETURN Resize(DAT_COUNT max_recv_dtos);
  DAT_RETURN SetLowWatermark(DAT_COUNT low_watermark);
  // Refused while an EP uses it. The caller has pinned the SRQ once.
  DAT_RETURN Free();

  // Data path: no lock, no allocation.
  Code PostReceive(const transport::ReceiveRequest& request) {
    outstanding_->OnPost();  // first: its completion may be reaped before the post returns
    const Code code = queue_->PostReceive(request);
    if (code != Code::kOk) [[unlikely]]
      outstanding_->OnReaped();
    return code;
  }
  const std::shared_ptr<ReceiveCount>& outstanding() const { return outstanding_; }
  uint32_t max_iov() const { return max_iov_; }

  transport::SharedReceiveQueue& queue() { return *queue_; }
  Pz* pz() { return pz_.get(); }

 private:
  Srq(IaCore* ia, Pz* pz, const DAT_SRQ_ATTR& attr);
  ~Srq() override = default;
  void Teardown() override;
  void OnLimit() override;

  const uint32_t max_iov_;
  Use<Pz> pz_;
  // Set once in Create, destroyed in Teardown.
  std::unique_ptr<transport::SharedReceiveQueue> queue_;

  const std::shared_ptr<ReceiveCount> outstanding_ = std::make_shared<ReceiveCount>();

  std::mutex mu_;  // protects the numbers below; not held across back-end calls
  DAT_COUNT max_recv_dtos_;
  DAT_COUNT low_watermark_;
};

}  // namespace softdat::engine

#endif  // SOFTDAT_DAT_ENGINE_SRQ_H_
