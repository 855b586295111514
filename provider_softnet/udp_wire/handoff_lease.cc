// SPDX-License-Identifier: BSD-3-Clause
// HandoffLease.
#include "provider_softnet/udp_wire/handoff_lease.h"

#include <array>

#include "provider_softnet/udp/handoff_sockets.h"
#include "wire/rdmacm/mad.h"

namespace softdat::softnet {
namespace {

constexpr size_t kMostRest = rdmacm::kMadSize;

}  // namespace

// A word that finds no room is lost like a message of the network, and so is the other end's fault.
void HandoffLease::Say(LeaseWord word, std::span<const uint8_t> rest) const {
  std::array<uint8_t, 1 + kMostRest> message;
  if (!fd_.valid() || rest.size() > kMostRest) return;
  message[0] = static_cast<uint8_t>(word);
  std::copy(rest.begin(), rest.end(), message.begin() + 1);
  SayOn(fd_.get(), std::span(message).first(1 + rest.size()));
}

void HandoffLease::Close() {
  watch_.Stop();
  fd_.Close();
}

void HandoffLease::Hear() {
  // One byte more shows a message that is too long.
  std::array<uint8_t, 1 + kMostRest + 1> room;
  while (fd_.valid()) {
    const Heard heard = HearOn(fd_.get(), room);
    switch (heard.what) {
      case Heard::What::kNothing:
        return;
      case Heard::What::kGone:
        watch_.Stop();
        return handler_(LeaseWord::kGone, {});
      case Heard::What::kMessage:
        if (heard.size > 1 + kMostRest || room[0] == 0) continue;
        handler_(static_cast<LeaseWord>(room[0]), std::span(room).subspan(1, heard.size - 1));
    }
  }
}

}  // namespace softdat::softnet
