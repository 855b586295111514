// SPDX-License-Identifier: BSD-3-Clause
// The names of the counters, for dat_print_counters.
#ifndef SOFTDAT_DAT_ENGINE_COUNTER_NAMES_H_
#define SOFTDAT_DAT_ENGINE_COUNTER_NAMES_H_

#include <span>
#include <string_view>

#include "dat2/udat.h"

namespace softdat::engine {

// The names of the counters that objects of this kind have, by number. Empty for a kind without
// counters.
std::span<const std::string_view> CounterNames(DAT_HANDLE_TYPE type);

}  // namespace softdat::engine

#endif  // SOFTDAT_DAT_ENGINE_COUNTER_NAMES_H_
