// SPDX-License-Identifier: BSD-3-Clause
// The resources that this process uses, according to /proc.
#ifndef SOFTDAT_TESTS_FIELD_PROCESS_H_
#define SOFTDAT_TESTS_FIELD_PROCESS_H_

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <vector>

namespace softdat::field {

// The descriptors that are open now.
std::set<int> OpenDescriptors();
size_t Threads();
// Bytes of physical memory that only this process uses.
size_t PrivateBytes();
// The kind and number of a descriptor, such as "socket:[4711]".
std::string DescriptorName(int fd);
// The descriptors that a program started by exec would inherit.
std::vector<int> Inheritable(const std::set<int>& fds);
// Tests `condition` again and again, yielding, until it holds. Returns false if it does not hold
// for half a minute.
bool Eventually(const std::function<bool()>& condition);

// Forks a child. Its exit status is the result of `body`. SIGALRM ends it if it hangs.
int StartChild(const std::function<int()>& body);
// Returns how a forked child ended: its exit status, or 1000 + the signal that killed it, or -1 if
// it had not ended after half a minute (it is killed then).
int WaitForChild(int pid);

}  // namespace softdat::field

#endif  // SOFTDAT_TESTS_FIELD_PROCESS_H_
