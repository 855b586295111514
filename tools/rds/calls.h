// SPDX-License-Identifier: BSD-3-Clause
// The calls of an RDS socket, of librds.so or of the kernel, and what their failures mean.
#ifndef SOFTDAT_TOOLS_RDS_CALLS_H_
#define SOFTDAT_TOOLS_RDS_CALLS_H_

#include <sys/socket.h>
#include <sys/types.h>

#include <string>
#include <utility>

#include "tools/common/outcome.h"

namespace softdat::tools {

// One table for each kind of RDS, so that a tool measures both with the same code. poll and fcntl
// are libc's with both.
struct RdsCalls {
  bool kernel;
  int (*socket)(int domain, int type, int protocol);
  int (*close)(int fd);
  int (*bind)(int fd, const sockaddr* address, socklen_t length);
  int (*getsockname)(int fd, sockaddr* address, socklen_t* length);
  ssize_t (*sendmsg)(int fd, const msghdr* message, int flags);
  ssize_t (*recvmsg)(int fd, msghdr* message, int flags);
  int (*setsockopt)(int fd, int level, int name, const void* value, socklen_t length);
  int (*getsockopt)(int fd, int level, int name, void* value, socklen_t* length);
  int (*ioctl)(int fd, unsigned long request, void* argument);
};

const RdsCalls& LibraryCalls();  // librds.so
const RdsCalls& KernelCalls();   // libc; under librds_preload.so these lead to librds.so, too

// The failure of a call: what was done, the error, and what the user can do about it, if that is
// known. `what` is the name of the call, with its object: "bind to 10.0.0.1".
Outcome RdsFailure(const RdsCalls& calls, const std::string& what, int error);
// The remedy alone, or "".
std::string RdsRemedy(bool kernel, const std::string& what, int error);

// A socket that is closed when its owner goes.
class RdsSocket {
 public:
  RdsSocket() = default;
  RdsSocket(RdsSocket&& other) noexcept : calls_(other.calls_), fd_(std::exchange(other.fd_, -1)) {}
  RdsSocket& operator=(RdsSocket&& other) noexcept {
    std::swap(calls_, other.calls_);
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~RdsSocket() {
    if (fd_ >= 0) calls_->close(fd_);
  }

  // Makes the socket and binds it. Port 0 stands for any. `flags`: SOCK_NONBLOCK or 0.
  Outcome Open(const RdsCalls& calls, const sockaddr_storage& address, int flags);
  // Makes it without a name.
  Outcome OpenUnbound(const RdsCalls& calls);
  Outcome SetTypeOfService(uint8_t tos);
  int fd() const { return fd_; }
  const RdsCalls& calls() const { return *calls_; }

 private:
  const RdsCalls* calls_ = nullptr;
  int fd_ = -1;
};

// Of the family of the address.
socklen_t AddressLength(const sockaddr_storage& address);
uint16_t PortOf(const sockaddr_storage& address);
void SetPort(sockaddr_storage* address, uint16_t port);
bool SameHost(const sockaddr_storage& one, const sockaddr_storage& other);

// The address of this host from which `destination` is reached, with port 0. Sends nothing.
Outcome SourceFor(const sockaddr_storage& destination, sockaddr_storage* source);

}  // namespace softdat::tools

#endif  // SOFTDAT_TOOLS_RDS_CALLS_H_
