// SPDX-License-Identifier: BSD-3-Clause
// A service point: requests for its qualifier come to its sink.
#ifndef SOFTDAT_PROVIDER_SOFTNET_UDP_WIRE_ROCE_LISTENER_H_
#define SOFTDAT_PROVIDER_SOFTNET_UDP_WIRE_ROCE_LISTENER_H_

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "dat/transport/transport.h"
#include "provider_softnet/udp_wire/roce_plane.h"

namespace softdat::softnet {

class RoceListener final : public transport::Listener {
 public:
  // The listener listens when this succeeds.
  static Result<std::unique_ptr<transport::Listener>> Create(
      const std::shared_ptr<RoceAdapter>& adapter, const transport::ListenParameters& p);
  ~RoceListener() override;

  uint64_t conn_qual() const override { return point_->conn_qual; }

 private:
  RoceListener(std::shared_ptr<RoceAdapter> adapter, std::shared_ptr<RoceServicePoint> point)
      : adapter_(std::move(adapter)), point_(std::move(point)) {}
  // Listens on each of the planes, or on none.
  Status Join(std::span<const std::shared_ptr<RocePlane>> planes);

  const std::shared_ptr<RoceAdapter> adapter_;
  const std::shared_ptr<RoceServicePoint> point_;
  std::vector<std::shared_ptr<RocePlane>> joined_;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_UDP_WIRE_ROCE_LISTENER_H_
