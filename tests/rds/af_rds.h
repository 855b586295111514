// SPDX-License-Identifier: BSD-3-Clause
// AF_RDS sockets by the calls of libc, and what the tests of them share. The tests know nothing of
// SoftDAT: over librds_preload.so and over a kernel with RDS they are the same program.
#ifndef SOFTDAT_TESTS_RDS_AF_RDS_H_
#define SOFTDAT_TESTS_RDS_AF_RDS_H_

#include <linux/rds.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace softdat::rds_test {

// Whether the tests run over the kernel's RDS, and so see the difference of that name: one of
// tests/rds/kernel_differences.csv. Says so on standard output, for tests/vm/check, which holds the
// list against it.
bool KernelDiffers(const char* name);

// SOFTDAT_TEST_RDS_ADDRESS, or 127.0.0.1.
sockaddr_in AddressOf(uint16_t port);

// A socket, closed at the end.
class Rds {
 public:
  // Bound to a free port, unless `port` says which. Fails the test when that fails.
  static Rds Bound(uint16_t port = 0);
  Rds();
  void Bind(uint16_t port = 0) const;
  Rds(Rds&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  Rds& operator=(Rds&&) = delete;
  ~Rds() { Close(); }

  operator int() const { return fd_; }
  void Close();
  uint16_t port() const;

 private:
  int fd_;
};

// Control messages for a send.
class Controls {
 public:
  Controls& Add(int type, const void* data, size_t size, int level = SOL_RDS);
  Controls& Map(void* at, size_t size, rds_rdma_cookie_t* cookie, uint64_t flags = 0);
  Controls& Destination(rds_rdma_cookie_t cookie);
  // `offset` and `remote`: in the cookie's area.
  Controls& Rdma(rds_rdma_cookie_t cookie, uint64_t offset, uint64_t remote,
                 const std::vector<rds_iovec>& local, uint64_t flags, uint64_t token = 0);
  Controls& FetchAdd(rds_rdma_cookie_t cookie, uint64_t offset, uint64_t* old, uint64_t add,
                     uint64_t flags, uint64_t token = 0);
  Controls& CompareSwap(rds_rdma_cookie_t cookie, uint64_t offset, uint64_t* old, uint64_t compare,
                        uint64_t swap, uint64_t flags, uint64_t token = 0);
  const std::vector<uint8_t>& octets() const { return octets_; }

 private:
  std::vector<uint8_t> octets_;
  std::vector<std::vector<rds_iovec>> areas_;
};

inline rds_iovec Piece(const void* at, size_t size) {
  return {reinterpret_cast<uintptr_t>(at), size};
}

// sendmsg. Returns what it returns, or a negative errno.
ssize_t Send(int fd, const std::optional<sockaddr_in>& to, const std::string& payload,
             const Controls& controls = {}, int flags = 0);

// What one recvmsg gave.
struct Got {
  ssize_t result = 0;  // or a negative errno
  std::string payload;
  sockaddr_in from{};
  socklen_t name_length = 0;
  int flags = 0;
  std::vector<int> types;         // of the control messages, in order
  std::vector<uint8_t> controls;  // the data of the last one of them
  std::optional<rds_rdma_cookie_t> cookie;
  std::vector<rds_rdma_notify> statuses;
  std::optional<uint64_t> freed;

  uint16_t port() const { return ntohs(from.sin_port); }
};
Got Receive(int fd, int flags = 0, size_t room = 1 << 20, size_t control_room = 512);
// The next message; operations that end before it are put into `statuses`.
Got ReceiveMessage(int fd, std::vector<rds_rdma_notify>* statuses = nullptr);
// The next end of an operation.
rds_rdma_notify ReceiveStatus(int fd);

// Another process, which does `what` and exits. It is best made before this one has bound a socket:
// a child of a process with threads cannot rely on the allocator of a sanitizer. Its end of a pair
// of sockets is for both to wait for each other. Failures of checks in it are failures of the test.
class Process {
 public:
  explicit Process(const std::function<void(int line)>& what);
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process() { Join(); }

  int line() const { return line_; }
  void Join();
  void Kill();
  // Nothing of it runs when Stop() returns.
  void Stop();
  void Continue();

 private:
  pid_t pid_ = -1;
  int line_ = -1;
};
// Values over a line between processes.
void Tell(int line, uint64_t value);
uint64_t Hear(int line);

// Polls once for `ms`. Returns the events.
short Poll(int fd, short events, int ms = 0);

}  // namespace softdat::rds_test

#endif  // SOFTDAT_TESTS_RDS_AF_RDS_H_
