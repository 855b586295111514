// SPDX-License-Identifier: BSD-3-Clause
// The identification 0 is tried first, because our own peers send it. A failed check is solved for
// another one (icrc_solve.h).
#include "provider_softnet/udp/arrival_judge.h"

#include "provider_softnet/udp/destination.h"
#include "wire/roce/icrc_solve.h"

namespace softdat::softnet {

Verdict JudgeArrival(const sockaddr_storage& source, const sockaddr_storage& local,
                     std::span<const uint8_t> datagram, roce::Packet* packet) {
  if (datagram.size() < roce::kBthSize + roce::kIcrcSize) return Verdict::kMalformed;
  if (source.ss_family != local.ss_family) return Verdict::kMalformed;
  const Flow flow(source, local);
  const size_t covered = datagram.size() - roce::kIcrcSize;
  const uint32_t received = roce::LoadIcrc(datagram.data() + covered);
  const uint32_t computed = roce::IcrcOf(flow.IcrcStart(datagram.size()), datagram.first(covered));
  Verdict verdict = Verdict::kPacket;
  if (computed != received) {
    if (!flow.is_ipv4()) return Verdict::kBadIcrc;
    if (!roce::SolveIdentification(computed, received, datagram.size())) return Verdict::kBadIcrc;
    verdict = Verdict::kPacketOfId;
  }
  // An unknown opcode counts as malformed, too: nothing behind its BTH can be told apart.
  const roce::PacketParse parsed = roce::ParsePacket(datagram, packet);
  return parsed == roce::PacketParse::kOk ? verdict : Verdict::kMalformed;
}

}  // namespace softdat::softnet
