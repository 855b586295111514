// SPDX-License-Identifier: BSD-3-Clause
// Arguments of calls that point to memory of the program. The kernel is asked to copy them, so that
// what points nowhere is an error and no signal.
#ifndef SOFTDAT_RDS_API_ARGUMENTS_H_
#define SOFTDAT_RDS_API_ARGUMENTS_H_

#include <limits.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

#include "rds/socket/address.h"
#include "rds/socket/program_memory.h"

namespace softdat::rds {

// Each returns 0 or an errno.

template <typename T>
int ReadArgument(const void* at, T* out) {
  return CopyFromProgram(reinterpret_cast<uintptr_t>(at), out, sizeof *out) ? 0 : EFAULT;
}
template <typename T>
int WriteArgument(const T& value, void* at) {
  return CopyToProgram(reinterpret_cast<uintptr_t>(at), &value, sizeof value) ? 0 : EFAULT;
}

// A name of bind and connect.
inline int ReadName(const sockaddr* name, socklen_t length, sockaddr_storage* out) {
  *out = {};
  if (length > sizeof *out) return EINVAL;
  return CopyFromProgram(reinterpret_cast<uintptr_t>(name), out, length) ? 0 : EFAULT;
}

// A name for getsockname and getpeername: as much of it as there is room for, and its length.
inline int WriteName(const RawName& name, sockaddr* to, socklen_t* length) {
  socklen_t room = 0;
  if (const int error = ReadArgument(length, &room); error != 0) return error;
  if (room > INT_MAX) return EINVAL;
  const size_t size = std::min(room, name.length);
  if (!CopyToProgram(reinterpret_cast<uintptr_t>(to), &name.storage, size)) return EFAULT;
  return WriteArgument(name.length, length);
}

}  // namespace softdat::rds

#endif  // SOFTDAT_RDS_API_ARGUMENTS_H_
