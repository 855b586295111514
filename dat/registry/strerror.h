// SPDX-License-Identifier: BSD-3-Clause
// Names of DAT return types and subtypes.
#ifndef SOFTDAT_DAT_REGISTRY_STRERROR_H_
#define SOFTDAT_DAT_REGISTRY_STRERROR_H_

#include <dat2/udat.h>

namespace softdat::registry {

// The constant's name, a static string. nullptr for a value that is not a type (subtype) of DAT
// 2.0. Subtype 0 is "".
const char* TypeName(DAT_RETURN type);
const char* SubtypeName(DAT_RETURN subtype);

}  // namespace softdat::registry

#endif  // SOFTDAT_DAT_REGISTRY_STRERROR_H_
