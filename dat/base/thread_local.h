// SPDX-License-Identifier: BSD-3-Clause
// Thread-local words of the shared libraries.
#ifndef SOFTDAT_DAT_BASE_THREAD_LOCAL_H_
#define SOFTDAT_DAT_BASE_THREAD_LOCAL_H_

// Behind the name of a thread_local variable that may be part of a library that is loaded later.
// Its place is in the block that each thread has from its start. Without it the first access of a
// thread takes memory from the heap, in the middle of a transfer, and the dynamic linker ends the
// process where there is none. That block has room for few words of such libraries: for pointers
// and counters only. build_defs/exports_test.sh sees to it that none is forgotten.
#define SOFTDAT_EARLY_TLS __attribute__((tls_model("initial-exec")))

#endif  // SOFTDAT_DAT_BASE_THREAD_LOCAL_H_
