// SPDX-License-Identifier: BSD-3-Clause
// Our own peers send the identification 0, and the kernel counts from there in what it cuts. Others
// count all their packets. A failed check is solved for another one (icrc_solve.h).
#include "provider_softnet/udp/arrival_judge.h"

#include <string.h>

#include "dat/base/socket_address.h"
#include "wire/roce/icrc_solve.h"

namespace softdat::softnet {
namespace {

constexpr size_t kLongest = roce::kMaxHeaderSize + roce::kMaxMtu + roce::kMaxTrailerSize;

}  // namespace

bool ArrivalJudge::IsOfLastSource(const sockaddr_storage& source) const {
  return source_.ss_family == source.ss_family &&
         memcmp(&source_, &source, AddressSize(source)) == 0;
}

[[gnu::hot]] uint32_t ArrivalJudge::StartOf(size_t size) {
  if (size != size_) {
    size_ = size;
    start_ = flow_.IcrcStart(size);
  }
  return start_;
}

[[gnu::hot]] Verdict ArrivalJudge::Judge(const sockaddr_storage& source,
                                         std::span<const uint8_t> datagram, size_t segment,
                                         roce::Packet* packet) {
  if (datagram.size() < roce::kBthSize + roce::kIcrcSize || datagram.size() > kLongest) {
    return Verdict::kMalformed;
  }
  if (!IsOfLastSource(source)) {
    if (source.ss_family != local_.ss_family) return Verdict::kMalformed;
    source_ = source;
    flow_ = Flow(source, local_);
    size_ = next_id_ = 0;
  }
  const uint16_t guess = next_id_ != 0 ? next_id_ : static_cast<uint16_t>(segment);
  const size_t covered = datagram.size() - roce::kIcrcSize;
  const uint32_t received = roce::LoadIcrc(datagram.data() + covered);
  const uint32_t computed =
      roce::IcrcOf(StartOf(datagram.size()) ^ flow_.ShareOf(guess), datagram.first(covered));
  uint16_t id = guess;
  if (computed != received) {
    if (!flow_.is_ipv4()) return Verdict::kBadIcrc;
    const auto difference = roce::SolveIdentification(computed, received, datagram.size());
    if (!difference) return Verdict::kBadIcrc;
    id = static_cast<uint16_t>(guess ^ *difference);
  }
  const bool counts = id != segment;
  next_id_ = counts ? static_cast<uint16_t>(id + 1) : uint16_t{0};
  // An unknown opcode counts as malformed, too: nothing behind its BTH can be told apart.
  if (roce::ParsePacket(datagram, packet) != roce::PacketParse::kOk) return Verdict::kMalformed;
  return counts ? Verdict::kPacketOfId : Verdict::kPacket;
}

}  // namespace softdat::softnet
