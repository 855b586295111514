// SPDX-License-Identifier: BSD-3-Clause
// What the calls of the library have in common: results as libc has them, and no exception that
// leaves them.
#ifndef SOFTDAT_RDS_API_CALL_H_
#define SOFTDAT_RDS_API_CALL_H_

#include <cerrno>
#include <memory>
#include <new>
#include <system_error>

#include "rds/api/library.h"

namespace softdat::rds {

inline int Failed(int error) {
  errno = error;
  return -1;
}

// 0 or an errno.
inline int ResultOf(int error) { return error == 0 ? 0 : Failed(error); }

// Without memory a call fails, and the program goes on.
template <typename Call>
auto Guarded(Call call) -> decltype(call()) {
  try {
    return call();
  } catch (const std::bad_alloc&) {
    return Failed(ENOMEM);
  } catch (const std::system_error&) {
    return Failed(ENOMEM);  // no thread
  }
}

// Makes the call on the socket that `fd` is, with the lock held.
template <typename Call>
int OnSocket(int fd, Call call) {
  return Guarded([&]() -> int {
    if (!Library::IsSocket(fd)) return Failed(EBADF);
    Library& library = Library::Get();
    const auto lock = library.Lock();
    const std::shared_ptr<OpenSocket> open = library.Find(fd);
    if (open == nullptr || open->socket == nullptr) return Failed(EBADF);
    return call(library, *open);
  });
}

}  // namespace softdat::rds

#endif  // SOFTDAT_RDS_API_CALL_H_
