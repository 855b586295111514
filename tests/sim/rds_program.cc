// SPDX-License-Identifier: BSD-3-Clause
// RdsProgram.
#include "tests/sim/rds_program.h"

#include <algorithm>
#include <utility>
#include <variant>

namespace softdat::sim {

using rds::Header;
using rds::kHeaderSize;

namespace {

constexpr uint16_t kPort = 4001;

// A message's source port is its number. Its payload follows from that.
std::vector<uint8_t> PayloadOf(int end, size_t id, size_t size) {
  std::vector<uint8_t> out(size);
  for (size_t k = 0; k < size; ++k) {
    out[k] = static_cast<uint8_t>(k * 7 + k / 251 + id * 31 + static_cast<size_t>(end));
  }
  return out;
}

}  // namespace

RdsProgram::RdsProgram(uint64_t seed) : seed_(seed), random_(seed * 0x9e3779b97f4a7c15) {
  if (Draw(3) == 0) credit_ = static_cast<uint32_t>(rds::Credits::kFewest + Draw(40));
  const uint64_t breaks[] = {0, 20, 60, 300};
  break_one_in_ = breaks[Draw(4)];
  for (End& end : ends_) {
    end.connection = std::make_unique<rds::Connection>(&end.map);
    end.messages_left = 1 + Draw(60);
  }
}

void RdsProgram::Expect(bool ok, const std::string& what) {
  if (!ok && wrong_.empty()) wrong_ = "seed " + std::to_string(seed_) + ": " + what;
}

std::string RdsProgram::Run() {
  for (int steps = 0; wrong_.empty() && steps < 4000; ++steps) Step();
  break_one_in_ = 0;
  for (int i = 0; i < 2; ++i) {
    while (ends_[i].messages_left > 0) Send(i);
  }
  Expect(Drain(), "it does not come to an end");
  if (wrong_.empty()) CheckEnd();
  return wrong_;
}

void RdsProgram::Step() {
  if (!up_) {
    if (Draw(8) == 0) Connect();
  } else if (break_one_in_ != 0 && Draw(break_one_in_) == 0) {
    Break();
  }
  const int i = static_cast<int>(Draw(2));
  switch (Draw(16)) {
    case 0:
      return Send(i);
    case 1:
      if (Draw(8) == 0) Cancel(i);
      return;
    case 2:
      if (Draw(8) == 0) ChangeMap(i);
      return;
    case 3:
      return Repost(i);
    default:
      Draw(2) == 0 ? Transmit(i) : Deliver(i);
  }
}

void RdsProgram::Send(int i) {
  End& end = ends_[i];
  if (end.messages_left == 0) return;
  --end.messages_left;
  const size_t kinds[] = {1, 100, 4097, 20'000, 70'000};
  Sent sent;
  sent.size = Draw(kinds[Draw(5)]);
  sent.behind_rdma = Draw(6) == 0;
  rds::OutgoingMessage out;
  out.id = end.sent.size();
  out.message.source_port = static_cast<uint16_t>(out.id);
  out.message.destination_port = kPort;
  if (sent.behind_rdma) out.message.extensions.rdma_rkey = static_cast<uint32_t>(out.id);
  out.message.payload = PayloadOf(i, out.id, sent.size);
  out.behind_rdma = sent.behind_rdma;
  out.asks_for_ack = Draw(8) == 0;
  end.sent.push_back(sent);
  end.connection->Send(std::move(out));
}

// Takes back one of three.
void RdsProgram::Cancel(int i) {
  End& end = ends_[i];
  const uint64_t of = Draw(3);
  for (const uint64_t id :
       end.connection->Cancel([&](const rds::OutgoingMessage& m) { return m.id % 3 == of; })) {
    Sent& sent = end.sent[id];
    Expect(!sent.cancelled && sent.done == 0 && sent.dropped == 0, "what is over is taken back");
    sent.cancelled = true;
    ++tally_.cancelled;
  }
}

void RdsProgram::ChangeMap(int i) {
  End& end = ends_[i];
  const uint16_t port = static_cast<uint16_t>(Draw(8) * 1000);
  if (!end.map.Set(port)) end.map.Clear(port);
  end.connection->MapChanged();
}

bool RdsProgram::Transmit(int i) {
  End& end = ends_[i];
  if (!end.connection->wants_frame()) return false;
  const std::optional<rds::Frame> frame = end.connection->NextFrame();
  Expect(frame.has_value(), "a frame is wanted, and there is none");
  if (!frame) return false;
  std::vector<uint8_t> octets(frame->header.begin(), frame->header.end());
  octets.insert(octets.end(), frame->payload.begin(), frame->payload.end());
  Header header;
  Expect(rds::ParseHeader(octets, &header) == rds::HeaderParse::kOk, "a header is wrong");
  ++tally_.frames;
  if ((header.flags & rds::kRetransmitted) != 0) ++tally_.retransmitted;
  if (header.flags == rds::kCongestionBitmap) ++tally_.maps;
  if (frame->behind_operations_of) {
    Expect((header.flags & rds::kRetransmitted) == 0, "an RDMA operation is carried out again");
  }
  end.under_way.push_back(std::move(octets));
  return true;
}

bool RdsProgram::Deliver(int i) {
  End& end = ends_[i];
  auto& frames = ends_[1 - i].under_way;
  if (frames.empty()) return false;
  if (credit_ != 0) {
    Expect(end.receives > 0, "a frame finds no receive");
    --end.receives;
    ++end.unposted;
  }
  const std::vector<uint8_t> frame = std::move(frames.front());
  frames.pop_front();
  Expect(end.connection->Receive(frame), "given up: " + std::string(end.connection->why()));
  Settle(i);
  return true;
}

void RdsProgram::Repost(int i) {
  End& end = ends_[i];
  const uint64_t count = std::exchange(end.unposted, 0);
  end.receives += count;
  end.connection->PostedReceives(static_cast<uint32_t>(count));
}

// What is under way arrives in part, or not at all.
void RdsProgram::Break() {
  up_ = false;
  ++tally_.breaks;
  for (int i = 0; i < 2; ++i) {
    while (Draw(3) != 0 && Deliver(i)) {
    }
    ends_[1 - i].under_way.clear();
    ends_[i].connection->Down();
  }
}

void RdsProgram::Connect() {
  up_ = true;
  // Some peers do not say what they have.
  const bool silent = break_one_in_ != 0 && Draw(4) == 0;
  const uint64_t acks[] = {silent ? 0 : ends_[0].connection->ack_sequence(),
                           silent ? 0 : ends_[1].connection->ack_sequence()};
  for (int i = 0; i < 2; ++i) {
    ends_[i].receives = credit_;
    ends_[i].unposted = 0;
    ends_[i].connection->Up(acks[1 - i], credit_, credit_);
    Settle(i);
  }
}

void RdsProgram::Settle(int i) {
  while (const std::optional<rds::Event> event = ends_[i].connection->TakeEvent()) {
    std::visit([&](const auto& e) { On(i, e); }, *event);
  }
}

void RdsProgram::On(int i, const rds::Arrived& event) {
  End& from = ends_[1 - i];
  const size_t id = event.message.source_port;
  ++tally_.arrived;
  Expect(id < from.sent.size() && event.message.destination_port == kPort, "nobody sent this");
  if (id >= from.sent.size()) return;
  Sent& sent = from.sent[id];
  Expect(++sent.arrivals == 1, "message " + std::to_string(id) + " comes twice");
  Expect(id >= ends_[i].expected, "message " + std::to_string(id) + " comes late");
  ends_[i].expected = id + 1;
  Expect(event.message.payload == PayloadOf(1 - i, id, sent.size),
         "message " + std::to_string(id) + " is not what was sent");
  Expect(event.message.extensions.rdma_rkey.has_value() == sent.behind_rdma,
         "an extension is lost");
}

void RdsProgram::On(int i, const rds::Done& event) {
  Sent& sent = ends_[i].sent.at(event.id);
  ++tally_.done;
  Expect(++sent.done == 1 && sent.dropped == 0 && !sent.cancelled, "its end is told twice");
  Expect(sent.arrivals == 1, "done before it arrived");
}

void RdsProgram::On(int i, const rds::Dropped& event) {
  Sent& sent = ends_[i].sent.at(event.id);
  ++tally_.dropped;
  Expect(sent.behind_rdma, "a message without an RDMA operation is dropped");
  Expect(++sent.dropped == 1 && sent.done == 0 && !sent.cancelled, "its end is told twice");
}

// Until nothing moves any more. False after an absurd number of steps.
bool RdsProgram::Drain() {
  if (!up_) Connect();
  for (int steps = 0; steps < 1'000'000 && wrong_.empty(); ++steps) {
    bool moved = false;
    for (int i = 0; i < 2; ++i) {
      Repost(i);
      if (Transmit(i)) moved = true;
      if (Deliver(i)) moved = true;
    }
    if (!moved) return true;
  }
  return false;
}

// What was sent last may not have been asked an acknowledgement for; a connection that comes up
// brings it.
void RdsProgram::CheckEnd() {
  Break();
  Expect(Drain(), "it does not come to an end");
  for (int i = 0; i < 2; ++i) {
    for (size_t id = 0; id < ends_[i].sent.size(); ++id) {
      const Sent& sent = ends_[i].sent[id];
      Expect(sent.cancelled || sent.dropped + sent.done == 1,
             "message " + std::to_string(id) + " has no end");
    }
    Expect(ends_[i].connection->unacknowledged() == 0, "something is left");
    for (uint32_t port = 0; port < 65536; port += 1000) {
      Expect(ends_[1 - i].connection->PeerIsCongested(static_cast<uint16_t>(port)) ==
                 ends_[i].map.Has(static_cast<uint16_t>(port)),
             "the congestion map is not known");
    }
  }
}

}  // namespace softdat::sim
