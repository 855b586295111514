// SPDX-License-Identifier: BSD-3-Clause
// No descriptor of the library is 0, 1 or 2. In a process that was started with one of them closed,
// as daemons and the ranks of an mpiexec are, the kernel would give these numbers to us, and what
// the program or its C library writes to "standard error", or closes, would be a connection.
#ifndef SOFTDAT_DAT_BASE_DESCRIPTOR_H_
#define SOFTDAT_DAT_BASE_DESCRIPTOR_H_

namespace softdat {

// Takes a new close-on-exec descriptor, or -1 with errno; returns it, or in place of 0, 1 and 2 a
// duplicate above them. -1 with errno when there is no number left for that; `fd` is closed then.
int AboveStandard(int fd);

// While one exists, 0, 1 and 2 are open, so that a library which makes descriptors of its own gets
// none of these numbers. To be kept for a few system calls only: what the program opens meanwhile
// does not get them either. Any thread.
class StandardDescriptorsTaken {
 public:
  StandardDescriptorsTaken();
  ~StandardDescriptorsTaken();
  StandardDescriptorsTaken(const StandardDescriptorsTaken&) = delete;
  StandardDescriptorsTaken& operator=(const StandardDescriptorsTaken&) = delete;

  // 0, or the error number for which one of them stayed closed.
  int error() const { return error_; }

 private:
  int error_ = 0;
};

}  // namespace softdat

#endif  // SOFTDAT_DAT_BASE_DESCRIPTOR_H_
