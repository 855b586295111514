// SPDX-License-Identifier: BSD-3-Clause
// What a datagram port counts. The wire promises system calls per packet, and tests check the
// promise against these numbers. They go to the log when the port closes.
#ifndef SOFTDAT_PROVIDER_SOFTNET_UDP_UDP_COUNTERS_H_
#define SOFTDAT_PROVIDER_SOFTNET_UDP_UDP_COUNTERS_H_

#include <string>

#include "provider_softnet/driver/counters.h"

namespace softdat::softnet {

struct UdpCounters {
  Counter sent;           // packets that the kernel took
  Counter send_calls;     // system calls for them
  Counter send_refused;   // packets that the kernel did not send (no route, too long): lost
  Counter socket_full;    // sends that have to wait until the socket is writable
  Counter received;       // packets that were given to the sink
  Counter receive_calls;  // system calls for them
  Counter receive_empty;  // those that found nothing
  Counter bad_icrc;
  Counter solved_ids;   // packets whose ICRC an identification other than 0 explains
  Counter malformed;    // no packet of RC or UD, or longer than any
  Counter handed_on;    // packets given to another member
  Counter handed_here;  // packets that another member gave to this one
  Counter nobodys;      // packets for a queue pair or service that no member has
  Counter member_full;  // packets lost because another member did not read
  Counter distrusted;   // messages of other users on a member's local socket
  Counter impaired;     // packets that SOFTDAT_UDP_LOSS lost, delayed, doubled or damaged
  Counter steered;      // sockets opened for one sender each
  Counter unsteered;    // those that were closed for another sender

  std::string Text() const;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_UDP_UDP_COUNTERS_H_
