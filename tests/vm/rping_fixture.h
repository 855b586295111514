// SPDX-License-Identifier: BSD-3-Clause
// The base of tests of softnet against rping of rdmacm-utils, which runs on the kernel's RDMA, in
// either role. softnet is in the network namespace B of tests/vm/guest.sh (soft_peer), and rping
// outside of it.
#ifndef SOFTDAT_TESTS_VM_RPING_FIXTURE_H_
#define SOFTDAT_TESTS_VM_RPING_FIXTURE_H_

#include <sys/socket.h>

#include <memory>
#include <string>

#include "tests/conformance/fixture.h"
#include "tests/vm/outside_program.h"
#include "tests/vm/rping_message.h"

namespace softdat::vm_test {

inline constexpr char kKernelAddress[] = "10.8.0.1";
inline constexpr char kOwnAddress[] = "10.8.0.2";
inline constexpr char kKernelAddress6[] = "fd00:8::1";
inline constexpr char kOwnAddress6[] = "fd00:8::2";
// Nothing else listens in the kernel's network.
inline constexpr uint16_t kRpingPort = 7174;

class RpingTest : public conformance::ConformanceTest {
 protected:
  void SetUp() override;
  void TearDown() override;

  // The two addresses in the family of the variant.
  const char* kernel_address() const { return is_6() ? kKernelAddress6 : kKernelAddress; }
  const char* own_address() const { return is_6() ? kOwnAddress6 : kOwnAddress; }

  // Waits for a program's request to connect. If it sends first, its receives are posted before.
  void AcceptFrom(DAT_PSP_HANDLE psp);
  DAT_CONNECTION_EVENT_DATA ConnectTo(const char* where, DAT_CONN_QUAL qualifier);

  // The rounds as rping's server, which reads rping's memory in `pieces` reads at once, and writes
  // to it. Starts rping's client.
  void ServeRping(uint16_t port, DAT_PSP_HANDLE psp, size_t pieces);
  // The rounds as rping's client, whose memory rping's server reads and writes.
  void PingRping(const char* where, uint16_t port);
  // Starts rping's server.
  std::unique_ptr<OutsideProgram> StartServer(uint16_t port) const;
  // Is called when all rounds are over, and before the connection ends.
  virtual void ExpectWhenConnected() {}

  std::unique_ptr<conformance::Buffer> in_, out_, ping_;

 private:
  bool is_6() const { return variant().family == AF_INET6; }
  void ServePing(int ping, size_t pieces);
  void ReadIn(const DAT_RMR_TRIPLET& source, size_t pieces);
  // Sends the message. The receive for its answer is posted first.
  void Message();
};

}  // namespace softdat::vm_test

#endif  // SOFTDAT_TESTS_VM_RPING_FIXTURE_H_
