// SPDX-License-Identifier: BSD-3-Clause
// The descriptor of a socket: one end of a pair of unix sockets, whose state poll, select and epoll
// see. It can be read while a byte has been written into the other end, and written while its own
// send buffer is empty.
#ifndef SOFTDAT_RDS_API_READINESS_H_
#define SOFTDAT_RDS_API_READINESS_H_

namespace softdat::rds {

class Readiness {
 public:
  Readiness() = default;
  Readiness(const Readiness&) = delete;
  Readiness& operator=(const Readiness&) = delete;
  // Closes the own end. The program's is the program's to close.
  ~Readiness();

  // `flags`: SOCK_NONBLOCK and SOCK_CLOEXEC, of the program's end. 0 or an errno. It can be written
  // and not read then.
  int Open(int flags);
  int program_end() const { return program_; }
  int own_end() const { return own_; }
  // The program has closed the descriptor, and has this one for the same socket.
  void SetProgramEnd(int fd) { program_ = fd; }

  // Each costs a system call when it changes something, else nothing.
  void SetReadable(bool readable);
  void SetWritable(bool writable);

 private:
  int program_ = -1;
  int own_ = -1;
  bool readable_ = false;
  bool writable_ = true;
};

}  // namespace softdat::rds

#endif  // SOFTDAT_RDS_API_READINESS_H_
