// SPDX-License-Identifier: BSD-3-Clause
// One reliable connection of RoCEv2 (IBTA vol. 1 §9.7), without I/O. No socket, clock, thread or
// random source inside: packets, posts and the time go in; packets, completions and actions come
// out.
//
// The caller holds the queue pair's lock around every call. A driver's turn looks like this:
//
//   lock
//   code = c.PostSend(request)  or PostReceive, Disconnect, OnPacket (its ICRC was right), OnTime
//   for (;;) { c.Transmit(&batch, now_us); if (batch.empty()) break;
//              n = port.Send(batch); if (n < batch.size()) { c.TakeBack(batch, n); break; }
//              batch.Clear(); }
//   a = c.TakeActions(); unlock; act on a; OnTime(now_us) is to be called at c.deadline_us()
//
// While a batch holds memory, nothing but its sending belongs there.
//
// The parts, each with a floor under it and none that calls upwards:
//
//   ReliableConnection            conducts: posts, what is over, breaking, ending
//   Requester     Responder       own requests and their answers; the peer's requests
//   CongestionWindow, RoundTrip   PeerReads
//   WorkLedger    RcState         the posted work; what all parts have in common
#ifndef SOFTDAT_PROVIDER_SOFTNET_ROCE_RELIABLE_CONNECTION_H_
#define SOFTDAT_PROVIDER_SOFTNET_ROCE_RELIABLE_CONNECTION_H_

#include <cstdint>
#include <string>

#include "dat/transport/transport.h"
#include "provider_softnet/roce/packet_batch.h"
#include "provider_softnet/roce/rc_config.h"
#include "provider_softnet/roce/rc_state.h"
#include "provider_softnet/roce/requester.h"
#include "provider_softnet/roce/responder.h"
#include "wire/roce/packet.h"

namespace softdat::softnet {

class ReliableConnection {
 public:
  explicit ReliableConnection(const RcConfig& config);
  ReliableConnection(const ReliableConnection&) = delete;
  ReliableConnection& operator=(const ReliableConnection&) = delete;

  // ---- posts (contract: transport::QueuePair) ----

  // kQueueFull; kInvalidArgument (too many segments); kProtection, kPrivileges, kOutOfBounds for
  // local segments and binds; kLength (semantics 10.1); kNoResources for reads when none may be
  // outstanding; kInvalidState while draining. After the end it succeeds without any check and
  // completes as flushed. A failed post leaves nothing behind.
  Code PostSend(const transport::SendRequest& request);
  // Into receive_queue. After the end it is flushed at once. A peer that was told that there is no
  // receive asks again by itself.
  Code PostReceive(const transport::ReceiveRequest& request);
  // The watermarks were set: what exceeds them already counts at once.
  void OnWatermarksSet();
  // Graceful: posted sends complete, own answers leave, then `ended`. Abrupt: flushes everything
  // now. A no-op after the end; abrupt overtakes a graceful one that still drains.
  void Disconnect(transport::DisconnectMode mode);

  // ---- events ----

  // A packet of the peer for this queue pair: its ICRC is right, and it comes from the peer's
  // address.
  void OnPacket(const roce::Packet& packet, uint64_t now_us);
  // The peer has disconnected (DREQ), and its consumer did.
  void OnPeerDisconnected();
  // The connection broke; `why` says by what.
  void OnPathLost(const std::string& why);
  // When OnTime() has something to do; 0: never. Changes with every other call.
  uint64_t deadline_us() const { return ended() ? 0 : requester_.deadline_us(); }
  void OnTime(uint64_t now_us);

  // ---- transmit side ----

  // Fills the empty batch with what may leave now. Carries out binds on its way; a batch that stays
  // empty may have completed work.
  void Transmit(PacketBatch* batch, uint64_t now_us);
  // The packets from `from` on did not leave. They are offered again.
  void TakeBack(const PacketBatch& batch, size_t from);
  // Whether Transmit() would have something to do.
  bool wants_transmit() const {
    return responder_.wants_transmit() || (!ended() && requester_.wants_transmit());
  }
  // An acknowledgement is due for which nobody waits in a hurry.
  bool owes() const { return responder_.owes(); }
  // It has waited long enough: Transmit() offers it now.
  void PayOwed() { responder_.Pay(); }

  // ---- what follows ----

  bool has_actions() const {
    return ended_due_ || ledger_.notices().any() || state_.established_due || wants_transmit() ||
           owes();
  }
  // What to do now; cleared by the call.
  RcActions TakeActions();
  bool ended() const { return state_.phase == RcPhase::kEnded; }
  // A request has left, and the peer has not answered it.
  bool awaits_answers() const { return requester_.answered() < requester_.begun(); }
  const RcEnd& end() const { return end_; }
  const RcCounters& counters() const { return state_.counters; }
  // Receives taken by a message that has not completed: what a pair holds of its SRQ.
  uint32_t held_receives() const { return ledger_.held_receives(); }

 private:
  void Settle();
  void EndIfDrained();
  void EndIfRefused();
  void Finish(transport::EndReason reason, std::string why, bool by_peer, const Blame& blame);

  RcState state_;
  WorkLedger ledger_;
  const AdmissionRules rules_;
  Requester requester_;
  Responder responder_;
  Blame refusal_blame_;  // RcPhase::kTerminating
  RcEnd end_;
  bool ended_due_ = false;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_ROCE_RELIABLE_CONNECTION_H_
