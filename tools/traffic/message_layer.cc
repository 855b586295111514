// SPDX-License-Identifier: BSD-3-Clause
// A message layer. No allocation once it is prepared, except what a registration takes.
#include "tools/traffic/message_layer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "dat2/softdat.h"
#include "tools/common/dat_calls.h"

namespace softdat::tools {
namespace {

// The frames that may be under way on a connection, each way. As many are kept for those that go
// out, in two halves: the last of a half has a completion event, after which the whole half is
// free.
constexpr uint64_t kSlots = 8;
constexpr uint64_t kHalf = kSlots / 2;

// Data are written in parts, so that a transport can begin to move one while the next is posted.
constexpr size_t kPartBytes = size_t{128} << 10;
// Bytes of a read that shows that the writes in front of it are in the peer's memory.
constexpr size_t kReadBack = 1;
// Parts for one completion event. Two such batches may be under way.
constexpr uint64_t kBatch = 8;

const char* NameOf(LayerFrame::Kind kind) {
  constexpr const char* kNames[] = {"a small message", "a request", "an answer", "a finish"};
  return kNames[static_cast<size_t>(kind)];
}

// Whether the completion of a write says that the data are in the peer's memory. Providers that are
// not SoftDAT's do not tell.
bool CompletionsAreConfirmed(const client::Ia& ia) {
  DAT_PROVIDER_ATTR attr{};
  if (dat_ia_query(ia, nullptr, 0, nullptr, DAT_PROVIDER_FIELD_ALL, &attr) != DAT_SUCCESS)
    return false;
  const std::span named(attr.provider_specific_attr,
                        static_cast<size_t>(attr.num_provider_specific_attr));
  return std::any_of(named.begin(), named.end(), [](const DAT_NAMED_ATTR& one) {
    return std::string_view(one.name) == SOFTDAT_ATTR_COMPLETION &&
           std::string_view(one.value) == "confirmed";
  });
}

}  // namespace

MessageLayer::MessageLayer(Link* link, const Plan& plan)
    : link_(*link), plan_(plan), depth_(std::clamp<uint64_t>(plan.receives, 1, kSlots)) {
  const uint32_t last = link->connections() - 1;
  channels_.resize(last == 0 || IsEager() ? 1 : 2);
  const uint64_t starts = IsEager() || plan.by_read ? 1 : 2;  // by write, one start and one answer
  FirstChannel().frames = starts * plan.messages;
  if (!IsEager()) FinishChannel().frames += plan.messages;
  for (Channel& channel : channels_) {
    channel.slot_bytes = kLayerFrameBytes + (IsEager() ? kEagerBytes : 0);
    channel.credits = std::clamp<uint64_t>(plan.peer_receives, 1, kSlots);
  }
  channels_.back().connection = channels_.size() > 1 ? last : 0;
}

Outcome MessageLayer::Prepare() {
  confirmed_ = CompletionsAreConfirmed(link_.ia());
  for (Channel& channel : channels_) {
    const size_t bytes = 2 * kSlots * channel.slot_bytes + kReadBack;
    SOFTDAT_TRY(Allocate(link_.ia(), link_.pz(), bytes, &channel.slots));
    SOFTDAT_TRY(Refill(&channel));
    channel.owed = 0;  // the peer knows how many receives there are at first
  }
  return {};
}

Outcome MessageLayer::Refill(Channel* channel) {
  const bool is_first = channel->connection == 0;
  const uint64_t total = channel->frames + (is_first ? 1 : 0);
  for (; channel->posted < std::min(total, channel->arrived + depth_); ++channel->posted) {
    const size_t at = channel->posted % kSlots * channel->slot_bytes;
    const bool is_frame = channel->posted < channel->frames;
    SOFTDAT_TRY(
        link_.PostReceive(is_frame ? channel->slots.Local(at, channel->slot_bytes) : plan_.control,
                          channel->connection));
    if (is_frame) ++channel->owed;
  }
  return {};
}

Outcome MessageLayer::SendFrame(Channel* channel, Kind kind, const RemoteMemory& memory,
                                std::span<const uint8_t> data) {
  const uint64_t half = channel->sent / kHalf % 2;
  if (channel->sent % kHalf == 0)
    SOFTDAT_TRY(AwaitCompleted(*channel, channel->signalled_by_half[half]));
  // The peer gives credit with each frame of its own, and in turns there is always one of them.
  if (channel->credits == 0) return Outcome::Fail("message layer: the peer has no receive");
  --channel->credits;
  const size_t at = (kSlots + channel->sent % kSlots) * channel->slot_bytes;
  EncodeLayerFrame({kind, channel->owed, memory}, channel->slots.data() + at);
  channel->owed = 0;
  if (!data.empty())
    std::memcpy(channel->slots.data() + at + kLayerFrameBytes, data.data(), data.size());
  const DAT_LMR_TRIPLET segment = channel->slots.Local(at, kLayerFrameBytes + data.size());
  ++channel->sent;
  if (channel->sent % kHalf != 0 && channel->sent != channel->frames)
    return link_.PostSend(segment, DAT_COMPLETION_SUPPRESS_FLAG, channel->connection);
  channel->signalled_by_half[half] = ++channel->signalled;
  return link_.PostSend(segment, DAT_COMPLETION_DEFAULT_FLAG, channel->connection);
}

Outcome MessageLayer::Await(Kind kind, LayerFrame* frame, std::span<const uint8_t>* data) {
  if (early_ && early_->kind == kind) {
    *frame = *std::exchange(early_, std::nullopt);
    return {};
  }
  while (true) {
    SOFTDAT_TRY(TakeFrame(frame, data));
    if (frame->kind == kind) return {};
    if (channels_.size() == 1 || early_)
      return Outcome::Fail(
          fmt::format("message layer: {} instead of {}", NameOf(frame->kind), NameOf(kind)));
    early_ = *frame;
  }
}

Outcome MessageLayer::TakeFrame(LayerFrame* frame, std::span<const uint8_t>* data) {
  for (Channel& channel : channels_) SOFTDAT_TRY(Refill(&channel));
  Completion arrival;
  SOFTDAT_TRY(link_.NextReceive(plan_.wait, &arrival));
  Channel& channel = ChannelOf(arrival);
  const size_t slot = channel.arrived++ % kSlots * channel.slot_bytes;
  const std::span<const uint8_t> bytes(channel.slots.data() + slot, arrival.bytes);
  const auto decoded = DecodeLayerFrame(bytes);
  if (!decoded) return Outcome::Fail("message layer: a message without a head");
  if (decoded->memory.bytes != plan_.size)
    return Outcome::Fail(fmt::format("message layer: a message of {} bytes instead of {}",
                                     decoded->memory.bytes, plan_.size));
  channel.credits += decoded->credits;
  *frame = *decoded;
  if (data != nullptr) *data = bytes.subspan(kLayerFrameBytes);
  return {};
}

Outcome MessageLayer::Send(std::span<uint8_t> message) {
  const RemoteMemory size_alone{0, plan_.size, 0};
  if (IsEager()) return SendFrame(&FirstChannel(), Kind::kEager, size_alone, message);
  LayerFrame frame;
  if (plan_.by_read) {
    SOFTDAT_TRY(RegisterRegion(message));
    SOFTDAT_TRY(SendFrame(&FirstChannel(), Kind::kRequest, RegionForPeer(), {}));
    SOFTDAT_TRY(Await(Kind::kFinish, &frame));
    return FreeRegion();
  }
  SOFTDAT_TRY(SendFrame(&FirstChannel(), Kind::kRequest, size_alone, {}));
  // Meanwhile the peer registers its memory.
  SOFTDAT_TRY(RegisterRegion(message));
  SOFTDAT_TRY(Await(Kind::kAnswer, &frame));
  return SendByWrite(frame.memory);
}

Outcome MessageLayer::SendByWrite(const RemoteMemory& target) {
  const auto batch =
      std::clamp<uint64_t>(static_cast<uint64_t>(link_.depths().requests) / 4, 1, kBatch);
  Channel& channel = FirstChannel();
  uint64_t parts = 0;
  for (size_t at = 0; at < plan_.size; at += kPartBytes) {
    const size_t bytes = std::min(kPartBytes, plan_.size - at);
    const RemoteMemory part{target.address + at, static_cast<uint32_t>(bytes), target.context};
    const bool ends_batch = ++parts % batch == 0 || at + bytes == plan_.size;
    if (ends_batch && channel.signalled++ > 0)
      SOFTDAT_TRY(AwaitCompleted(channel, channel.signalled - 2));
    SOFTDAT_TRY(
        link_.PostRdma(Operation::kWrite, region_.Local(at, bytes), part,
                       ends_batch ? DAT_COMPLETION_DEFAULT_FLAG : DAT_COMPLETION_SUPPRESS_FLAG));
  }
  // On its own connection a message comes behind the writes that were posted before it. On another
  // one it may overtake them, so they must be in the peer's memory first. If their completions do
  // not say that, the answer to a read behind them does.
  const bool overtakes = FinishChannel().connection != 0;
  if (overtakes && !confirmed_) {
    ++channel.signalled;
    SOFTDAT_TRY(link_.PostRdma(Operation::kRead,
                               channel.slots.Local(2 * kSlots * channel.slot_bytes, kReadBack),
                               {target.address + plan_.size - kReadBack, kReadBack, target.context},
                               DAT_COMPLETION_DEFAULT_FLAG));
  }
  const uint64_t written = channel.signalled;
  if (overtakes) SOFTDAT_TRY(AwaitCompleted(channel, written));
  SOFTDAT_TRY(SendFrame(&FinishChannel(), Kind::kFinish, {0, plan_.size, 0}, {}));
  SOFTDAT_TRY(AwaitCompleted(channel, written));
  return FreeRegion();
}

Outcome MessageLayer::Receive(std::span<uint8_t> place) {
  LayerFrame frame;
  if (IsEager()) {
    std::span<const uint8_t> data;
    SOFTDAT_TRY(Await(Kind::kEager, &frame, &data));
    if (data.size() != place.size())
      return Outcome::Fail("message layer: a small message without all of its data");
    std::memcpy(place.data(), data.data(), data.size());
    return {};
  }
  SOFTDAT_TRY(Await(Kind::kRequest, &frame));
  SOFTDAT_TRY(RegisterRegion(place));
  if (plan_.by_read) {
    SOFTDAT_TRY(ReceiveByRead(frame.memory));
  } else {
    SOFTDAT_TRY(SendFrame(&FirstChannel(), Kind::kAnswer, RegionForPeer(), {}));
    SOFTDAT_TRY(Await(Kind::kFinish, &frame));
  }
  return FreeRegion();
}

Outcome MessageLayer::ReceiveByRead(const RemoteMemory& source) {
  Channel& channel = FirstChannel();
  ++channel.signalled;
  SOFTDAT_TRY(link_.PostRdma(Operation::kRead, region_.Local(0, plan_.size), source,
                             DAT_COMPLETION_DEFAULT_FLAG));
  SOFTDAT_TRY(AwaitCompleted(channel, channel.signalled));
  return SendFrame(&FinishChannel(), Kind::kFinish, {0, plan_.size, 0}, {});
}

Outcome MessageLayer::Finish() {
  for (Channel& channel : channels_) {
    SOFTDAT_TRY(Refill(&channel));
    SOFTDAT_TRY(AwaitCompleted(channel, channel.signalled));
  }
  return {};
}

Outcome MessageLayer::AwaitCompleted(const Channel& channel, uint64_t count) {
  while (channel.completed < count) {
    Completion completion;
    SOFTDAT_TRY(link_.NextRequest(plan_.wait, &completion));
    ++ChannelOf(completion).completed;
  }
  return {};
}

Outcome MessageLayer::RegisterRegion(std::span<uint8_t> memory) {
  return Check(region_.Register(link_.ia(), link_.pz(), memory.data(), memory.size()));
}

Outcome MessageLayer::FreeRegion() { return Check(region_.Free()); }

}  // namespace softdat::tools
