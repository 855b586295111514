// SPDX-License-Identifier: BSD-3-Clause
// The two ends of a datagram as the ICRC sees them.
#ifndef SOFTDAT_PROVIDER_SOFTNET_UDP_DESTINATION_H_
#define SOFTDAT_PROVIDER_SOFTNET_UDP_DESTINATION_H_

#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <variant>

#include "wire/roce/icrc.h"

namespace softdat::softnet {

// A flow of datagrams from one address and port to another.
class Flow {
 public:
  Flow() = default;
  // Both ends are of one family, IPv4 or IPv6.
  Flow(const sockaddr_storage& source, const sockaddr_storage& destination);

  // The ICRC's state behind the IP and UDP headers of a datagram with identification 0.
  uint32_t IcrcStart(size_t udp_payload) const {
    return std::visit([=](const auto& f) { return roce::IcrcStart(f, udp_payload); }, flow_);
  }
  // What another identification adds to that.
  uint32_t ShareOf(uint16_t identification) const {
    return is_ipv4() ? roce::IcrcShareOfIdentification(identification) : 0;
  }
  bool is_ipv4() const { return std::holds_alternative<roce::Ipv4Flow>(flow_); }

 private:
  std::variant<roce::Ipv4Flow, roce::Ipv6Flow> flow_;
};

// Where a port sends packets to: port 4791 of a peer. UdpPort makes it.
class Destination {
 public:
  Destination() = default;
  // `source`: the sending socket's end.
  Destination(const sockaddr_storage& source, const sockaddr_storage& peer);

  // Whether packets may leave together and be cut by the kernel (UDP_SEGMENT), which counts their
  // IPv4 identifications from 0. A device that cuts by itself may count otherwise. Packets to this
  // host meet none.
  bool may_be_cut() const { return may_be_cut_; }

  const sockaddr_storage& address() const { return address_; }
  socklen_t address_size() const { return address_size_; }
  const Flow& flow() const { return flow_; }

 private:
  sockaddr_storage address_{};
  socklen_t address_size_ = 0;
  bool may_be_cut_ = false;
  Flow flow_;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_UDP_DESTINATION_H_
