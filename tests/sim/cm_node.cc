// SPDX-License-Identifier: BSD-3-Clause
// CmNode.
#include "tests/sim/cm_node.h"

#include <utility>

#include "tests/sim/node_address.h"
#include "wire/bytes.h"

namespace softdat::sim {
namespace {

constexpr size_t kDataPacket = 4;

}  // namespace

sockaddr_storage CmNode::AddressOf(int number) { return AddressOfNode(number); }

CmNode::CmNode(int number, Network* network, const softnet::CmOptions& options, uint64_t seed,
               CmNodeSink* sink)
    : number_(number), network_(network), options_(options), random_(seed), sink_(sink) {
  network_->SetReceiver(number_, [this](int from, Network::Bytes bytes) { OnPacket(from, bytes); });
  Start();
}

void CmNode::Start() {
  manager_ =
      std::make_unique<softnet::CommunicationManager>(options_, [this] { return random_(); });
}

uint32_t CmNode::TakeQpn() {
  uint32_t qpn = 16;
  while (qpns_.contains(qpn)) ++qpn;
  qpns_.insert(qpn);
  return qpn;
}

void CmNode::Settle() {
  if (settling_) return;  // by an event: the loop goes on
  settling_ = true;
  bool more = true;
  while (more) {
    more = false;
    while (const auto out = manager_->TakeOutgoing()) {
      ++sent_;
      last_sent_.assign(out->mad.begin(), out->mad.end());
      Send(NodeOfAddress(out->to), last_sent_);
      more = true;
    }
    while (const auto event = manager_->TakeEvent()) {
      sink_->OnEvent(*this, *event);
      more = true;
    }
  }
  settling_ = false;
  SetTimer();
}

void CmNode::SetTimer() {
  network_->time().Cancel(timer_);
  timer_ = 0;
  if (manager_->deadline_us() == softnet::kCmNever) return;
  timer_ = network_->time().At(manager_->deadline_us(), [this] {
    timer_ = 0;
    manager_->OnTime(now_us());
    Settle();
  });
}

void CmNode::SendData(int to, uint32_t qpn) {
  Network::Bytes bytes(kDataPacket);
  StoreBe32(bytes.data(), qpn);
  Send(to, std::move(bytes));
}

void CmNode::Send(int to, Network::Bytes bytes) {
  if (to < 0 || to >= network_->nodes()) return;
  network_->Send(number_, to, std::move(bytes));
}

void CmNode::OnPacket(int from, const Network::Bytes& bytes) {
  if (bytes.size() == kDataPacket) {
    sink_->OnData(*this, LoadBe32(bytes.data()));
  } else {
    manager_->OnMad(AddressOf(from), bytes, now_us());
  }
  Settle();
}

void CmNode::Crash(bool same_guid) {
  ++life_;
  qpns_.clear();
  if (!same_guid) options_.ca_guid = random_();
  Start();
  SetTimer();
}

}  // namespace softdat::sim
