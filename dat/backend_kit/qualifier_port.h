// SPDX-License-Identifier: BSD-3-Clause
// Connection qualifiers are 64 bits wide, ports 16. Up to 65535 a qualifier is the port, so that
// foreign peers can be reached; above, it is folded to an unprivileged port below those that Linux
// gives to outgoing connections, of which any may be taken at any moment, and carried whole in the
// private data, where the listener checks it. Back ends whose wire has ports share this fold,
// so that a program is found on the same ports whichever it uses.
#ifndef SOFTDAT_DAT_BACKEND_KIT_QUALIFIER_PORT_H_
#define SOFTDAT_DAT_BACKEND_KIT_QUALIFIER_PORT_H_

#include <cstdint>

namespace softdat {

// The low 16 bits count up from a place that all the higher ones choose. Neighbouring qualifiers,
// which programs use for neighbouring service points, so get neighbouring ports and do not collide,
// and numbers that differ only higher up (a process id << 24) spread over all ports.
inline constexpr uint16_t PortOfQualifier(uint64_t conn_qual) {
  constexpr uint64_t kFirstUnprivileged = 1024;
  constexpr uint64_t kFirstEphemeral = 32768;  // the default of net.ipv4.ip_local_port_range
  constexpr uint64_t kPorts = kFirstEphemeral - kFirstUnprivileged;
  if (conn_qual <= 65535) return static_cast<uint16_t>(conn_qual);
  // The mixing steps of splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number
  // generators, 2014): every bit in changes half of the bits out.
  uint64_t place = conn_qual >> 16;
  place = (place ^ (place >> 30)) * 0xbf58476d1ce4e5b9;
  place = (place ^ (place >> 27)) * 0x94d049bb133111eb;
  place ^= place >> 31;
  return static_cast<uint16_t>(kFirstUnprivileged +
                               (place % kPorts + (conn_qual & 0xffff)) % kPorts);
}

}  // namespace softdat

#endif  // SOFTDAT_DAT_BACKEND_KIT_QUALIFIER_PORT_H_
