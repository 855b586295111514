// SPDX-License-Identifier: BSD-3-Clause
// The calling thread's stack of running upcalls.
#include "provider_softnet/driver/upcall_gate.h"

namespace softdat::softnet {

constinit thread_local UpcallGate::Running* UpcallGate::Running::innermost_ = nullptr;

}  // namespace softdat::softnet
