// SPDX-License-Identifier: BSD-3-Clause
// Fuzz target: whatever peers say and the consumer calls, in any order. Each exchange is told of in
// the promised order, memory stays bounded, and when all is abandoned nothing is left.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <random>
#include <variant>
#include <vector>

#include "provider_softnet/cm/testing/cm_bench.h"
#include "wire/rdmacm/mad.h"

namespace softdat::softnet {
namespace {

constexpr size_t kMostHalfOpen = 4;
constexpr size_t kMostRemembered = 4;
constexpr size_t kMostConnects = 8;

void Require(bool condition) {
  if (!condition) std::abort();
}

class Fuzzer {
 public:
  explicit Fuzzer(ByteSpan in)
      : in_(in),
        cm_({.ca_guid = 1, .most_half_open = kMostHalfOpen, .most_remembered = kMostRemembered},
            [this] { return random_(); }) {}

  void Run() {
    while (!in_.empty()) {
      Step(Byte());
      Drain();
    }
    for (CmId id = 1; id <= last_; ++id) cm_.Abandon(id, now_us_);
    while (cm_.deadline_us() != kCmNever) cm_.OnTime(now_us_ = cm_.deadline_us());
    Drain();
    Require(cm_.size() == 0);
  }

 private:
  uint8_t Byte() {
    if (in_.empty()) return 0;
    const uint8_t byte = in_[0];
    in_ = in_.subspan(1);
    return byte;
  }
  CmId Id() { return last_ == 0 ? 0 : 1 + Byte() % last_; }

  void Step(uint8_t what) {
    switch (what % 16) {
      case 0:
        return Connect();
      case 1:
        return cm_.ReadyToUse(Id());
      case 2:
        return cm_.Accept(Id(), {.qpn = 2u + Byte()}, now_us_);
      case 3:
        return cm_.Reject(Id(), rdmacm::RejectReason::kConsumer, {}, now_us_);
      case 4:
        return cm_.EstablishedByData(Id());
      case 5:
        return cm_.Disconnect(Id(), now_us_);
      case 6:
        return cm_.Abandon(Id(), now_us_);
      case 7:
        cm_.Delay(Id());
        now_us_ += Byte() * 100'000;
        return cm_.OnTime(now_us_);
      case 8:
        return Receive(in_.first(std::min(in_.size(), rdmacm::kMadSize)));
      case 12:
        return cm_.handoff().HandOff(Id());
      case 13:
        return cm_.handoff().AnsweredElsewhere(Id(), Heard(), now_us_);
      case 14:
        return BeAnotherOwner();
      case 15:
        return TakeOver();
      default:
        return ReceiveSensible();
    }
  }

  const MadOctets& Heard() {
    if (heard_.empty()) heard_.emplace_back();
    return heard_[Byte() % heard_.size()];
  }

  void BeAnotherOwner() {
    switch (Byte() % 3) {
      case 0:
        return cm_.handoff().LostElsewhere(Id(), now_us_);
      case 1:
        return cm_.handoff().RequestedAgain(Id());
      default:
        return cm_.handoff().GivenUp(Id(), now_us_);
    }
  }

  void TakeOver() {
    const MadOctets mad = Heard();
    const sockaddr_storage source = testing::Host(static_cast<uint8_t>(1 + Byte() % 2));
    if (!cm_.handoff().CanTakeOver(source, mad)) return;
    if (const auto request = cm_.handoff().TakeOver(source, mad, now_us_).request) On(*request);
  }

  void Connect() {
    if (connects_++ >= kMostConnects) return;
    CmConnect p;
    p.local = testing::Host(1);
    p.remote = testing::Host(static_cast<uint8_t>(1 + Byte() % 2));
    p.qpn = 2u + Byte();
    if (Byte() % 2 == 0) p.timeout_us = Byte() * 10'000;
    last_ = std::max(last_, cm_.Connect(p, now_us_));
  }

  void Receive(ByteSpan mad) {
    cm_.OnMad(testing::Host(static_cast<uint8_t>(1 + Byte() % 2)), mad, now_us_);
  }

  // A message with ids that were heard, from the list of messages; or one of the manager's, with an
  // octet changed.
  void ReceiveSensible() {
    MadOctets octets = Heard();
    std::array<uint8_t, 12> ids;
    std::copy_n(octets.begin() + rdmacm::kMadHeaderSize, ids.size(), ids.begin());
    const uint8_t kind = Byte();
    octets[0] = 1;
    octets[1] = 7;
    octets[2] = 2;
    octets[3] = 3;
    if (kind % 2 == 0) {
      // An answer: the other way round.
      octets[17] = static_cast<uint8_t>(0x10 + Byte() % 9);
      std::copy_n(ids.begin(), 4, octets.begin() + rdmacm::kMadHeaderSize + 4);
      for (size_t i = 0; i < 4; ++i) octets[rdmacm::kMadHeaderSize + i] = ids[4 + i];
      octets[rdmacm::kMadHeaderSize + 3] |= Byte() & 3;
    }
    const uint8_t at = Byte();
    octets[at] = static_cast<uint8_t>(octets[at] ^ (Byte() & Byte()));
    Receive(octets);
  }

  void Drain() {
    while (const auto out = cm_.TakeOutgoing()) {
      if (heard_.size() < 32) heard_.push_back(out->mad);
    }
    while (const auto event = cm_.TakeEvent()) std::visit([this](const auto& e) { On(e); }, *event);
    Require(cm_.size() <= kMostConnects + kMostHalfOpen + established_ + 3 * kMostRemembered);
  }

  struct Told {
    bool replied = false, established = false, failed = false, ended = false, over = false;
  };
  Told& Of(CmId id) {
    Require(id != 0);
    last_ = std::max(last_, id);
    Told& told = told_[id];
    Require(!told.over);
    return told;
  }
  void On(const CmRequestArrived& e) {
    Require(!told_.contains(e.id));
    Of(e.id);
  }
  void On(const CmWithdrawn& e) { Of(e.id); }
  void On(const CmForNewOwner& e) { Of(e.id); }
  void On(const CmReplyArrived& e) {
    Require(!Of(e.id).replied && !Of(e.id).failed);
    Of(e.id).replied = true;
  }
  void On(const CmEstablished& e) {
    Require(!Of(e.id).established && !Of(e.id).failed);
    Of(e.id).established = true;
    ++established_;
  }
  void On(const CmFailed& e) {
    Require(!Of(e.id).established && !Of(e.id).failed && !Of(e.id).ended && !e.why.empty());
    Of(e.id).failed = true;
  }
  void On(const CmDisconnected& e) {
    Require(!Of(e.id).failed && !Of(e.id).ended);
    Of(e.id).ended = true;
  }
  void On(const CmOver& e) { Of(e.id).over = true; }

  ByteSpan in_;
  std::mt19937_64 random_{1};
  CommunicationManager cm_;
  uint64_t now_us_ = 0;
  CmId last_ = 0;
  size_t connects_ = 0;
  size_t established_ = 0;
  std::vector<MadOctets> heard_;
  std::map<CmId, Told> told_;
};

}  // namespace
}  // namespace softdat::softnet

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  softdat::softnet::Fuzzer({data, size}).Run();
  return 0;
}
