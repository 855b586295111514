// SPDX-License-Identifier: BSD-3-Clause
// The ICRC covers the identification of the IPv4 header, which a UDP socket does not show. Linux
// rxe and adapters count it up. The CRC is linear, so the identification follows from the ICRC.
//
// What the check is worth. There are 2^32 ICRCs, and the 2^16 identifications explain 2^16 of them.
// So one damaged packet in 2^16 passes, where the full check lets one in 2^32 pass. No kind of
// damage is found for sure, not even one flipped bit. A sender whose identification is known to be
// 0, as our own is, gets the full check first, and it is the solving after a failed check that
// weakens it. UDP's own checksum guards packets whose sender computes one. IPv6 has no
// identification, and its check is the full one.

#ifndef SOFTDAT_WIRE_ROCE_ICRC_SOLVE_H_
#define SOFTDAT_WIRE_ROCE_ICRC_SOLVE_H_

#include <cstddef>
#include <cstdint>
#include <optional>

namespace softdat::roce {

/// The one identification with which an IPv4 datagram of `udp_payload` octets (ICRC included) has
/// the ICRC `received`, if there is one. `computed` is its ICRC with the identification 0.
std::optional<uint16_t> SolveIdentification(uint32_t computed, uint32_t received,
                                            size_t udp_payload);

}  // namespace softdat::roce

#endif  // SOFTDAT_WIRE_ROCE_ICRC_SOLVE_H_
