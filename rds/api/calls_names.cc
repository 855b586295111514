// SPDX-License-Identifier: BSD-3-Clause
// Calls that make, name and set up sockets.
#include <fcntl.h>
#include <limits.h>
#include <linux/rds.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>

#include <cerrno>

#include "rds/api/arguments.h"
#include "rds/api/call.h"
#include "rds/api/kernel_calls.h"
#include "rds/socket/info.h"
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
    auto lock = library.Lock();
    return ResultOf(library.Close(lock, fd));
  });
}

int rds_forget(int fd) {
  return Guarded([&] {
    Library& library = Library::Get();
    auto lock = library.Lock();
    return ResultOf(library.Forget(lock, fd) ? 0 : EBADF);
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
    sockaddr_storage copy;
    if (const int error = ReadName(address, length, &copy); error != 0) return Failed(error);
    SocketName name;
    const int error = ParseBindName(reinterpret_cast<sockaddr*>(&copy), length, &name);
    if (error != 0) return Failed(error);
    if (open.socket->bound()) return Failed(EINVAL);
    return ResultOf(library.Bind(open, name));
  });
}

int rds_connect(int fd, const sockaddr* address, socklen_t length) {
  return OnSocket(fd, [&](Library&, OpenSocket& open) {
    sockaddr_storage copy;
    if (const int error = ReadName(address, length, &copy); error != 0) return Failed(error);
    SocketName name;
    const int error = ParseConnectName(reinterpret_cast<sockaddr*>(&copy), length, &name);
    if (error != 0) return Failed(error);
    if (!AreOfOneLink(open.socket->name().address, name.address)) return Failed(EINVAL);
    open.socket->SetPeer(name);
    return 0;
  });
}

int rds_getsockname(int fd, sockaddr* address, socklen_t* length) {
  return OnSocket(fd, [&](Library&, OpenSocket& open) {
    const Socket& socket = *open.socket;
    if (socket.bound()) return ResultOf(WriteName(Raw(socket.name()), address, length));
    // Of one that is only connected the family is known.
    RawName none;
    none.length = sizeof(sockaddr_in);
    if (socket.peer()) {
      none.storage.ss_family = socket.peer()->address.ipv6 ? AF_INET6 : AF_INET;
      none.length = Raw(*socket.peer()).length;
    }
    return ResultOf(WriteName(none, address, length));
  });
}

int rds_getpeername(int fd, sockaddr* address, socklen_t* length) {
  return OnSocket(fd, [&](Library&, OpenSocket& open) {
    if (!open.socket->peer()) return Failed(ENOTCONN);
    return ResultOf(WriteName(Raw(*open.socket->peer()), address, length));
  });
}

int rds_setsockopt(int fd, int level, int name, const void* value, socklen_t length) {
  return Guarded([&]() -> int {
    if (!Library::IsSocket(fd)) return Failed(EBADF);
    Library& library = Library::Get();
    auto lock = library.Lock();
    const std::shared_ptr<OpenSocket> open = library.Find(fd);
    if (open == nullptr || open->socket == nullptr) return Failed(EBADF);
    const Time now = Now();
    const int error = SetOption(library.node(), *open->socket, level, name, value, length, now);
    library.Touch(*open);
    library.Settle(now);
    if (level == SOL_RDS && name == RDS_CANCEL_SENT_TO) {
      library.EndWork(lock, open->driver, open->socket->id());
    }
    return ResultOf(error);
  });
}

namespace {

// Returns the size of an item. The length is told when there is too little room for all, too.
// Nobody waits for the library while other processes are asked.
int TellInfo(int fd, const InfoOption& option, void* value, socklen_t* length) {
  socklen_t room = 0;
  Info info;
  Instance self;
  {
    Library& library = Library::Get();
    const auto lock = library.Lock();
    if (library.Find(fd) == nullptr) return Failed(EBADF);
    if (const int error = ReadArgument(length, &room); error != 0) return Failed(error);
    // A program whose buffer is no good need not wait for the lists.
    if (const int error = CheckInfoBuffer(value, room); error != 0) return Failed(error);
    info = library.CollectInfo();
    self = library.self();
  }
  info += AskOthers(self);
  const int size = GiveInfo(EncodeInfo(info, option), value, &room);
  if (size < 0 && size != -ENOSPC) return Failed(-size);
  if (const int error = WriteArgument(room, length); error != 0) return Failed(error);
  return size < 0 ? Failed(-size) : size;
}

}  // namespace

int rds_getsockopt(int fd, int level, int name, void* value, socklen_t* length) {
  if (const auto info = InfoOptionOf(name); level == SOL_RDS && info && rds_is_socket(fd) != 0) {
    return Guarded([&] { return TellInfo(fd, *info, value, length); });
  }
  return OnSocket(fd, [&](Library&, OpenSocket& open) {
    socklen_t room = 0;
    if (const int error = ReadArgument(length, &room); error != 0) return Failed(error);
    if (room > INT_MAX) return Failed(EINVAL);
    const int error = GetOption(*open.socket, level, name, value, &room);
    return ResultOf(error != 0 ? error : WriteArgument(room, length));
  });
}

namespace {

// Once only, and before anything was sent: a connection has one type of service.
int SetTypeOfService(Socket& socket, const void* argument) {
  rds_tos_t wanted = 0;
  if (const int error = ReadArgument(argument, &wanted); error != 0) return error;
  if (!socket.bound()) return ENOTTY;
  if (socket.options().type_of_service != 0 || socket.has_sent()) return EINVAL;
  socket.options().type_of_service = wanted;
  return 0;
}

}  // namespace

int rds_ioctl(int fd, unsigned long request, void* argument) {
  return OnSocket(fd, [&](Library&, OpenSocket& open) {
    switch (request) {
      case SIOCRDSSETTOS:
        return ResultOf(SetTypeOfService(*open.socket, argument));
      case SIOCRDSGETTOS:
        return ResultOf(WriteArgument(open.socket->options().type_of_service, argument));
      case FIONBIO:
        return kernel::Ioctl(fd, FIONBIO, argument);
      default:
        return Failed(ENOTTY);
    }
  });
}
