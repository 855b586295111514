// SPDX-License-Identifier: BSD-3-Clause
// A program in the network of process 1, where the RDMA device is. The program that starts it is in
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
  // The destructor ends the program if it has not ended by itself within a minute.
  explicit OutsideProgram(std::vector<std::string> command);
  ~OutsideProgram();
  OutsideProgram(const OutsideProgram&) = delete;
  OutsideProgram& operator=(const OutsideProgram&) = delete;

  // The next line that the program prints, to either stream. Nothing when it has ended.
  std::string Line();
  // All lines that the program prints until it has ended.
  std::vector<std::string> Rest();

 private:
  pid_t pid_ = -1;
  int input_ = -1;
  std::FILE* output_ = nullptr;
};

// Whether somebody listens on that port by TCP, within the patience.
bool SomebodyListensOutside(uint16_t port);
// The same by rdma_cm, which over RoCE opens no socket.
bool SomebodyListensByRdma(uint16_t port);

}  // namespace softdat::vm_test

#endif  // SOFTDAT_TESTS_VM_OUTSIDE_PROGRAM_H_
