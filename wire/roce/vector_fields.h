// SPDX-License-Identifier: BSD-3-Clause
// The headers that the fields of a test vector describe.

#ifndef SOFTDAT_WIRE_ROCE_VECTOR_FIELDS_H_
#define SOFTDAT_WIRE_ROCE_VECTOR_FIELDS_H_

#include <nlohmann/json.hpp>

#include "wire/roce/bth.h"
#include "wire/roce/extended_headers.h"

namespace softdat::roce {

/// The congestion marks are no fields of the vectors and stay off.
Bth BthOf(const nlohmann::json& fields);

ExtendedHeaders ExtendedHeadersOf(const nlohmann::json& fields);

}  // namespace softdat::roce

#endif  // SOFTDAT_WIRE_ROCE_VECTOR_FIELDS_H_
