// SPDX-License-Identifier: BSD-3-Clause
// A relay between the two ends of an iWARP connection, which sees what they say to each other.
#ifndef SOFTDAT_TESTS_VM_WIRETAP_H_
#define SOFTDAT_TESTS_VM_WIRETAP_H_

#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "wire/iwarp/ddp.h"
#include "wire/iwarp/mpa.h"

namespace softdat::vm_test {

// One FPDU on the wire.
struct Frame {
  bool from_client;
  iwarp::Opcode opcode;
  bool last;
  uint32_t read_size;  // of a Read Request
};

// Both start-up frames, and all frames behind them in the order in which they passed.
struct Conversation {
  iwarp::MpaEnhanced request, reply;
  std::vector<Frame> frames;
};

class Wiretap {
 public:
  // Listens on a free port of `here`, and relays the one connection that arrives to `there`.
  Wiretap(const std::string& here, const std::string& there, uint16_t port);
  ~Wiretap();
  Wiretap(const Wiretap&) = delete;
  Wiretap& operator=(const Wiretap&) = delete;

  uint16_t port() const { return port_; }
  // What both ends have said. Returns when both have closed.
  Conversation Finish();

 private:
  // The octets of one direction that are not part of a whole frame yet.
  struct Direction {
    bool started = false;
    std::vector<uint8_t> octets;
  };

  void Relay(const std::string& there, uint16_t port);
  // Relays what has come. Returns false at the end of the direction.
  bool Pass(int from, int to, bool from_client);
  void TakeFrames(bool from_client);

  int listener_ = -1;
  uint16_t port_ = 0;
  std::thread relay_;
  // The thread writes these. They are read after it was joined.
  Direction from_client_, from_server_;
  Conversation conversation_;
};

}  // namespace softdat::vm_test

#endif  // SOFTDAT_TESTS_VM_WIRETAP_H_
