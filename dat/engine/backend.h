// SPDX-License-Identifier: BSD-3-Clause
// The place where the engine meets the one back end of its library.
#ifndef SOFTDAT_DAT_ENGINE_BACKEND_H_
#define SOFTDAT_DAT_ENGINE_BACKEND_H_

#include <memory>

#include "dat/transport/transport.h"

namespace softdat {

// Each provider library defines this once. It is what makes libdaplsoftnet the provider of softnet.
std::unique_ptr<transport::Backend> MakeBackend();

namespace engine {

// The library's back end. It is made at the first call, and lives until the library is unloaded.
transport::Backend& TheBackend();

}  // namespace engine
}  // namespace softdat

#endif  // SOFTDAT_DAT_ENGINE_BACKEND_H_
