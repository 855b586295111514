// SPDX-License-Identifier: BSD-3-Clause
// A back end without a wire: queue pairs of one process meet in memory. It implements the whole
// contract of dat/transport/transport.h, and is the example in docs/adding-a-backend.md.
#ifndef SOFTDAT_PROVIDER_TOY_BACKEND_H_
#define SOFTDAT_PROVIDER_TOY_BACKEND_H_

#include <memory>

#include "dat/transport/transport.h"

namespace softdat::toy {

// Opens toy-0, toy-1, ... toy-63. toy-1 has neither atomics nor immediate data.
std::unique_ptr<transport::Backend> MakeBackend();

}  // namespace softdat::toy

#endif  // SOFTDAT_PROVIDER_TOY_BACKEND_H_
