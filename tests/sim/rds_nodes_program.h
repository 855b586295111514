// SPDX-License-Identifier: BSD-3-Clause
// One run of the simulation of RDS nodes: the processes of one to three addresses, with several
// sockets each, send each other messages and carry out RDMA operations. Connections break or cannot
// be made, addresses are parted, processes are killed and others start, which take over services
// and ports, and programs read slowly, take back and close. All of it is drawn from the seed. What
// every run must keep:
//
//   - between two sockets each message arrives at most once, as it was sent, and in order;
//   - it does arrive, when both sockets live and it was neither taken back nor behind an RDMA
//     operation;
//   - it arrives at the socket that has the name, and nowhere else;
//   - an operation is told once if that was asked for, and what it is told is true; a message
//   behind
//     one arrives when the data are there; nobody writes beside what a cookie covers;
//   - who waits for room or for a congested port goes on;
//   - in the end everybody reaches everybody, all queues are empty, there are no peers and no
//     connections but those that are needed, and nothing happens any more.
#ifndef SOFTDAT_TESTS_SIM_RDS_NODES_PROGRAM_H_
#define SOFTDAT_TESTS_SIM_RDS_NODES_PROGRAM_H_

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "rds/socket/node.h"
#include "tests/sim/rds_network.h"
#include "tests/sim/virtual_time.h"

namespace softdat::sim {

class RdsNodesProgram {
 public:
  explicit RdsNodesProgram(uint64_t seed);

  // Runs to the end. Empty when all invariants held, else what did not.
  std::string Run();

  // What happened, so that runs can be compared and counted.
  struct Tally {
    uint64_t sent = 0, arrived = 0, breaks = 0, kills = 0, full = 0, congested = 0, cancelled = 0,
             operations = 0, told_done = 0, told_dropped = 0, told_refused = 0, atomics = 0,
             turns = 0, pongs = 0, moves = 0;
  };
  const Tally& tally() const { return tally_; }

 private:
  // The ports of this host, of all processes.
  struct Ports : rds::Directory {
    rds::Location Find(const rds::SocketName& name) const override {
      const auto found = at.find(name);
      return found == at.end() ? rds::Location{} : found->second;
    }
    std::map<rds::SocketName, rds::Location> at;
  };
  struct Process {
    size_t index = 0;
    bool alive = true;
    rds::Instance instance = 0;
    std::vector<rds::Address> addresses;
    std::unique_ptr<RdsLink> link;
    std::unique_ptr<rds::Node> node;
    bool turn_due = false;
    bool dies = false;  // after its next turn
    VirtualTime::Id timer = 0;
    uint64_t idle_turns = 0;  // of timers, one after the other without anything else
  };
  // Memory with guards around it.
  struct Buffer {
    std::vector<uint8_t> octets;
    size_t bytes = 0;
    uint64_t address() const { return reinterpret_cast<uint64_t>(octets.data()) + kGuard; }
  };
  // What was opened to peers.
  struct Region {
    size_t owner = 0;  // socket
    size_t buffer = 0;
    rds_rdma_cookie_t cookie = 0;  // as the peer has it
    bool atomic = false;
    bool closed = false;  // perhaps
  };
  struct Operation {
    size_t socket = 0, region = 0, message = 0;
    size_t buffer = 0;  // local
    uint64_t offset = 0, bytes = 0;
    bool write = false, atomic = false, notify = false, bad = false;
    bool here = false;      // both sockets are of one process
    bool not_sent = false;  // the send failed
    bool reused = false;    // it was taken back, and its memory is used for something else
    int told = 0, status = 0;
  };
  struct Sent {
    size_t from = 0;                 // socket
    std::optional<size_t> receiver;  // who had the name when it was sent
    rds::SocketName to;
    size_t size = 0;
    std::optional<size_t> offers;  // a region
    std::optional<size_t> operation;
    bool cancelled = false;
    int arrived = 0;
  };
  // A send that waits until its socket is told to have changed.
  struct Blocked {
    size_t message = 0;
    rds::SendRequests requests;
    std::vector<uint8_t> payload;
  };
  struct Socket {
    size_t process = 0;
    rds::SocketId id = 0;
    rds::SocketName name;
    bool alive = true;
    uint64_t reads_one_in = 1;  // when it is its turn to read
    std::optional<Blocked> blocked;
    bool awaits_freed = false;      // has met congestion while it monitors
    std::deque<size_t> offers;      // regions of others
    std::vector<size_t> counters;   // regions for atomics that others have told of
    std::map<size_t, size_t> last;  // the last message that came, by sender
    uint64_t pings = 0, pongs = 0;
  };
  static constexpr size_t kGuard = 16;

