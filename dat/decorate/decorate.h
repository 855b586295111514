// SPDX-License-Identifier: BSD-3-Clause
// The wrappers that settings ask for over a back end. Every provider library passes its own back
// end (dat/engine/backend.h) through here.
#ifndef SOFTDAT_DAT_DECORATE_DECORATE_H_
#define SOFTDAT_DAT_DECORATE_DECORATE_H_

#include <memory>

#include "dat/transport/transport.h"

namespace softdat {

// `plain` made to behave as the device that SOFTDAT_PROFILE names. `plain` itself when it names
// none.
std::unique_ptr<transport::Backend> Decorated(std::unique_ptr<transport::Backend> plain);

}  // namespace softdat

#endif  // SOFTDAT_DAT_DECORATE_DECORATE_H_
