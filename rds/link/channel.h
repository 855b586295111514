// SPDX-License-Identifier: BSD-3-Clause
// One transport connection: an EP, the memory for the frames on it, and the operations that were
// posted.
#ifndef SOFTDAT_RDS_LINK_CHANNEL_H_
#define SOFTDAT_RDS_LINK_CHANNEL_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "dat/client/endpoint.h"
#include "dat/client/ia.h"
#include "dat/client/memory.h"
#include "dat2/udat.h"
#include "rds/protocol/connection.h"
#include "rds/socket/link.h"

namespace softdat::rds {

class Channel {
 public:
  // Receives that a connection always has posted, and frames that may be under way.
  static constexpr uint32_t kReceives = 64;
  static constexpr uint32_t kSends = 64;

  Channel(ChannelId id, const client::Ia& ia, const client::Pz& pz, DAT_EVD_HANDLE evd)
      : id_(id), ia_(ia), pz_(pz), evd_(evd) {}
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  // Makes the EP, with all receives posted. False: there is no memory, or the IA is at a limit.
  bool Open();
  // An own request, or one of a peer.
  bool Connect(const sockaddr* peer, uint16_t service, ByteSpan data);
  // Empty after Accept() or Reject().
  std::optional<client::ConnectionRequest>& request() { return request_; }
  void SetRequest(client::ConnectionRequest request) { request_ = std::move(request); }
  bool Accept(ByteSpan data);
  void Disconnect();

  static ChannelLimits Limits();

  ChannelId id() const { return id_; }
  // There will be no connection event of the EP any more.
  bool ended() const { return ended_; }
  void SetEnded() { ended_ = true; }
  DAT_EP_HANDLE ep() const { return ep_; }

  // ---- posting ----
  size_t room() const;
  void Send(const Frame& frame, bool fence);
  void Post(uint64_t id, const RdmaOperation& operation);
  void Post(uint64_t id, const AtomicOperation& operation);
  // Takes the memory of one operation, or of all, out of the EP's reach.
  void Revoke(uint64_t id);
  void RevokeAll();

  // ---- completions ----
  // Octets of the frame that the completion tells of, until PostReceives(), which posts all such
  // receives again.
  ByteSpan Received(const DAT_DTO_COMPLETION_EVENT_DATA& event);
  void PostReceives();
  // A send, or a part of an operation. What it ends is in `ended`.
  struct Ended {
    uint64_t id = 0;
    int status = 0;  // RDS_RDMA_*
  };
  std::optional<Ended> Completed(const DAT_DTO_COMPLETION_EVENT_DATA& event);
  // An operation that could not even be posted. The connection ends. To be asked after Post() and
  // Completed().
  std::optional<Ended> TakeRefused() { return std::exchange(refused_, std::nullopt); }
  static bool IsReceive(const DAT_DTO_COMPLETION_EVENT_DATA& event);
  // The channel that posted what the event tells of.
  static ChannelId IdOf(const DAT_DTO_COMPLETION_EVENT_DATA& event);

 private:
  // What is posted as one.
  struct Work {
    enum class Kind : uint8_t { kFrame, kWrite, kRead, kFetchAdd, kCompareSwap };
    Kind kind = Kind::kFrame;
    uint64_t cookie = 0;
    std::vector<DAT_LMR_TRIPLET> local{};
    DAT_RMR_TRIPLET remote{};
    uint64_t operand = 0, compare = 0;  // of atomics
    int flags = DAT_COMPLETION_DEFAULT_FLAG;
  };
  struct Operation {
    uint64_t id = 0;
    uint32_t parts = 0;  // that have not completed
    int status = 0;      // RDS_RDMA_*: the first that was no success
    std::vector<client::Lmr> memory;
  };

  uint64_t CookieOf(uint64_t kind, uint64_t value) const;
  DAT_LMR_TRIPLET ReceiveSlot(uint32_t slot) const;
  bool PostReceive(uint32_t slot);
  uint64_t Begin(uint64_t id);
  void Refuse(uint64_t number);
  bool Register(Operation& operation, const std::vector<Area>& local,
                std::vector<DAT_LMR_TRIPLET>* out);
  void Push(Work work);
  void Drain();
  DAT_RETURN PostNow(const Work& work);

  const ChannelId id_;
  const client::Ia& ia_;
  const client::Pz& pz_;
  const DAT_EVD_HANDLE evd_;
  client::Memory memory_;  // receives in front, then frames that are sent
  client::Ep ep_;
  std::optional<client::ConnectionRequest> request_;

  std::vector<uint32_t> used_;  // receives that are not posted
  bool ended_ = true;           // until a connection is begun
  uint32_t sent_ = 0;           // frames, ever
  uint32_t completed_ = 0;      // of these
  uint32_t parts_ = 0;          // of operations, posted and not completed
  std::deque<Work> waiting_;    // for places in the EP's queue, in order
  uint64_t last_operation_ = 0;
  std::unordered_map<uint64_t, Operation> operations_;
  std::optional<Ended> refused_;
};

}  // namespace softdat::rds

#endif  // SOFTDAT_RDS_LINK_CHANNEL_H_
