// SPDX-License-Identifier: BSD-3-Clause
// Thread-local variables of the shared libraries.
#ifndef SOFTDAT_DAT_BASE_THREAD_LOCAL_H_
#define SOFTDAT_DAT_BASE_THREAD_LOCAL_H_

// Put this behind the name of a thread_local variable of a library that may be loaded at run time.
// It places the variable in the block that each thread has from its start. Otherwise the first
// access of a thread takes memory from the heap, in the middle of a transfer, and the dynamic
// linker ends the process when there is no memory. The block has room for few variables of such
// libraries, so use this for pointers and counters only. build_defs/exports_test.sh makes sure that
// no variable is forgotten.
#define SOFTDAT_EARLY_TLS __attribute__((tls_model("initial-exec")))

#endif  // SOFTDAT_DAT_BASE_THREAD_LOCAL_H_
