// SPDX-License-Identifier: BSD-3-Clause
// The way of a datagram from a socket to the sink, or to another member.
#include "provider_softnet/udp/udp_core.h"

#include <unistd.h>

#include <optional>
#include <utility>

#include "dat/base/socket_address.h"
#include "provider_softnet/udp/forward_message.h"

namespace softdat::softnet {
namespace {

constexpr uint32_t kGsiQpn = 1;

}  // namespace

UdpCore::UdpCore(const sockaddr_storage& address, Driver* of, PacketSink* to)
    : local(address), host(HostText(address)), driver(of), sink(to), areas(address) {}

[[gnu::hot]] void UdpCore::TakeDatagram(const sockaddr_storage& source,
                                        std::span<const uint8_t> datagram, size_t segment,
                                        ArrivalJudge* judge) {
  const uint32_t times = impaired ? impaired->Offer(source, datagram, segment) : 1;
  for (uint32_t i = 0; i < times; ++i) JudgeAndRoute(source, datagram, segment, judge);
}

[[gnu::hot]] bool UdpCore::TakeDue(const SinkGate::Pass& pass) {
  if (!impaired) return false;
  const std::vector<HeldDatagram> due = impaired->TakeDue();
  if (due.empty()) return false;
  ArrivalJudge judge(local);
  for (const HeldDatagram& datagram : due) {
    if (pass.open()) JudgeAndRoute(datagram.source, datagram.bytes, datagram.segment, &judge);
  }
  return true;
}

[[gnu::hot]] void UdpCore::JudgeAndRoute(const sockaddr_storage& source,
                                         std::span<const uint8_t> datagram, size_t segment,
                                         ArrivalJudge* judge) {
  roce::Packet packet;
  switch (judge->Judge(source, datagram, segment, &packet)) {
    case Verdict::kMalformed:
      return counters.malformed.Add();
    case Verdict::kBadIcrc:
      return counters.bad_icrc.Add();
    case Verdict::kPacketOfId:
      counters.solved_ids.Add();
      break;
    case Verdict::kPacket:
      break;
  }
  Route({source, packet, datagram, /*handed_on=*/false});
}

// The member that handed it on has judged the ICRC. Its form is judged again, because a message is
// not trusted further than that.
void UdpCore::TakeHandedOn(std::span<const uint8_t> message, std::vector<UniqueFd> descriptors) {
  if (const std::optional<MemberOffer> offer = DecodeOffer(message)) {
    if (offer->source.ss_family != local.ss_family) return counters.malformed.Add();
    return sink->OnOffer(*offer, std::move(descriptors));
  }
  const std::optional<ForwardedPacket> forwarded = DecodeForward(message);
  roce::Packet packet;
  if (!forwarded || forwarded->source.ss_family != local.ss_family ||
      roce::ParsePacket(forwarded->datagram, &packet) != roce::PacketParse::kOk) {
    return counters.malformed.Add();
  }
  counters.handed_here.Add();
  Route({forwarded->source, packet, forwarded->datagram, /*handed_on=*/true});
}

[[gnu::hot]] void UdpCore::Route(const Arrival& arrival) {
  const uint32_t qpn = arrival.packet.bth.dest_qpn;
  const uint32_t block = BlockOfQpn(qpn);
  if (qpn == kGsiQpn || own_blocks.Has(block)) {
    counters.received.Add();
    sink->OnPacket(arrival);
    if (arrival.handed_on && qpn != kGsiQpn) on_handed_here(arrival.source);
  } else if (block == 0 || arrival.handed_on) {
    counters.nobodys.Add();
  } else {
    HandOnTo(BlockName(geteuid(), host, block), arrival);
  }
}

HandOnResult UdpCore::HandOnTo(const MemberName& name, const Arrival& arrival) {
  const HandOnResult result = backlog->HandOn(name, arrival.source, arrival.datagram);
  switch (result) {
    case HandOnResult::kDone:
      counters.handed_on.Add();
      break;
    case HandOnResult::kNobody:
      counters.nobodys.Add();
      break;
    case HandOnResult::kFull:
      counters.member_full.Add();
      break;
  }
  return result;
}

}  // namespace softdat::softnet
