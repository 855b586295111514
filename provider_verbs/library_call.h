// SPDX-License-Identifier: BSD-3-Clause
// Calls of libibverbs and librdmacm in which they take a lock of the whole process: the lists of
// devices, and of ids. Neither library knows of fork. A child that was forked while another thread
// had such a lock would wait for it for ever, as soon as it opens a device of its own.
#ifndef SOFTDAT_PROVIDER_VERBS_LIBRARY_CALL_H_
#define SOFTDAT_PROVIDER_VERBS_LIBRARY_CALL_H_

namespace softdat::verbs {

// One call. While there is one, a fork waits, though at most for a second: a call that takes longer
// is in the kernel, where it has no such lock (Reaper). While a process forks, a new call waits.
// Not to be nested. Any thread.
class LibraryCall {
 public:
  LibraryCall();
  ~LibraryCall();
  LibraryCall(const LibraryCall&) = delete;
  LibraryCall& operator=(const LibraryCall&) = delete;
};

}  // namespace softdat::verbs

#endif  // SOFTDAT_PROVIDER_VERBS_LIBRARY_CALL_H_
