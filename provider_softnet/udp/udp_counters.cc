// SPDX-License-Identifier: BSD-3-Clause
// The counters as one line of the log.
#include "provider_softnet/udp/udp_counters.h"

#include <fmt/format.h>

namespace softdat::softnet {

std::string UdpCounters::Text() const {
  return fmt::format(
      "sent {} in {} calls (refused {}, socket full {}), received {} in {} calls ({} empty), "
      "bad ICRC {}, solved identifications {}, malformed {}, handed on {}, handed here {}, "
      "nobody's {}, member full {}, distrusted {}, impaired {}, steered {}, unsteered {}",
      sent.value(), send_calls.value(), send_refused.value(), socket_full.value(), received.value(),
      receive_calls.value(), receive_empty.value(), bad_icrc.value(), solved_ids.value(),
      malformed.value(), handed_on.value(), handed_here.value(), nobodys.value(),
      member_full.value(), distrusted.value(), impaired.value(), steered.value(),
      unsteered.value());
}

}  // namespace softdat::softnet
