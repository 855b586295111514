// SPDX-License-Identifier: BSD-3-Clause
// A node of the simulation of communication management: a manager with its timer and its packets,
// and the QPNs of its queue pairs, which it uses again as soon as it may.
#ifndef SOFTDAT_TESTS_SIM_CM_NODE_H_
#define SOFTDAT_TESTS_SIM_CM_NODE_H_

#include <cstdint>
#include <memory>
#include <random>
#include <set>

#include "provider_softnet/cm/communication_manager.h"
#include "tests/sim/network.h"
#include "tests/sim/virtual_time.h"

namespace softdat::sim {

class CmNode;

class CmNodeSink {
 public:
  virtual ~CmNodeSink() = default;
  virtual void OnEvent(CmNode& node, const softnet::CmEvent& event) = 0;
  // A packet of a connection came for this queue pair.
  virtual void OnData(CmNode& node, uint32_t qpn) = 0;
};

class CmNode {
 public:
  CmNode(int number, Network* network, const softnet::CmOptions& options, uint64_t seed,
         CmNodeSink* sink);
  CmNode(const CmNode&) = delete;
  CmNode& operator=(const CmNode&) = delete;

  static sockaddr_storage AddressOf(int number);

  int number() const { return number_; }
  // How often it crashed. What it did before is of no concern afterwards.
  int life() const { return life_; }
  uint64_t sent() const { return sent_; }
  uint64_t now_us() const { return network_->time().now_us(); }
  const softnet::CmOptions& options() const { return options_; }
  softnet::CommunicationManager& manager() { return *manager_; }
  // The lowest that is free.
  uint32_t TakeQpn();
  void ReturnQpn(uint32_t qpn) { qpns_.erase(qpn); }
  size_t qpns_in_use() const { return qpns_.size(); }

  // After each call of the manager: its packets leave, its events are told, its timer is set.
  void Settle();
  void SendData(int to, uint32_t qpn);
  // For who forges.
  const Network::Bytes& last_sent() const { return last_sent_; }
  // Loses all that it knew. Its next life has the same GUID, or another one.
  void Crash(bool same_guid);

 private:
  void Start();
  void Send(int to, Network::Bytes bytes);
  void OnPacket(int from, const Network::Bytes& bytes);
  void SetTimer();

  const int number_;
  Network* const network_;
  softnet::CmOptions options_;
  std::mt19937_64 random_;
  CmNodeSink* const sink_;
  std::unique_ptr<softnet::CommunicationManager> manager_;
  std::set<uint32_t> qpns_;
  Network::Bytes last_sent_;
  VirtualTime::Id timer_ = 0;
  int life_ = 0;
  uint64_t sent_ = 0;
  bool settling_ = false;
};

}  // namespace softdat::sim

#endif  // SOFTDAT_TESTS_SIM_CM_NODE_H_
