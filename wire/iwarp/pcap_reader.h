// SPDX-License-Identifier: BSD-3-Clause
// Reads the TCP payload of a small capture, for tests: Ethernet, IPv4, classic pcap.

#ifndef SOFTDAT_WIRE_IWARP_PCAP_READER_H_
#define SOFTDAT_WIRE_IWARP_PCAP_READER_H_

#include <string>
#include <vector>

#include "wire/test_support.h"

namespace softdat::wire_test {

/// Both directions of the one TCP connection of a capture, in the order of their sequence numbers.
struct TcpConversation {
  Bytes from_client;
  Bytes from_server;
};

/// Reads a capture file. Fails the calling test unless the file has one TCP connection with all its
/// octets.
TcpConversation ReadConversation(const std::string& path);

}  // namespace softdat::wire_test

#endif  // SOFTDAT_WIRE_IWARP_PCAP_READER_H_
