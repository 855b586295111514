// SPDX-License-Identifier: BSD-3-Clause
// The messages between rping of rdmacm-utils and its peer. The client names memory, which the
// server reads. Then the client names other memory, to which the server writes the same.
#ifndef SOFTDAT_TESTS_VM_RPING_MESSAGE_H_
#define SOFTDAT_TESTS_VM_RPING_MESSAGE_H_

#include <string>

#include "tests/conformance/fixture.h"
#include "wire/bytes.h"

namespace softdat::vm_test {

inline constexpr size_t kPing = 2500;  // bytes; more than a segment of TCP
inline constexpr int kPings = 5;
// What rping says about its memory, all of it big-endian: address (8), key (4), size (4). In the
// other direction, a message of the same size only says that the step is done.
inline constexpr size_t kMessage = 16;

inline DAT_RMR_TRIPLET Advertised(const conformance::Buffer& message) {
  DAT_RMR_TRIPLET remote{};
  remote.virtual_address = LoadBe64(message.data());
  remote.rmr_context = LoadBe32(message.data() + 8);
  remote.segment_length = LoadBe32(message.data() + 12);
  return remote;
}

inline void Advertise(const conformance::Buffer& memory, conformance::Buffer* message) {
  StoreBe64(message->data(), memory.address());
  StoreBe32(message->data() + 8, memory.rmr_context());
  StoreBe32(message->data() + 12, static_cast<uint32_t>(memory.size()));
}

// The content of rping's ping number `ping`: its name, letters that begin at one of its own, a
// zero.
inline std::string PingText(int ping) {
  std::string text = "rdma-ping-" + std::to_string(ping) + ": ";
  for (char c = static_cast<char>('A' + ping); text.size() < kPing - 1;) {
    text.push_back(c);
    c = c == 'z' ? 'A' : static_cast<char>(c + 1);
  }
  text.push_back('\0');
  return text;
}

}  // namespace softdat::vm_test

#endif  // SOFTDAT_TESTS_VM_RPING_MESSAGE_H_
