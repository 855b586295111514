// SPDX-License-Identifier: BSD-3-Clause
// librds.so as this library sees it: loaded by the first call of socket(AF_RDS), and not before.
//
// To be linked against it would be simpler. But then every program under the preload, every shell
// and every helper of a script, would load librds, libdat2 and the C++ library, and run their
// constructors, for nothing. So this library needs libc alone, and a program that never makes such
// a socket pays for each call one load and one branch.
//
// librds.so is looked for where all libraries are (LD_LIBRARY_PATH), and beside this one. A program
// that is linked against librds.so already has it, and that one is used. If there is none, there is
// no RDS: socket() fails with EAFNOSUPPORT. With SOFTDAT_RDS_VERBOSE set, the reason goes to
// standard error.
//
// librds.so must not call a function of libc that this library has taken on a descriptor for which
// rds_is_socket is true: the call would come back to it. Its calls on other descriptors pass
// through here to libc, like everyone's.
#ifndef SOFTDAT_RDS_PRELOAD_LIBRDS_H_
#define SOFTDAT_RDS_PRELOAD_LIBRDS_H_

#include <atomic>

#include "softdat/rds.h"

namespace softdat::rds {

#define SOFTDAT_RDS_CALLS(CALL) \
  CALL(bind)                    \
  CALL(close)                   \
  CALL(connect)                 \
  CALL(duplicated)              \
  CALL(forget)                  \
  CALL(getpeername)             \
  CALL(getsockname)             \
  CALL(getsockopt)              \
  CALL(ioctl)                   \
  CALL(is_socket)               \
  CALL(recv)                    \
  CALL(recvfrom)                \
  CALL(recvmsg)                 \
  CALL(send)                    \
  CALL(sendmsg)                 \
  CALL(sendto)                  \
  CALL(setsockopt)              \
  CALL(socket)

// One of its calls. Several threads may set it at once, all to the same.
template <typename Function>
class LibrdsCall {
 public:
  constexpr LibrdsCall() = default;
  void Set(Function function) { function_.store(function, std::memory_order_relaxed); }
  template <typename... Arguments>
  auto operator()(Arguments... arguments) const {
    return function_.load(std::memory_order_relaxed)(arguments...);
  }

 private:
  std::atomic<Function> function_{nullptr};
};

// Its calls, without the "rds_" of their names.
struct Librds {
#define CALL(function) LibrdsCall<decltype(&rds_##function)> function;
  SOFTDAT_RDS_CALLS(CALL)
#undef CALL
};

// The loaded library, or nullptr.
extern std::atomic<Librds*> loaded_librds;

// Loads it if need be. nullptr if there is none.
Librds* LoadLibrds();

// The library if the descriptor is a socket of it, else nullptr. Does not touch errno.
inline Librds* LibrdsOf(int fd) {
  Librds* const librds = loaded_librds.load(std::memory_order_acquire);
  return librds != nullptr && librds->is_socket(fd) != 0 ? librds : nullptr;
}

// Whether the sockets of librds are this process' own, or those of the parent that fork has told
// librds of. A child of vfork or of clone, between its start and exec, has the memory of its
// parent, but a table of descriptors of its own. What it does to its descriptors must not reach
// librds, which would do it to the parent's sockets.
bool IsProcessOfLibrds();

// The functions of libc that are no cancellation points must not become some because librds waits
// for something.
class NoCancellation {
 public:
  NoCancellation();
  ~NoCancellation();
  NoCancellation(const NoCancellation&) = delete;
  NoCancellation& operator=(const NoCancellation&) = delete;

 private:
  int before_ = 0;
};

}  // namespace softdat::rds

#endif  // SOFTDAT_RDS_PRELOAD_LIBRDS_H_
