// SPDX-License-Identifier: BSD-3-Clause
// A service point over shared memory.
#ifndef SOFTDAT_PROVIDER_SOFTNET_SHM_SHM_LISTENER_H_
#define SOFTDAT_PROVIDER_SOFTNET_SHM_SHM_LISTENER_H_

#include <memory>

#include "provider_softnet/connection/service_point.h"
#include "provider_softnet/shm/shm_context.h"
#include "provider_softnet/shm/shm_ports.h"

namespace softdat::softnet {

class ShmListener final : public transport::Listener {
 public:
  static Result<std::unique_ptr<transport::Listener>> Create(
      const std::shared_ptr<ShmContext>& context, const transport::ListenParameters& p);
  ~ShmListener() override;
  uint64_t conn_qual() const override { return point_->conn_qual; }

 private:
  explicit ShmListener(std::shared_ptr<ShmContext> context);

  void OnReadable();
  void Pause(int error);

  const std::shared_ptr<ShmContext> context_;
  const std::shared_ptr<ServicePoint> point_ = std::make_shared<ServicePoint>();
  UniqueFd fd_;
  ShmPort port_;
  bool joined_ = false;
  bool held_ = false;  // the sink knows that requests wait
  SocketWatch watch_;
  LoopTimer pause_;  // no descriptors left: the listener looks again later
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_SHM_SHM_LISTENER_H_
