// SPDX-License-Identifier: BSD-3-Clause
// A node of the simulation that connects, listens and answers. It uses the engines of connecting
// and the stream over simulated byte streams, as the socket classes of provider_softnet/tcp use
// them over sockets. It decides nothing, because the program (connect_program.h) is its consumer.
#ifndef SOFTDAT_TESTS_SIM_CONNECTING_NODE_H_
#define SOFTDAT_TESTS_SIM_CONNECTING_NODE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "provider_softnet/iwarp/half_open.h"
#include "provider_softnet/memory/memory_table.h"
#include "tests/sim/byte_streams.h"
#include "tests/sim/connecting_party.h"

namespace softdat::sim {

struct NodeOptions {
  softnet::CrcPolicy crc = softnet::CrcPolicy::kAuto;
  bool revision1_only = false;  // closes on requests of revision 2, as old peers do
  uint32_t depth = 4;           // reads and atomics, both ways
  size_t half_open = 8;
  uint64_t handshake_us = 8'000'000;    // for a peer's start-up frame
  uint64_t close_us = 3'000'000;        // for a peer's end after our own
  uint64_t disconnect_us = 60'000'000;  // for everything that a graceful disconnect waits for
};

// The port at which a connection qualifier is reached.
inline uint16_t PortOf(uint64_t qualifier) {
  return qualifier <= 65535 ? static_cast<uint16_t>(qualifier) : uint16_t{4791};
}

class ConnectingNode {
 public:
  ConnectingNode(int number, VirtualTime* time, ByteStreams* streams, const NodeOptions& options,
                 PartySink* sink);
  ~ConnectingNode();

  int number() const { return number_; }
  const NodeOptions& options() const { return options_; }
  VirtualTime& time() { return *time_; }
  ByteStreams& streams() { return *streams_; }
  PartySink& sink() { return *sink_; }
  softnet::MemoryTable& memory() { return memory_; }
  softnet::StreamBlocks& blocks() { return blocks_; }
  std::chrono::microseconds now() const { return std::chrono::microseconds(time_->now_us()); }

  void Listen(uint64_t qualifier);
  void StopListening(uint64_t qualifier);
  bool listens(uint64_t qualifier) const { return qualifiers_.contains(qualifier); }
  Party* Connect(const ConnectParameters& parameters);
  // The program of the node ends without telling anybody.
  void Kill();

  // The connections that are not over, including half-open ones.
  std::vector<Party*> parties() const;
  size_t half_open() const { return half_open_.size(); }
  // The largest number of half-open connections so far.
  size_t most_half_open() const { return most_half_open_; }

  // The serial number of the next party.
  uint64_t NextSerial() { return ++last_serial_; }
  void Route(StreamId stream, Party* party) { routes_[stream] = party; }
  void Unroute(StreamId stream) { routes_.erase(stream); }
  // The party's request has been read, so it is no longer half-open.
  void Keep(Party* party);
  void Retire(Party* party);

 private:
  void OnEvent(const StreamEvent& event);

  const int number_;
  VirtualTime* const time_;
  ByteStreams* const streams_;
  const NodeOptions options_;
  PartySink* const sink_;
  softnet::MemoryTable memory_;
  softnet::StreamBlocks blocks_;
  std::set<uint64_t> qualifiers_;
  std::map<StreamId, Party*> routes_;
  std::map<const Party*, std::unique_ptr<Party>> parties_;
  softnet::HalfOpen<Party> half_open_;
  size_t most_half_open_ = 0;
  uint64_t last_serial_ = 0;
};

}  // namespace softdat::sim

#endif  // SOFTDAT_TESTS_SIM_CONNECTING_NODE_H_
