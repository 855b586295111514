// SPDX-License-Identifier: BSD-3-Clause
// Fuzz target: whatever peers say and the consumer calls, in any order. Each question has one
// outcome at most, each request comes once, memory stays bounded, and in the end nothing is left.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <set>
#include <variant>
#include <vector>

#include "provider_softnet/cm/service_resolution.h"
#include "provider_softnet/cm/testing/cm_bench.h"
#include "wire/rdmacm/mad.h"

namespace softdat::softnet {
namespace {

constexpr size_t kMostUnanswered = 4;
constexpr size_t kMostRemembered = 4;
constexpr size_t kMostAsked = 8;

void Require(bool condition) {
  if (!condition) std::abort();
}

class Fuzzer {
 public:
  explicit Fuzzer(ByteSpan in)
      : in_(in),
        end_({.most_unanswered = kMostUnanswered, .most_remembered = kMostRemembered},
             [this] { return random_(); }) {}

  void Run() {
    while (!in_.empty()) {
      Step(Byte());
      Drain();
    }
    const std::set<SidrId> arrived = arrived_;
    for (const SidrId id : arrived) end_.Accept(id, {.qpn = 2}, now_us_);
    while (end_.deadline_us() != kCmNever) end_.OnTime(now_us_ = end_.deadline_us());
    Drain();
    Require(end_.size() == 0 && asked_.empty());
  }

 private:
  uint8_t Byte() {
    if (in_.empty()) return 0;
    const uint8_t byte = in_[0];
    in_ = in_.subspan(1);
    return byte;
  }
  SidrId Any(const std::set<SidrId>& ids) {
    if (ids.empty()) return Byte();
    auto at = ids.begin();
    std::advance(at, Byte() % ids.size());
    return *at;
  }

  void Step(uint8_t what) {
    switch (what % 7) {
      case 0:
        return Resolve();
      case 1: {
        const SidrId id = Any(asked_);
        asked_.erase(id);
        return end_.Cancel(id);
      }
      case 2:
        return end_.Accept(Any(arrived_), {.qpn = 2u + Byte()}, now_us_);
      case 3:
        return end_.Refuse(Any(arrived_), static_cast<rdmacm::SidrStatus>(1 + Byte() % 5), {},
                           now_us_);
      case 4:
        now_us_ += Byte() * 100'000;
        return end_.OnTime(now_us_);
      case 5:
        return Receive(in_.first(std::min(in_.size(), rdmacm::kMadSize)));
      default:
        return ReceiveSensible();
    }
  }

  void Resolve() {
    if (asked_.size() >= kMostAsked) return;
    SidrResolve p;
    p.remote = testing::Host(static_cast<uint8_t>(1 + Byte() % 2));
    if (Byte() % 2 == 0) p.timeout_us = Byte() * 10'000;
    if (Byte() % 4 == 0) p.grace_us = 300'000;
    asked_.insert(end_.Resolve(p, now_us_));
  }

  void Receive(ByteSpan octets) {
    rdmacm::Mad mad;
    if (rdmacm::ParseMad(octets, &mad) != rdmacm::MadParse::kOk) return;
    end_.OnMad(testing::Host(static_cast<uint8_t>(1 + Byte() % 2)), mad, now_us_);
  }

  // One of the own messages, perhaps as an answer, with an octet changed.
  void ReceiveSensible() {
    if (heard_.empty()) return;
    std::array<uint8_t, rdmacm::kMadSize> octets = heard_[Byte() % heard_.size()];
    if (Byte() % 2 == 0) {
      octets[17] = 0x18;
      std::fill(octets.begin() + 28, octets.end(), uint8_t{0});
      octets[28] = Byte() % 7;
      octets[34] = Byte();
    }
    const uint8_t at = Byte();
    octets[at] = static_cast<uint8_t>(octets[at] ^ (Byte() & Byte()));
    Receive(octets);
  }

  void Drain() {
    while (const auto out = end_.TakeOutgoing()) {
      if (heard_.size() < 32) heard_.push_back(out->mad);
    }
    while (const auto event = end_.TakeEvent())
      std::visit([this](const auto& e) { On(e); }, *event);
    Require(end_.size() <= kMostAsked + kMostUnanswered + kMostRemembered);
  }
  void On(const SidrRequestArrived& e) { Require(arrived_.insert(e.id).second); }
  void On(const SidrResolved& e) { Require(asked_.erase(e.id) == 1 && e.qpn > 1); }
  void On(const SidrFailed& e) { Require(asked_.erase(e.id) == 1 && !e.why.empty()); }

  ByteSpan in_;
  std::mt19937_64 random_{1};
  ServiceResolution end_;
  uint64_t now_us_ = 0;
  std::set<SidrId> asked_;    // own questions without an outcome
  std::set<SidrId> arrived_;  // the peers', answered or not
  std::vector<std::array<uint8_t, rdmacm::kMadSize>> heard_;
};

}  // namespace
}  // namespace softdat::softnet

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  softdat::softnet::Fuzzer({data, size}).Run();
  return 0;
}
