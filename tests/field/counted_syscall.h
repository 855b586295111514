// SPDX-License-Identifier: BSD-3-Clause
// A program that links this has a syscall() of its own in front of the C library's. The provider's
// bare system calls go through it.
#ifndef SOFTDAT_TESTS_FIELD_COUNTED_SYSCALL_H_
#define SOFTDAT_TESTS_FIELD_COUNTED_SYSCALL_H_

namespace softdat::field {

// The program defines it. It is told of each call and its result, on any thread.
void CountCall(long number, long result);

}  // namespace softdat::field

#endif  // SOFTDAT_TESTS_FIELD_COUNTED_SYSCALL_H_
