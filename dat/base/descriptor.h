// SPDX-License-Identifier: BSD-3-Clause
// No descriptor of the library is 0, 1 or 2. Daemons and the ranks of an mpiexec may start with one
// of them closed, and the kernel would then give that number to us. The program or its C library
// would write its "standard error" into a connection, or close the connection.
#ifndef SOFTDAT_DAT_BASE_DESCRIPTOR_H_
#define SOFTDAT_DAT_BASE_DESCRIPTOR_H_

namespace softdat {

// Takes a new close-on-exec descriptor, or -1 with errno. Returns `fd` itself when it is above 2,
// else a duplicate that is. Returns -1 with errno, and closes `fd`, when no number is left for the
// duplicate.
int AboveStandard(int fd);

// While an object of this class exists, 0, 1 and 2 are open. A library that makes descriptors of
// its own then gets none of these numbers. Keep the object for a few system calls only, because
// what the program opens meanwhile does not get these numbers either. Any thread.
class StandardDescriptorsTaken {
 public:
  StandardDescriptorsTaken();
  ~StandardDescriptorsTaken();
  StandardDescriptorsTaken(const StandardDescriptorsTaken&) = delete;
  StandardDescriptorsTaken& operator=(const StandardDescriptorsTaken&) = delete;

  // 0, or the error number that kept one of them closed.
  int error() const { return error_; }

 private:
  int error_ = 0;
};

}  // namespace softdat

#endif  // SOFTDAT_DAT_BASE_DESCRIPTOR_H_
