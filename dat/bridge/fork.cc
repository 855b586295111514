// SPDX-License-Identifier: BSD-3-Clause
// A child of fork() may use libdat.so.1 too, whatever other threads of its parent were doing.
#include <pthread.h>

#include "dat/bridge/agents.h"
#include "dat/bridge/regions.h"

namespace softdat::bridge {
namespace {

void BeforeFork() {
  TheAgents().LockForFork();
  TheRegions().LockForFork();
}

void AfterFork() {
  TheRegions().UnlockAfterFork();
  TheAgents().UnlockAfterFork();
}

__attribute__((constructor)) void OnLoad() { pthread_atfork(BeforeFork, AfterFork, AfterFork); }

}  // namespace
}  // namespace softdat::bridge
