// SPDX-License-Identifier: BSD-3-Clause
// Fuzz target: whatever packets arrive at a pair for datagrams, whatever receives it has. Bytes go
// nowhere but where a receive says, each receive completes once at most, a completion says what has
// arrived, and nothing that is not completed was written.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <vector>

#include "provider_softnet/queue/completion_ring.h"
#include "provider_softnet/roce/unreliable_datagrams.h"
#include "wire/roce/opcode.h"
#include "wire/roce/packet.h"

namespace softdat::softnet {
namespace {

using transport::Completion;
using transport::Op;
using transport::WorkStatus;

constexpr uint32_t kQkey = 0x01234567;
constexpr uint8_t kClean = 0xcc;
constexpr uint8_t kHeader = 0x44;  // all bytes of the header
constexpr size_t kMemory = 512;
constexpr size_t kReceives = 4, kMostSegments = 3;

void Require(bool condition) {
  if (!condition) std::abort();
}

class Fuzzer {
 public:
  explicit Fuzzer(ByteSpan in) : in_(in) {
    shared_ = (Byte() & 1) != 0;
    config_.memory = &memory_;
    config_.send_queue = &sends_;
    config_.receive_queue = shared_ ? nullptr : &receives_;
    config_.shared_receives = shared_ ? &shared_receives_ : nullptr;
    config_.send_completions = &sent_;
    config_.receive_completions = &received_;
    config_.pd = pd_;
    config_.qp = 9;
    pair_.emplace(config_, kQkey, 1024);
    header_.fill(kHeader);
  }

  void Run() {
    while (!in_.empty()) {
      const uint8_t what = Byte();
      if (what % 3 == 0) {
        Post();
      } else {
        Arrive(what % 3 == 1);
      }
    }
    const LostDatagrams& lost = pair_->lost();
    Require(lost.all() + arrived_ == packets_);
  }

 private:
  uint8_t Byte() {
    if (in_.empty()) return 0;
    const uint8_t byte = in_[0];
    in_ = in_.subspan(1);
    return byte;
  }

  // A receive of its own part of the memory, in segments that may be empty or reach out of it.
  void Post() {
    const size_t number = Byte() % kReceives;
    if (posted_[number].has_value()) return;
    std::vector<Segment> segments(Byte() % (kMostSegments + 1));
    const uint64_t part = reinterpret_cast<uint64_t>(target_.data()) + number * kMemory;
    uint64_t at = 0;
    for (Segment& s : segments) {
      at += Byte();
      s = {};
      s.lmr_context = key_;
      s.virtual_address = part + at;
      s.segment_length = Byte();
      at += s.segment_length;
    }
    if (at > kMemory) return;  // it would be another receive's
    transport::ReceiveRequest request;
    request.cookie = number;
    request.local = segments;
    const Code code = shared_ ? shared_receives_.Post(request) : pair_->PostReceive(request);
    if (code == Code::kOk) posted_[number] = segments;
  }

  void Arrive(bool sensible) {
    roce::Packet packet;
    const size_t wanted = Byte();
    const ByteSpan bytes = in_.first(std::min(wanted, in_.size()));
    in_ = in_.subspan(bytes.size());
    if (sensible) {
      packet.bth.opcode =
          Byte() % 2 == 0 ? roce::Opcode::kUdSendOnly : roce::Opcode::kUdSendOnlyImmediate;
      packet.headers.deth = {Byte() % 8 == 0 ? Byte() : kQkey, 5};
      packet.headers.immediate = Byte();
      packet.payload = bytes;
    } else if (roce::ParsePacket(bytes, &packet) != roce::PacketParse::kOk) {
      return;
    }
    ++packets_;
    pair_->OnPacket(packet, header_);
    Check(packet);
  }

  // At most one receive has completed. Its bytes are the packet's, and are cleaned again.
  void Check(const roce::Packet& packet) {
    Completion c;
    if (received_.Poll({&c, 1}) == 1) {
      Require(c.cookie < kReceives && posted_[c.cookie].has_value());
      Require(c.op == Op::kReceiveDatagram || c.op == Op::kReceiveDatagramImmediate);
      if (c.status == WorkStatus::kSuccess) {
        ++arrived_;
        Require(c.length == header_.size() + packet.payload.size());
        TakeOut(*posted_[c.cookie], packet);
      } else {
        Require(shared_ && c.status == WorkStatus::kLocalLength);
      }
      posted_[c.cookie].reset();
      Require(received_.Poll({&c, 1}) == 0);
    }
    Require(std::all_of(target_.begin(), target_.end(), [](uint8_t b) { return b == kClean; }));
  }

  void TakeOut(const std::vector<Segment>& segments, const roce::Packet& packet) {
    std::vector<uint8_t> expected(header_.begin(), header_.end());
    expected.insert(expected.end(), packet.payload.begin(), packet.payload.end());
    size_t at = 0;
    for (const Segment& s : segments) {
      auto* const bytes = reinterpret_cast<uint8_t*>(s.virtual_address);
      for (size_t i = 0; i < s.segment_length && at < expected.size(); ++i, ++at) {
        Require(bytes[i] == expected[at]);
        bytes[i] = kClean;
      }
    }
    Require(at == expected.size());
  }

  ByteSpan in_;
  bool shared_ = false;
  MemoryTable memory_;
  const uint32_t pd_ = memory_.NewProtectionDomainId();
  std::vector<uint8_t> target_ = std::vector<uint8_t>(kReceives * kMemory, kClean);
  uint32_t key_ = memory_.RegisterRegion(
      target_.data(), target_.size(), kPrivLocalRead | kPrivLocalWrite, /*zero_based=*/false, pd_);
  std::array<uint8_t, transport::kDatagramHeader> header_{};
  SendQueue sends_{4, 3};
  ReceiveQueue receives_{kReceives, kMostSegments};
  SharedReceiveQueue shared_receives_{kReceives, kMostSegments, pd_};
  CompletionRing sent_{16, nullptr}, received_{16, nullptr};
  WorkLedgerConfig config_;
  std::optional<UnreliableDatagrams> pair_;
  std::array<std::optional<std::vector<Segment>>, kReceives> posted_;
  uint64_t packets_ = 0;
  uint64_t arrived_ = 0;
};

}  // namespace
}  // namespace softdat::softnet

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  softdat::softnet::Fuzzer({data, size}).Run();
  return 0;
}
