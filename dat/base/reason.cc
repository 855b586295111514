// SPDX-License-Identifier: BSD-3-Clause
// Per-thread reason chain. Each thread has its own block, so it needs no lock.
//
// The block hangs on a POSIX thread key, not on a thread_local object. An object with a destructor
// would keep a library that carries this code loaded until every thread that ever failed has ended.
// The destructor of the key is free(), which outlives the library.
#include "dat/base/reason.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <algorithm>
#include <atomic>

namespace softdat {
namespace {

// Long enough for every layer. The limit keeps a loop that adds reasons without end from eating
// memory.
constexpr size_t kMaxReasons = 16;
constexpr size_t kMaxBytes = 4000;

struct Chain {
  size_t count;
  uint64_t time;             // of the last reason, CLOCK_MONOTONIC in ns
  size_t ends[kMaxReasons];  // end of each reason in text, innermost first
  char text[kMaxBytes];
};

// Set while the key exists. A straggling thread that fails after the library's destructors have run
// gets no chain and loses its reasons.
constinit std::atomic<bool> g_key_exists{false};

pthread_key_t g_key;

// Made when the library is loaded, not at first use, so that a fork never finds it half done.
__attribute__((constructor(101))) void MakeKey() {
  g_key_exists = pthread_key_create(&g_key, free) == 0;
}

__attribute__((destructor)) void DeleteKey() {
  if (!g_key_exists.exchange(false)) return;
  free(pthread_getspecific(g_key));
  pthread_key_delete(g_key);
}

// The calling thread's chain. nullptr when there is none and `make` is false, or when memory is
// out.
Chain* GetChain(bool make) {
  if (!g_key_exists) return nullptr;
  auto* chain = static_cast<Chain*>(pthread_getspecific(g_key));
  if (chain != nullptr || !make) return chain;
  chain = static_cast<Chain*>(calloc(1, sizeof(Chain)));
  if (chain != nullptr && pthread_setspecific(g_key, chain) != 0) {
    free(chain);
    chain = nullptr;
  }
  return chain;
}

void Append(Chain* chain, std::string_view reason) {
  if (chain->count == kMaxReasons) return;
  const size_t start = chain->count == 0 ? 0 : chain->ends[chain->count - 1];
  const size_t length = std::min(reason.size(), kMaxBytes - start);
  memcpy(chain->text + start, reason.data(), length);
  chain->ends[chain->count++] = start + length;
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  chain->time =
      static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

}  // namespace

void SetReason(std::string_view reason) {
  Chain* chain = GetChain(true);
  if (chain == nullptr) return;
  chain->count = 0;
  Append(chain, reason);
}

void AddReason(std::string_view reason) {
  if (Chain* chain = GetChain(true)) Append(chain, reason);
}

std::string LastReasons() {
  std::string text;
  const Chain* chain = GetChain(false);
  if (chain == nullptr) return text;
  for (size_t i = chain->count; i-- > 0;) {
    const size_t start = i == 0 ? 0 : chain->ends[i - 1];
    if (start == chain->ends[i]) continue;
    if (!text.empty()) text += '\n';
    text.append(chain->text + start, chain->ends[i] - start);
  }
  return text;
}

void ClearReasons() {
  if (Chain* chain = GetChain(false)) chain->count = 0;
}

uint64_t LastReasonTime() {
  const Chain* chain = GetChain(false);
  return chain == nullptr || chain->count == 0 ? 0 : chain->time;
}

Code Record(const Status& status) {
  if (!status.ok()) SetReason(std::string(status.reason()));
  return status.code();
}

}  // namespace softdat
