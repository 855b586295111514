// SPDX-License-Identifier: BSD-3-Clause
// The mutex behind ForkSafeOnce and ForkSafeGuard, and the handlers that make fork wait for it.
#include "dat/base/fork_safe_once.h"

#include <pthread.h>

#include <mutex>

namespace softdat {
namespace {

// Protects all first-use initialisations of this library, what ForkSafeGuard guards, and g_depth.
constinit std::mutex g_mutex;
// The thread that holds g_mutex. It may lock again, so that one initialisation may use another. A
// relaxed load is enough: a thread finds its own name here only if it wrote that name itself.
constinit std::atomic<pthread_t> g_owner{0};
int g_depth = 0;

void Lock() {
  const pthread_t self = pthread_self();
  if (g_owner.load(std::memory_order_relaxed) != self) {
    g_mutex.lock();
    g_owner.store(self, std::memory_order_relaxed);
  }
  ++g_depth;
}

void Unlock() {
  if (--g_depth > 0) return;
  g_owner.store(0, std::memory_order_relaxed);
  g_mutex.unlock();
}

// The child's only thread is the one that forked, and it keeps its identity. So Unlock serves
// parent and child.
__attribute__((constructor)) void Install() { pthread_atfork(Lock, Unlock, Unlock); }

}  // namespace

ForkSafeGuard::ForkSafeGuard() { Lock(); }
ForkSafeGuard::~ForkSafeGuard() { Unlock(); }

}  // namespace softdat
