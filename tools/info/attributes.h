// SPDX-License-Identifier: BSD-3-Clause
// Attributes of an adapter and its provider as names and values. Pure.
#ifndef SOFTDAT_TOOLS_INFO_ATTRIBUTES_H_
#define SOFTDAT_TOOLS_INFO_ATTRIBUTES_H_

#include <dat2/udat.h>

#include <nlohmann/json.hpp>

namespace softdat::tools {

// Every member is under its own name. Enumerations and flags have the names of the API. The named
// attributes are one object.
nlohmann::ordered_json IaAttributes(const DAT_IA_ATTR& attr);
nlohmann::ordered_json ProviderAttributes(const DAT_PROVIDER_ATTR& attr);

}  // namespace softdat::tools

#endif  // SOFTDAT_TOOLS_INFO_ATTRIBUTES_H_
