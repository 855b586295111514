// SPDX-License-Identifier: BSD-3-Clause
// One run of the simulation of RDS: two ends send each other messages of all sizes over transport
// connections that break at any moment, with all that is on its way. Some messages follow RDMA
// operations, some are taken back, some connections count credits, and the congestion maps change.
// All of it is drawn from the seed. What every run must keep:
//
//   - messages arrive in the order in which they were sent, each at most once, as they were sent;
//   - one that was neither taken back nor told to be dropped arrives, and its sender is told so,
//   once
//     and not before;
//   - only what follows an RDMA operation is dropped;
//   - where credits are counted, no frame comes without a receive;
//   - in the end each end knows the other one's congestion map.
#ifndef SOFTDAT_TESTS_SIM_RDS_PROGRAM_H_
#define SOFTDAT_TESTS_SIM_RDS_PROGRAM_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "rds/protocol/connection.h"

namespace softdat::sim {

class RdsProgram {
 public:
  explicit RdsProgram(uint64_t seed);

  // Runs to the end. Empty when all invariants held, else what did not.
  std::string Run();

  // What happened, so that runs can be compared and counted.
  struct Tally {
    uint64_t arrived = 0, done = 0, dropped = 0, cancelled = 0;
    uint64_t frames = 0, retransmitted = 0, breaks = 0, maps = 0;
  };
  const Tally& tally() const { return tally_; }

 private:
  struct Sent {
    size_t size = 0;
    bool behind_rdma = false;
    bool cancelled = false;
    int arrivals = 0, done = 0, dropped = 0;
  };
  struct End {
    rds::CongestionMap map;
    std::unique_ptr<rds::Connection> connection;
    std::vector<Sent> sent;                      // by id
    std::deque<std::vector<uint8_t>> under_way;  // frames from this end
    uint64_t receives = 0;                       // posted, where credits are counted
    uint64_t unposted = 0;                       // used, and not posted again yet
    size_t expected = 0;                         // the lowest id that may arrive from the other end
    uint64_t messages_left = 0;
  };

  uint64_t Draw(uint64_t bound) { return random_() % bound; }
  void Expect(bool ok, const std::string& what);
  void Step();
  void Send(int i);
  void Cancel(int i);
  void ChangeMap(int i);
  bool Transmit(int i);
  bool Deliver(int i);  // to end `i`
  void Repost(int i);
  void Break();
  void Connect();
  void Settle(int i);
  void On(int i, const rds::Arrived& event);
  void On(int i, const rds::Done& event);
  void On(int i, const rds::Dropped& event);
  void On(int /*i*/, const rds::MapCame& /*event*/) {}
  void On(int /*i*/, const rds::Met& /*event*/) {}
  void On(int, const rds::Freed&) {}
  bool Drain();
  void CheckEnd();

  const uint64_t seed_;
  std::mt19937_64 random_;
  End ends_[2];
  uint32_t credit_ = 0;        // of both ends; 0: none are counted
  uint64_t break_one_in_ = 0;  // steps
  bool up_ = false;
  std::string wrong_;
  Tally tally_;
};

}  // namespace softdat::sim

#endif  // SOFTDAT_TESTS_SIM_RDS_PROGRAM_H_
