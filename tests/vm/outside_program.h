// SPDX-License-Identifier: BSD-3-Clause
// A program in the network of process 1, where the RDMA device is, started by one that sits in
// another network namespace.
#ifndef SOFTDAT_TESTS_VM_OUTSIDE_PROGRAM_H_
#define SOFTDAT_TESTS_VM_OUTSIDE_PROGRAM_H_

#include <sys/types.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace softdat::vm_test {

class OutsideProgram {
 public:
  // It is ended when it has not come to an end by itself for a minute.
  explicit OutsideProgram(std::vector<std::string> command);
  ~OutsideProgram();
  OutsideProgram(const OutsideProgram&) = delete;
  OutsideProgram& operator=(const OutsideProgram&) = delete;

  // The next line that it prints, to either stream; nothing when it has ended.
  std::string Line();
  // All that it prints until it has ended, line by line.
  std::vector<std::string> Rest();

 private:
  pid_t pid_ = -1;
  int input_ = -1;
  std::FILE* output_ = nullptr;
};

// Whether somebody listens there by TCP, within the patience.
bool SomebodyListensOutside(uint16_t port);

}  // namespace softdat::vm_test

#endif  // SOFTDAT_TESTS_VM_OUTSIDE_PROGRAM_H_
