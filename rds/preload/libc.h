// SPDX-License-Identifier: BSD-3-Clause
// The functions of libc behind those of this library, which has taken their names.
//
// Nothing here allocates or takes a lock once a function is known, and all are known from the
// constructor of this library on. Calls may come before: from the constructors of other libraries,
// and from what dlsym itself calls. They are looked up then, and while dlsym runs, a system call
// takes their place. errno is as the function of libc leaves it.
#ifndef SOFTDAT_RDS_PRELOAD_LIBC_H_
#define SOFTDAT_RDS_PRELOAD_LIBC_H_

#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <ctime>

namespace softdat::rds {

// The next definition of a function after this library's. nullptr if there is none, and while dlsym
// runs in this thread;
// `*lasting`: there will be none.
void* NextDefinition(const char* name, bool* lasting);

template <typename Function>
class LibcCall {
 public:
  // `plain` does the same by a system call.
  constexpr LibcCall(const char* name, Function* plain) : name_(name), plain_(plain) {}
  LibcCall(const LibcCall&) = delete;
  LibcCall& operator=(const LibcCall&) = delete;

  template <typename... Arguments>
  auto operator()(Arguments... arguments) {
    return Get()(arguments...);
  }

  Function* Get() {
    Function* const found = found_.load(std::memory_order_relaxed);
    return found != nullptr ? found : Find();
  }

 private:
  __attribute__((noinline)) Function* Find() {
    bool lasting = false;
    auto* found = reinterpret_cast<Function*>(NextDefinition(name_, &lasting));
    if (found == nullptr) found = plain_;
    if (lasting) found_.store(found, std::memory_order_relaxed);
    return found;
  }

  const char* const name_;
  Function* const plain_;
  std::atomic<Function*> found_{nullptr};
};

// The system call of that number, as a function.
template <long kNumber, typename Function>
struct SystemCall;
template <long kNumber, typename Result, typename... Arguments>
struct SystemCall<kNumber, Result(Arguments...)> {
  static Result Call(Arguments... arguments) {
    return static_cast<Result>(syscall(kNumber, arguments...));
  }
};

// Those that are no system call with the same arguments.
namespace plain {
int Accept(int fd, sockaddr* address, socklen_t* length);
void CloseFrom(int first);
int Dup2(int fd, int copy);
int Fcntl(int fd, int command, ...);
int Ioctl(int fd, unsigned long request, ...);
ssize_t Recv(int fd, void* data, size_t size, int flags);
ssize_t Send(int fd, const void* data, size_t size, int flags);
ssize_t ReadChecked(int fd, void* data, size_t size, size_t room);
ssize_t RecvChecked(int fd, void* data, size_t size, size_t room, int flags);
ssize_t RecvFromChecked(int fd, void* data, size_t size, size_t room, int flags, sockaddr* from,
                        socklen_t* length);
}  // namespace plain

// CALL(name, type): a system call of that name. OTHER(name, type, what takes its place).
#define SOFTDAT_RDS_LIBC(CALL, OTHER)                                                    \
  CALL(accept4, int(int, sockaddr*, socklen_t*, int))                                    \
  CALL(bind, int(int, const sockaddr*, socklen_t))                                       \
  CALL(close, int(int))                                                                  \
  CALL(close_range, int(unsigned, unsigned, int))                                        \
  CALL(connect, int(int, const sockaddr*, socklen_t))                                    \
  CALL(dup, int(int))                                                                    \
  CALL(dup3, int(int, int, int))                                                         \
  CALL(getpeername, int(int, sockaddr*, socklen_t*))                                     \
  CALL(getsockname, int(int, sockaddr*, socklen_t*))                                     \
  CALL(getsockopt, int(int, int, int, void*, socklen_t*))                                \
  CALL(listen, int(int, int))                                                            \
  CALL(read, ssize_t(int, void*, size_t))                                                \
  CALL(readv, ssize_t(int, const iovec*, int))                                           \
  CALL(recvfrom, ssize_t(int, void*, size_t, int, sockaddr*, socklen_t*))                \
  CALL(recvmmsg, int(int, mmsghdr*, unsigned, int, timespec*))                           \
  CALL(recvmsg, ssize_t(int, msghdr*, int))                                              \
  CALL(sendfile, ssize_t(int, int, off_t*, size_t))                                      \
  CALL(sendmmsg, int(int, mmsghdr*, unsigned, int))                                      \
  CALL(sendmsg, ssize_t(int, const msghdr*, int))                                        \
  CALL(sendto, ssize_t(int, const void*, size_t, int, const sockaddr*, socklen_t))       \
  CALL(setsockopt, int(int, int, int, const void*, socklen_t))                           \
  CALL(shutdown, int(int, int))                                                          \
  CALL(socket, int(int, int, int))                                                       \
  CALL(socketpair, int(int, int, int, int*))                                             \
  CALL(splice, ssize_t(int, off64_t*, int, off64_t*, size_t, unsigned))                  \
  CALL(write, ssize_t(int, const void*, size_t))                                         \
  CALL(writev, ssize_t(int, const iovec*, int))                                          \
  OTHER(accept, int(int, sockaddr*, socklen_t*), plain::Accept)                          \
  OTHER(closefrom, void(int), plain::CloseFrom)                                          \
  OTHER(dup2, int(int, int), plain::Dup2)                                                \
  OTHER(fcntl, int(int, int, ...), plain::Fcntl)                                         \
  OTHER(fcntl64, int(int, int, ...), plain::Fcntl)                                       \
  OTHER(ioctl, int(int, unsigned long, ...), plain::Ioctl)                               \
  OTHER(recv, ssize_t(int, void*, size_t, int), plain::Recv)                             \
  OTHER(send, ssize_t(int, const void*, size_t, int), plain::Send)                       \
  OTHER(__read_chk, ssize_t(int, void*, size_t, size_t), plain::ReadChecked)             \
  OTHER(__recv_chk, ssize_t(int, void*, size_t, size_t, int), plain::RecvChecked)        \
  OTHER(__recvfrom_chk, ssize_t(int, void*, size_t, size_t, int, sockaddr*, socklen_t*), \
        plain::RecvFromChecked)

// The members have the names of the functions.
struct Libc {
#define CALL(function, type) \
  LibcCall<type> function{#function, SystemCall<SYS_##function, type>::Call};
#define OTHER(function, type, instead) LibcCall<type> function{#function, instead};
  SOFTDAT_RDS_LIBC(CALL, OTHER)
#undef CALL
#undef OTHER
};

extern Libc libc;

}  // namespace softdat::rds

#endif  // SOFTDAT_RDS_PRELOAD_LIBC_H_
