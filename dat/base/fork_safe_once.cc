// SPDX-License-Identifier: BSD-3-Clause
// The mutex behind ForkSafeOnce, and the handlers that make fork wait for it.
#include "dat/base/fork_safe_once.h"

#include <pthread.h>

#include <mutex>
#include <new>

namespace softdat {
namespace {

// Protects all first-use initialisations of this library. Recursive, because they use each other.
// Storage without a destructor: it is used until the process ends.
alignas(std::recursive_mutex) unsigned char g_storage[sizeof(std::recursive_mutex)];

std::recursive_mutex& Mutex() {
  return *std::launder(reinterpret_cast<std::recursive_mutex*>(g_storage));
}

void BeforeFork() { Mutex().lock(); }
void AfterForkInParent() { Mutex().unlock(); }
// The child's thread has another number, so it does not own what its parent locked.
void AfterForkInChild() { new (g_storage) std::recursive_mutex; }

// Before the constructors of the library, which may initialise something already.
__attribute__((constructor(101))) void Install() {
  new (g_storage) std::recursive_mutex;
  pthread_atfork(BeforeFork, AfterForkInParent, AfterForkInChild);
}

}  // namespace

ForkSafeOnce::Guard::Guard() { Mutex().lock(); }
ForkSafeOnce::Guard::~Guard() { Mutex().unlock(); }

}  // namespace softdat
