// SPDX-License-Identifier: BSD-3-Clause
// The datagram service of a queue pair, without I/O: IBTA vol. 1 §9.8. Posts and packets go in;
// packets, one for each datagram, and completions come out. Nothing is answered and nothing is sent
// again. What cannot be delivered is lost, and counted.
//
// The queue pair's lock guards it. It makes no allocation and no virtual call.
#ifndef SOFTDAT_PROVIDER_SOFTNET_ROCE_UNRELIABLE_DATAGRAMS_H_
#define SOFTDAT_PROVIDER_SOFTNET_ROCE_UNRELIABLE_DATAGRAMS_H_

#include <cstdint>
#include <span>

#include "dat/transport/transport.h"
#include "provider_softnet/queue/work_ledger.h"
#include "provider_softnet/roce/packet_batch.h"
#include "wire/bytes.h"
#include "wire/roce/packet.h"

namespace softdat::softnet {

// Datagrams that arrived and were lost, by what was wrong.
struct LostDatagrams {
  uint64_t of_other_service = 0;  // no UD SEND Only
  uint64_t bad_pkey = 0;
  uint64_t bad_qkey = 0;
  uint64_t no_receive = 0;
  uint64_t short_receive = 0;
  uint64_t bad_memory = 0;  // of the receive

  uint64_t all() const {
    return of_other_service + bad_pkey + bad_qkey + no_receive + short_receive + bad_memory;
  }
};

class UnreliableDatagrams {
 public:
  // `qkey`: what arriving packets must carry. `longest`: bytes of payload of one that leaves.
  UnreliableDatagrams(const WorkLedgerConfig& work, uint32_t qkey, uint32_t longest)
      : ledger_(work), qkey_(qkey), longest_(longest) {}

  // The results of transport::QueuePair::PostSend. Queues the datagram.
  Code PostSend(const transport::SendRequest& request);
  Code PostReceive(const transport::ReceiveRequest& request);

  // The oldest datagram of the queue as the only packet of `batch`, which is empty. `own_qpn`: who
  // sends it. The batch stays empty if the memory is gone: then the request has failed.
  void Offer(uint32_t own_qpn, PacketBatch* batch);
  // The datagram that was offered last has left.
  void Sent();

  // `header`: what is put in front of the payload, transport::kDatagramHeader bytes.
  void OnPacket(const roce::Packet& packet, ByteSpan header);

  Notices TakeNotices() { return ledger_.TakeNotices(); }
  const LostDatagrams& lost() const { return lost_; }

 private:
  void CompleteOldest(transport::WorkStatus status);
  // Whether the packet is one that the pair receives.
  bool IsWelcome(const roce::Packet& packet);
  // Copies both parts, one behind the other, into the receive that is held.
  bool Place(ByteSpan header, ByteSpan payload);

  WorkLedger ledger_;
  const uint32_t qkey_;
  const uint32_t longest_;
  uint32_t psn_ = 0;
  LostDatagrams lost_;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_ROCE_UNRELIABLE_DATAGRAMS_H_
