// SPDX-License-Identifier: BSD-3-Clause
// The descriptor of a socket: one end of a pair of unix sockets, whose state poll, select and epoll
// see. It can be read while a byte has been written into the other end, and written while its own
// send buffer is empty.
#ifndef SOFTDAT_RDS_API_READINESS_H_
#define SOFTDAT_RDS_API_READINESS_H_

#include <atomic>
#include <cstdint>

namespace softdat::rds {

class Readiness {
 public:
  Readiness() = default;
  Readiness(const Readiness&) = delete;
  Readiness& operator=(const Readiness&) = delete;
  ~Readiness() { Close(); }

  // `flags`: SOCK_NONBLOCK and SOCK_CLOEXEC, of the program's end. 0 or an errno. It can be written
  // and not read then.
  int Open(int flags);
  // Closes the own end. The program's is the program's to close.
  void Close();
  int program_end() const { return program_; }
  int own_end() const { return own_; }
  // The program has closed the descriptor, and has this one for the same socket.
  void SetProgramEnd(int fd) { program_ = fd; }

  // Each costs a system call when it changes something, else nothing.
  void SetReadable(bool readable);
  void SetWritable(bool writable);

  // As SetReadable(true), but it is left to Show(), which needs no lock: whoever it wakes wants the
  // library's at once. SetReadable(false) may come between the two, or while Show() is at work. One
  // thread calls both of these. Returns whether there is something to show.
  bool WillBeReadable();
  void Show();

 private:
  // What the descriptor says of reading. kDue: Show() will make it readable. kShowing: it is at
  // that. kTaken: as kShowing, but what it has sent was taken back already.
  enum class Reading : uint8_t { kHidden, kDue, kShowing, kTaken, kShown };

  bool Moves(Reading from, Reading to) { return reading_.compare_exchange_strong(from, to); }
  bool TakeBack();
  void Hide();

  int program_ = -1;
  int own_ = -1;
  // Show() moves kDue on to kShowing, and that or kTaken on to what is to come. All else is under
  // the library's lock.
  std::atomic<Reading> reading_{Reading::kHidden};
  bool writable_ = true;
};

}  // namespace softdat::rds

#endif  // SOFTDAT_RDS_API_READINESS_H_
