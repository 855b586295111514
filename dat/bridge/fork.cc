// SPDX-License-Identifier: BSD-3-Clause
// A child of fork() may use libdat.so.1, too, whatever the other threads of its parent were doing.
#include <pthread.h>

#include "dat/bridge/agents.h"
#include "dat/bridge/extensions.h"
#include "dat/bridge/regions.h"

namespace softdat::bridge {
namespace {

void BeforeFork() {
  LockServicesForFork();
  TheAgents().LockForFork();
  TheRegions().LockForFork();
}

void AfterForkInParent() {
  TheRegions().UnlockInParent();
  TheAgents().UnlockAfterFork();
  UnlockServicesAfterFork();
}

void AfterForkInChild() {
  TheRegions().UnlockInChild();
  TheAgents().UnlockAfterFork();
  UnlockServicesAfterFork();
}

__attribute__((constructor)) void OnLoad() {
  pthread_atfork(BeforeFork, AfterForkInParent, AfterForkInChild);
}

}  // namespace
}  // namespace softdat::bridge
