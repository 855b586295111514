// SPDX-License-Identifier: BSD-3-Clause
// The port that stands for a connection qualifier. A qualifier has 64 bits, a port 16. A qualifier
// up to 65535 is the port itself, so that foreign peers can be reached. A larger one is folded to
// an unprivileged port below the range from which Linux takes the ports of outgoing connections,
// since any port of that range may be taken at any moment. The private data carry the whole
// qualifier, and the listener checks it there. All back ends whose wire has ports share this fold,
// so that a program is found on the same ports whichever back end it uses.
#ifndef SOFTDAT_DAT_BACKEND_KIT_QUALIFIER_PORT_H_
#define SOFTDAT_DAT_BACKEND_KIT_QUALIFIER_PORT_H_

#include <cstdint>

namespace softdat {

// The higher bits choose a place, and the low 16 bits count up from there. So neighbouring
// qualifiers, which programs use for neighbouring service points, get neighbouring ports and do not
// collide. Numbers that differ only higher up (a process id << 24) spread over all ports.
inline constexpr uint16_t PortOfQualifier(uint64_t conn_qual) {
  constexpr uint64_t kFirstUnprivileged = 1024;
  constexpr uint64_t kFirstEphemeral = 32768;  // the default of net.ipv4.ip_local_port_range
  constexpr uint64_t kPorts = kFirstEphemeral - kFirstUnprivileged;
  if (conn_qual <= 65535) return static_cast<uint16_t>(conn_qual);
  // The mixing steps of splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number
  // generators, 2014). Each bit that goes in changes half of the bits that come out.
  uint64_t place = conn_qual >> 16;
  place = (place ^ (place >> 30)) * 0xbf58476d1ce4e5b9;
  place = (place ^ (place >> 27)) * 0x94d049bb133111eb;
  place ^= place >> 31;
  return static_cast<uint16_t>(kFirstUnprivileged +
                               (place % kPorts + (conn_qual & 0xffff)) % kPorts);
}

}  // namespace softdat

#endif  // SOFTDAT_DAT_BACKEND_KIT_QUALIFIER_PORT_H_
