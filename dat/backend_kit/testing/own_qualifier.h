// SPDX-License-Identifier: BSD-3-Clause
// Connection qualifiers that only the calling process uses.
//
// A test may need a qualifier on which nobody listens. One that a provider has chosen, and that is
// free again, will not do: while the test connects, a provider may choose it for another test, in
// another process of this host, which answers. Providers choose from 32768 on, as Linux does for
// ports. The qualifiers here are below.
#ifndef SOFTDAT_DAT_BACKEND_KIT_TESTING_OWN_QUALIFIER_H_
#define SOFTDAT_DAT_BACKEND_KIT_TESTING_OWN_QUALIFIER_H_

#include <cstdint>
#include <functional>

namespace softdat {

// Returns a qualifier that `is_free` finds free, because a program that does not ask here may have
// it. 50 calls in a row give different ones. A qualifier and the number behind it are the process's
// until it ends. A forked child gets others. 0: there is none.
uint64_t OwnQualifier(const std::function<bool(uint64_t)>& is_free);

// The same above 65535. Over wires with ports, it and the qualifier 31744 numbers further have the
// port of one that is the process's (dat/backend_kit/qualifier_port.h).
uint64_t OwnLargeQualifier(const std::function<bool(uint64_t)>& is_free);

}  // namespace softdat

#endif  // SOFTDAT_DAT_BACKEND_KIT_TESTING_OWN_QUALIFIER_H_
