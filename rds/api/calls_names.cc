// SPDX-License-Identifier: BSD-3-Clause
// Calls that make, name and set up sockets.
#include <fcntl.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "rds/api/call.h"
#include "rds/api/kernel_calls.h"
#include "rds/socket/options.h"
#include "softdat/rds.h"

using namespace softdat::rds;

int rds_socket(int domain, int type, int protocol) {
  constexpr int kFlags = SOCK_NONBLOCK | SOCK_CLOEXEC;
  if (domain != AF_RDS) return Failed(EAFNOSUPPORT);
  if ((type & ~kFlags) != SOCK_SEQPACKET || protocol != 0) return Failed(ESOCKTNOSUPPORT);
  return Guarded([&]() -> int {
    Library& library = Library::Get();
    const auto lock = library.Lock();
    const int fd = library.Open(type & kFlags);
    return fd < 0 ? Failed(-fd) : fd;
  });
}

int rds_is_socket(int fd) { return Library::IsSocket(fd) ? 1 : 0; }

int rds_close(int fd) {
  return Guarded([&] {
    Library& library = Library::Get();
    const auto lock = library.Lock();
    return ResultOf(library.Close(fd));
  });
}

int rds_forget(int fd) {
  return Guarded([&] {
    Library& library = Library::Get();
    const auto lock = library.Lock();
    return ResultOf(library.Forget(fd) ? 0 : EBADF);
  });
}

int rds_duplicated(int fd, int copy) {
  return Guarded([&] {
    Library& library = Library::Get();
    const auto lock = library.Lock();
    return ResultOf(library.Duplicated(fd, copy));
  });
}

int rds_bind(int fd, const sockaddr* address, socklen_t length) {
  return OnSocket(fd, [&](Library& library, OpenSocket& open) {
    SocketName name;
    const int error = ParseBindName(address, length, &name);
    if (error != 0) return Failed(error);
    if (open.socket->bound()) return Failed(EINVAL);
    return ResultOf(library.Bind(open, name));
  });
}

int rds_connect(int fd, const sockaddr* address, socklen_t length) {
  return OnSocket(fd, [&](Library&, OpenSocket& open) {
    SocketName name;
    const int error = ParseConnectName(address, length, &name);
    if (error != 0) return Failed(error);
    open.socket->SetPeer(name);
    return 0;
  });
}

namespace {

int GiveName(const RawName& name, sockaddr* address, socklen_t* length) {
  if (address == nullptr || length == nullptr) return Failed(EFAULT);
  std::memcpy(address, &name.storage, std::min(*length, name.length));
  *length = name.length;
  return 0;
}

}  // namespace

int rds_getsockname(int fd, sockaddr* address, socklen_t* length) {
  return OnSocket(fd, [&](Library&, OpenSocket& open) {
    const Socket& socket = *open.socket;
    if (socket.bound()) return GiveName(Raw(socket.name()), address, length);
    // Of one that is only connected the family is known.
    RawName none;
    none.length = sizeof(sockaddr_in);
    if (socket.peer()) {
      none.storage.ss_family = socket.peer()->address.ipv6 ? AF_INET6 : AF_INET;
      none.length = Raw(*socket.peer()).length;
    }
    return GiveName(none, address, length);
  });
}

int rds_getpeername(int fd, sockaddr* address, socklen_t* length) {
  return OnSocket(fd, [&](Library&, OpenSocket& open) {
    if (!open.socket->peer()) return Failed(ENOTCONN);
    return GiveName(Raw(*open.socket->peer()), address, length);
  });
}

int rds_setsockopt(int fd, int level, int name, const void* value, socklen_t length) {
  return OnSocket(fd, [&](Library& library, OpenSocket& open) {
    const Time now = Now();
    const int error = SetOption(library.node(), *open.socket, level, name, value, length, now);
    library.Touch(open);
    library.Settle(now);
    return ResultOf(error);
  });
}

int rds_getsockopt(int fd, int level, int name, void* value, socklen_t* length) {
  return OnSocket(fd, [&](Library&, OpenSocket& open) {
    if (length == nullptr) return Failed(EFAULT);
    return ResultOf(GetOption(*open.socket, level, name, value, length));
  });
}

int rds_ioctl(int fd, unsigned long request, void* argument) {
  return OnSocket(fd, [&](Library&, OpenSocket& open) {
    switch (request) {
      case SIOCRDSSETTOS:
        if (argument == nullptr) return Failed(EFAULT);
        open.socket->options().type_of_service = *static_cast<rds_tos_t*>(argument);
        return 0;
      case SIOCRDSGETTOS:
        if (argument == nullptr) return Failed(EFAULT);
        *static_cast<rds_tos_t*>(argument) = open.socket->options().type_of_service;
        return 0;
      case FIONBIO:
        return kernel::Ioctl(fd, FIONBIO, argument);
      default:
        return Failed(ENOTTY);
    }
  });
}
