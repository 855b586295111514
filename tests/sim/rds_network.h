// SPDX-License-Identifier: BSD-3-Clause
// Transport connections between processes with RDS, in virtual time: what rds/socket/link.h asks
// for. Connections are refused, late, or made to somebody else. They break at any moment, and each
// end hears of that later, with what was on its way lost, or not. RDMA is carried out on the memory
// of this program, without the process that owns it.
//
// Each direction keeps its order. What a process is told waits until its turn, and is dropped when
// the process has closed the channel meanwhile.
#ifndef SOFTDAT_TESTS_SIM_RDS_NETWORK_H_
#define SOFTDAT_TESTS_SIM_RDS_NETWORK_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "rds/socket/link.h"
#include "tests/sim/rds_wire.h"
#include "tests/sim/virtual_time.h"

namespace softdat::sim {

class RdsNetwork;

// What one process has of the network.
class RdsLink : public rds::Link {
 public:
  RdsLink(RdsNetwork* network, uint32_t credit, size_t ring, std::function<void()> on_news)
      : network_(*network), credit_(credit), ring_(ring), on_news_(std::move(on_news)) {}

  // Tells `events` all that has come for this process.
  void Drain(rds::LinkEvents& events);
  bool listens(const rds::Address& own) const { return services_.contains(own); }
  size_t channels() const { return channels_.size(); }
  size_t regions() const { return regions_.size(); }

  rds::ChannelLimits limits(const rds::Address&) const override { return {}; }
  uint16_t service(const rds::Address& own) const override;
  uint32_t credit(const rds::Address&) const override { return credit_; }
  std::optional<rds::ChannelId> Connect(const rds::Address& own, const rds::Address& peer,
                                        uint16_t service, ByteSpan data) override;
  void Accept(rds::ChannelId request, ByteSpan data) override;
  void Reject(rds::ChannelId request, ByteSpan data) override;
  void Close(rds::ChannelId channel) override;
  size_t room(rds::ChannelId channel) const override;
  void Send(rds::ChannelId channel, const rds::Frame& frame, bool fence) override;
  void PostReceives(rds::ChannelId channel) override;
  void Post(rds::ChannelId channel, uint64_t id, const rds::RdmaOperation& operation) override;
  void Post(rds::ChannelId channel, uint64_t id, const rds::AtomicOperation& operation) override;
  void Revoke(rds::ChannelId channel, uint64_t id) override;
  int Register(const rds::Address& own, const rds::Area& area, rds::OpenRegion* out) override;
  void Deregister(uint64_t handle) override;

 private:
  friend class RdsNetwork;
  struct News {
    rds::ChannelId channel = 0;
    bool always = false;  // also when the channel is closed
    std::function<void(rds::LinkEvents&)> tell;
  };

  void Tell(News news);
  // The wire of a channel, and which end of it this is.
  std::pair<RdsWirePtr, int> Find(rds::ChannelId channel) const;

  RdsNetwork& network_;
  const uint32_t credit_;
  const size_t ring_;
  const std::function<void()> on_news_;
  std::map<rds::Address, uint16_t> services_;
  std::map<rds::ChannelId, std::pair<RdsWirePtr, int>> channels_;
  std::map<uint32_t, rds::Area> regions_;
  std::deque<News> news_;
  bool dead_ = false;
};

class RdsNetwork {
 public:
  // How bad it is. One in so many; 0: never.
  struct Weather {
    uint64_t latency_us = 20;  // at most
    uint64_t late_one_in = 0;  // connecting takes up to `late_us` longer
    uint64_t late_us = 0;
    uint64_t connect_fails_one_in = 0;  // at once
    uint64_t register_fails_one_in = 0;
    bool loses = true;  // what is under way when a connection breaks
  };

  RdsNetwork(VirtualTime* time, std::mt19937_64* random) : time_(*time), random_(*random) {}

  Weather& weather() { return weather_; }

  // The process takes connections at that address.
  void Listen(RdsLink* link, const rds::Address& address);
  // Of several processes at an address, one can have RDS's own service. Returns whether it is this.
  bool Hold(RdsLink* link, const rds::Address& address);
  // The process is gone. Nobody hears anything of it but that its connections have ended.
  void Kill(RdsLink* link);
  // Between two addresses everything ends, and nothing is made until Heal().
  void Part(const rds::Address& one, const rds::Address& other);
  void Heal() { parted_.clear(); }
  // Ends one of the connections that there are. False when there is none.
  bool BreakOne();

  size_t wires() const { return wires_.size(); }
  // How often a word has been changed by an atomic operation.
  uint64_t atomics_on(uint64_t address) const;
  // What no peer that keeps to the rules does; empty: all did.
  const std::string& wrong() const { return wrong_; }

 private:
  friend class RdsLink;
  uint64_t Draw(uint64_t bound) { return random_() % bound; }
  bool OneIn(uint64_t n) { return n != 0 && Draw(n) == 0; }
  bool Coin() { return Draw(2) == 0; }
  uint64_t Latency() { return 1 + Draw(weather_.latency_us); }
  bool Parted(const rds::Address& one, const rds::Address& other) const;

  // Something reaches end `to` after what was sent there before, unless the wire is cut first.
  void Pass(const RdsWirePtr& wire, int to, std::function<void()> arrive, uint64_t extra_us = 0);
  void Attach(const RdsWirePtr& wire, int end, RdsLink* link);
  void Detach(const RdsWirePtr& wire, int end);
  void Request(const RdsWirePtr& wire, uint16_t service, const std::vector<uint8_t>& data);
  void Refuse(const RdsWirePtr& wire, bool refused);
  void Accept(const RdsWirePtr& wire, const std::vector<uint8_t>& data);
  void Reject(const RdsWirePtr& wire, const std::vector<uint8_t>& data);
  void Break(const RdsWirePtr& wire);
  void TellBroken(const RdsWirePtr& wire, int end);

  void Push(const RdsWirePtr& wire, int end, RdsWork work);
  void StartHeld(const RdsWirePtr& wire, int end);
  void Start(const RdsWirePtr& wire, int end, RdsWork work);
  void Arrive(const RdsWirePtr& wire, int to, const std::vector<uint8_t>& frame);
  void Execute(const RdsWirePtr& wire, int from, const RdsWork& work);
  // False: the peer's memory cannot be accessed. Else `when_back` is to be done at the end that
  // posted it.
  bool Carry(const RdsLink& at, const RdsWork& work, std::function<void()>* when_back);
  void EndOperation(const RdsWirePtr& wire, int end, uint64_t id, int status);
  void Completed(const RdsWirePtr& wire, int end);

  VirtualTime& time_;
  std::mt19937_64& random_;
  Weather weather_;
  std::map<std::pair<rds::Address, uint16_t>, RdsLink*> listeners_;
  std::map<rds::Address, RdsLink*> holders_;
  std::set<std::pair<rds::Address, rds::Address>> parted_;
  std::map<uint64_t, RdsWirePtr> wires_;  // that are not broken, by number
  uint64_t last_wire_ = 0;
  rds::ChannelId last_channel_ = 0;
  uint32_t last_key_ = 0;
  std::map<uint64_t, uint64_t> atomics_;
  std::string wrong_;
};

}  // namespace softdat::sim

#endif  // SOFTDAT_TESTS_SIM_RDS_NETWORK_H_
