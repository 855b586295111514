// SPDX-License-Identifier: BSD-3-Clause
// What the queue pairs and listeners of one adapter over UDP share: what the adapter's objects
// share on every wire, the options of this one, and its planes, one for each address family that
// the interface has. An adapter whose address was asked for has that one's alone.
#ifndef SOFTDAT_PROVIDER_SOFTNET_UDP_WIRE_ROCE_ADAPTER_H_
#define SOFTDAT_PROVIDER_SOFTNET_UDP_WIRE_ROCE_ADAPTER_H_

#include <sys/socket.h>

#include <array>
#include <memory>
#include <span>

#include "dat/transport/transport.h"
#include "provider_softnet/objects/adapter_shared.h"
#include "provider_softnet/roce/early_pool.h"
#include "provider_softnet/udp_wire/roce_options.h"

namespace softdat::softnet {

class RocePlane;

class RoceAdapter {
 public:
  RoceAdapter(std::shared_ptr<AdapterShared> adapter, const RoceOptions& o);
  ~RoceAdapter();
  RoceAdapter(const RoceAdapter&) = delete;
  RoceAdapter& operator=(const RoceAdapter&) = delete;

  // The plane that reaches `peer`, started. Any thread. kAddressUnsupported when the interface has
  // no address of that family.
  Result<std::shared_ptr<RocePlane>> PlaneFor(const sockaddr_storage& peer);
  // The plane of the adapter's own address comes first.
  std::span<const std::shared_ptr<RocePlane>> planes() const { return {planes_.data(), count_}; }
  void Stop();

  const std::shared_ptr<AdapterShared> shared;
  const RoceOptions options;
  // Of `shared`.
  const transport::AdapterAttributes& attributes;
  MemoryTable& memory;
  Driver& driver;
  EarlyPool early;

 private:
  std::array<std::shared_ptr<RocePlane>, 2> planes_;
  size_t count_ = 0;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_UDP_WIRE_ROCE_ADAPTER_H_