  uint64_t Draw(uint64_t bound) { return random_() % bound; }
  bool OneIn(uint64_t n) { return n != 0 && Draw(n) == 0; }
  void Expect(bool ok, const std::string& what);
  rds::Time now() const { return std::chrono::microseconds(time_.now_us()); }

  // ---- processes and what happens to them (rds_nodes_program.cc) ----
  void StartProcess(const rds::Address& address);
  void Kill(Process& process);
  void TakeOver(const rds::Address& address);
  void Turn(Process& process, bool timer);
  void Settle(Process& process);
  void Changed(Process& process);
  void Act();
  void Trouble();
  Process* AnyProcess();

  // ---- what programs do (rds_nodes_traffic.cc) ----
  void OpenSocket(Process& process);
  std::optional<rds::SocketName> FreeName(const Process& process);
  void CloseSocket(size_t socket);
  void SendSomething(size_t socket);
  size_t NewMessage(size_t socket, const rds::SocketName& to, size_t size);
  bool TrySend(size_t socket, Blocked send);
  void Unblock(size_t socket);
  void Ping(size_t socket);
  void Cancel(size_t socket);
  void Read(size_t socket, size_t most);
  void TakeStatuses(size_t socket);
  void TakeMessage(size_t socket, const rds::Received& received);
  void TakePong(size_t socket, const rds::Received& received);
  rds::SocketName AnyName();
  std::optional<size_t> AnySocket();

  // ---- RDMA (rds_nodes_rdma.cc) ----
  size_t NewBuffer(size_t bytes, std::optional<uint64_t> pattern);  // none: zeros
  const uint8_t* At(size_t buffer) const { return buffers_[buffer].octets.data() + kGuard; }
  std::vector<rds::Area> Pieces(size_t buffer);
  std::optional<size_t> OfferMemory(size_t socket, rds::SendRequests* requests);
  void CloseMemory(size_t socket);
  void UseOffer(size_t socket);
  void UseCounter(size_t socket);
  void SendOperation(size_t socket, Operation operation, Blocked send, bool silent);
  void TakeStatus(size_t socket, const rds::Notification& told);
  void CheckWritten(size_t operation, const char* when);
  bool OutOfReach(const Operation& operation) const;
  void CheckRead(size_t operation);
  void ReuseMemory(size_t socket);

  // ---- the end (rds_nodes_check.cc) ----
  void Calm();
  void Rest(const char* when);
  void SendToAll();
  void CheckNodes();
  void CheckNode(Process& process);
  void CheckMessages();
  void CheckOperations();
  void CheckMemory();

  rds::Node& NodeOf(size_t socket) { return *processes_[sockets_[socket].process]->node; }
  rds::Socket& Of(size_t socket) { return *NodeOf(socket).Find(sockets_[socket].id); }

  const uint64_t seed_;
  std::mt19937_64 random_;
  VirtualTime time_;
  RdsNetwork network_;
  Ports ports_;
  bool calm_ = false;
  bool rdma_ = false;
  bool ports_move_ = false;      // from a process to another one while both live
  uint64_t trouble_one_in_ = 0;  // actions
  uint64_t kill_one_in_ = 0;     // troubles
  size_t largest_ = 0;           // messages
  size_t receive_limit_ = 0, send_limit_ = 0;
  uint64_t reads_one_in_ = 1;
  std::vector<rds::Address> addresses_;
  std::vector<std::unique_ptr<Process>> processes_;
  std::vector<Socket> sockets_;
  std::map<rds::SocketName, size_t> bound_;
  std::map<rds::SocketName, size_t> last_owners_;  // processes
  std::vector<Sent> messages_;
  std::vector<Buffer> buffers_;
  std::vector<Region> regions_;
  std::vector<Operation> operations_;
  std::string wrong_;
  Tally tally_;
};

}  // namespace softdat::sim

#endif  // SOFTDAT_TESTS_SIM_RDS_NODES_PROGRAM_H_
