// SPDX-License-Identifier: BSD-3-Clause
// Reads the IP packets of a small capture, for tests: Ethernet, IPv4 and IPv6, classic pcap.

#ifndef SOFTDAT_WIRE_IP_CAPTURE_H_
#define SOFTDAT_WIRE_IP_CAPTURE_H_

#include <string>
#include <vector>

#include "wire/test_support.h"

namespace softdat::wire_test {

/// Each packet from its IP header on, in the order of the capture. Fails the calling test on
/// anything but whole IP packets.
std::vector<Bytes> ReadIpPackets(const std::string& path);

}  // namespace softdat::wire_test

#endif  // SOFTDAT_WIRE_IP_CAPTURE_H_
