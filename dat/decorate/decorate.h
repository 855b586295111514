// SPDX-License-Identifier: BSD-3-Clause
// What settings put over a back end, whichever it is: every provider library passes its own through
// here (dat/engine/backend.h).
#ifndef SOFTDAT_DAT_DECORATE_DECORATE_H_
#define SOFTDAT_DAT_DECORATE_DECORATE_H_

#include <memory>

#include "dat/transport/transport.h"

namespace softdat {

// `plain` as the device that SOFTDAT_PROFILE names; `plain` itself when it names none.
std::unique_ptr<transport::Backend> Decorated(std::unique_ptr<transport::Backend> plain);

}  // namespace softdat

#endif  // SOFTDAT_DAT_DECORATE_DECORATE_H_
