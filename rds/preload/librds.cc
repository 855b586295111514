// SPDX-License-Identifier: BSD-3-Clause
#include "rds/preload/librds.h"

#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "rds/preload/libc.h"

// Those of a program that is linked against librds.so.
#define CALL(function) extern "C" decltype(rds_##function) rds_##function __attribute__((weak));
SOFTDAT_RDS_CALLS(CALL)
#undef CALL

namespace softdat::rds {
namespace {

constinit Librds librds;
constinit std::atomic<pid_t> process{0};
constinit std::atomic_flag told_of_forks;

void RememberProcess() { process.store(getpid(), std::memory_order_relaxed); }

void Publish() {
  RememberProcess();
  if (!told_of_forks.test_and_set()) pthread_atfork(nullptr, nullptr, RememberProcess);
  loaded_librds.store(&librds, std::memory_order_release);
}

__attribute__((constructor)) void FindLinked() {
  if (rds_socket == nullptr) return;
#define CALL(function) librds.function.Set(rds_##function);
  SOFTDAT_RDS_CALLS(CALL)
#undef CALL
  Publish();
}

// Why there is no RDS: a user who has spelt a folder wrong sees only EAFNOSUPPORT otherwise.
void Report(const char* why) {
  if (std::getenv("SOFTDAT_RDS_VERBOSE") == nullptr || why == nullptr) return;
  const iovec parts[] = {{const_cast<char*>("rds: "), 5},
                         {const_cast<char*>(why), std::strlen(why)},
                         {const_cast<char*>("\n"), 1}};
  libc.writev(STDERR_FILENO, parts, 3);
}

}  // namespace

constinit std::atomic<Librds*> loaded_librds{nullptr};

Librds* LoadLibrds() {
  Librds* const loaded = loaded_librds.load(std::memory_order_acquire);
  if (loaded != nullptr) return loaded;
  void* const library = dlopen("librds.so", RTLD_NOW | RTLD_LOCAL);
  bool complete = library != nullptr;
#define CALL(function)                                                       \
  if (complete) {                                                            \
    void* const found = dlsym(library, "rds_" #function);                    \
    complete = found != nullptr;                                             \
    librds.function.Set(reinterpret_cast<decltype(&rds_##function)>(found)); \
  }
  SOFTDAT_RDS_CALLS(CALL)
#undef CALL
  if (!complete) {
    Report(dlerror());
    return nullptr;
  }
  Publish();
  return &librds;
}

bool IsProcessOfLibrds() { return getpid() == process.load(std::memory_order_relaxed); }

NoCancellation::NoCancellation() { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
NoCancellation::~NoCancellation() { pthread_setcancelstate(before_, nullptr); }

}  // namespace softdat::rds
