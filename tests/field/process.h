// SPDX-License-Identifier: BSD-3-Clause
// What this process uses, as /proc tells.
#ifndef SOFTDAT_TESTS_FIELD_PROCESS_H_
#define SOFTDAT_TESTS_FIELD_PROCESS_H_

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <vector>

namespace softdat::field {

// Open descriptors now.
std::set<int> OpenDescriptors();
size_t Threads();
// Bytes of physical memory that only this process uses.
size_t PrivateBytes();
// What a descriptor is, "socket:[4711]".
std::string DescriptorName(int fd);
// Descriptors that an exec'd program would inherit.
std::vector<int> Inheritable(const std::set<int>& fds);
// Looks again, yielding, until `condition` holds; false when it does not for half a minute.
bool Eventually(const std::function<bool()>& condition);

// Forks a child that ends with the answer of `body` as its exit status, and by SIGALRM when it
// hangs.
int StartChild(const std::function<int()>& body);
// How a forked child ended: its exit status, or 1000 + the signal that killed it, or -1 when it had
// not ended after half a minute (it is killed then).
int WaitForChild(int pid);

}  // namespace softdat::field

#endif  // SOFTDAT_TESTS_FIELD_PROCESS_H_
