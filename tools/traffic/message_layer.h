// SPDX-License-Identifier: BSD-3-Clause
// Messages as a message-passing layer moves them over DAT. A small one is copied into a receive
// that the peer has posted before. A larger one is announced, both ends register its memory, and
// its data go by RDMA from the one to the other:
//
//   sender                     by write   receiver          sender             by read   receiver
//   request                       ->                        request, its memory   ->
//                                 <-      answer, memory                          <-     RDMA read
//   RDMA writes, then finish      ->                                              <-     finish
//
// A finish goes over the last connection, everything else over connection 0. The two ends take
// turns: an end that has sent a message receives one before it sends the next.
#ifndef SOFTDAT_TOOLS_TRAFFIC_MESSAGE_LAYER_H_
#define SOFTDAT_TOOLS_TRAFFIC_MESSAGE_LAYER_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "dat/client/memory.h"
#include "tools/common/outcome.h"
#include "tools/traffic/job.h"
#include "tools/traffic/layer_frame.h"
#include "tools/traffic/link.h"

namespace softdat::tools {

// The largest message that is copied.
inline constexpr uint32_t kEagerBytes = 16384;

class MessageLayer {
 public:
  struct Plan {
    WaitMode wait = WaitMode::kPoll;
    bool by_read = false;
    uint32_t size = 0;           // of each message
    uint64_t messages = 0;       // each way
    uint64_t receives = 0;       // that this end may keep posted on each connection
    uint64_t peer_receives = 0;  // the same of the peer
    DAT_LMR_TRIPLET control;     // is posted on connection 0 behind the receives of all messages
  };
  // The link stays with the caller.
  MessageLayer(Link* link, const Plan& plan);

  // Makes memory, and posts receives. To be called before the peer may begin.
  Outcome Prepare();
  // The message may be changed afterwards.
  Outcome Send(std::span<uint8_t> message);
  Outcome Receive(std::span<uint8_t> place);
  // To be called after all messages. Afterwards no request is outstanding.
  Outcome Finish();

 private:
  using Kind = LayerFrame::Kind;
  // The frames of one connection. As a job says how many these are, none of the receives for them
  // is left behind, where the messages of the next job would take it.
  struct Channel {
    uint32_t connection = 0;
    uint64_t frames = 0;    // to come, and to go
    size_t slot_bytes = 0;  // of each frame that is received or sent
    client::Memory slots;   // of the receives, of the sends, and for a read of what was written
    uint64_t posted = 0;
    uint64_t arrived = 0;
    uint64_t sent = 0;
    uint64_t credits = 0;  // frames for which the peer has receives
    uint8_t owed = 0;      // receives of which the peer does not know yet
    // Requests with a completion event, which come in order.
    uint64_t signalled = 0;
    uint64_t completed = 0;
    uint64_t signalled_by_half[2] = {};  // up to the end of each half of the slots
  };

  bool IsEager() const { return plan_.size <= kEagerBytes; }
  Channel& FirstChannel() { return channels_.front(); }
  Channel& FinishChannel() { return channels_.back(); }
  Channel& ChannelOf(const Completion& completion) {
    return completion.connection == 0 ? FirstChannel() : FinishChannel();
  }
  // Posts receives in place of those that were taken.
  Outcome Refill(Channel* channel);
  Outcome SendFrame(Channel* channel, Kind kind, const RemoteMemory& memory,
                    std::span<const uint8_t> data);
  // Takes the next frame of this kind. The data after its head stay where they are until the next
  // call.
  Outcome Await(Kind kind, LayerFrame* frame, std::span<const uint8_t>* data = nullptr);
  // Takes the next frame, of any kind.
  Outcome TakeFrame(LayerFrame* frame, std::span<const uint8_t>* data);
  Outcome SendByWrite(const RemoteMemory& target);
  Outcome ReceiveByRead(const RemoteMemory& source);
  // Waits until the first `count` requests of the channel that have an event are complete.
  Outcome AwaitCompleted(const Channel& channel, uint64_t count);
  Outcome RegisterRegion(std::span<uint8_t> memory);
  Outcome FreeRegion();
  RemoteMemory RegionForPeer() const {
    return RemoteMemory{region_.address(), plan_.size, region_.rmr_context()};
  }

  Link& link_;
  const Plan plan_;
  const uint64_t depth_;           // receives to keep posted on a connection
  std::vector<Channel> channels_;  // of connection 0, and of the last one if that is another
  // A frame that has overtaken the awaited one, on another connection: by read, the peer's next
  // request its last finish. There is never a second one.
  std::optional<LayerFrame> early_;
  bool confirmed_ = false;  // a write that is complete is in the peer's memory
  client::Lmr region_;      // the memory of the message that is being moved
};

}  // namespace softdat::tools

#endif  // SOFTDAT_TOOLS_TRAFFIC_MESSAGE_LAYER_H_
