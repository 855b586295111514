// SPDX-License-Identifier: BSD-3-Clause
#include "provider_verbs/library_call.h"

#include <pthread.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <new>

namespace softdat::verbs {
namespace {

constexpr std::chrono::seconds kLongest{1};

// Protects the next two. Held by a thread that forks, from before the fork until after it.
constinit std::mutex g_mutex;
int g_calls = 0;
bool g_forking = false;
std::condition_variable g_changed;  // no call is left, or no fork

void BeforeFork() {
  std::unique_lock<std::mutex> lock(g_mutex);
  g_forking = true;
  g_changed.wait_for(lock, kLongest, [] { return g_calls == 0; });
  lock.release();
}

void AfterForkInParent() {
  g_forking = false;
  g_changed.notify_all();
  g_mutex.unlock();
}

// The threads whose calls these were are the parent's.
void AfterForkInChild() {
  g_forking = false;
  g_calls = 0;
  new (&g_changed) std::condition_variable;
  g_mutex.unlock();
}

// When this library is loaded. So fork waits for calls after it has waited for all that the engine
// locks, and no thread that waits here has to be waited for there.
__attribute__((constructor)) void Install() {
  pthread_atfork(BeforeFork, AfterForkInParent, AfterForkInChild);
}

}  // namespace

LibraryCall::LibraryCall() {
  std::unique_lock<std::mutex> lock(g_mutex);
  g_changed.wait(lock, [] { return !g_forking; });
  ++g_calls;
}

LibraryCall::~LibraryCall() {
  const std::lock_guard<std::mutex> lock(g_mutex);
  if (--g_calls == 0) g_changed.notify_all();
}

}  // namespace softdat::verbs
