// SPDX-License-Identifier: BSD-3-Clause
#include "tests/rds/af_rds.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace softdat::rds_test {

namespace {
bool IsKernel() {
  const char* const over = std::getenv("SOFTDAT_TEST_RDS");
  return over != nullptr && std::strcmp(over, "kernel") == 0;
}
}  // namespace

bool KernelDiffers(const char* name) {
  if (!IsKernel()) return false;
  std::printf("[ DIFFERS  ] %s\n", name);
  std::fflush(stdout);  // a child of fork ends without that
  return true;
}

sockaddr_in AddressOf(uint16_t port) {
  const char* const set = std::getenv("SOFTDAT_TEST_RDS_ADDRESS");
  sockaddr_in out{};
  out.sin_family = AF_INET;
  out.sin_port = htons(port);
  EXPECT_EQ(inet_pton(AF_INET, set == nullptr ? "127.0.0.1" : set, &out.sin_addr), 1);
  return out;
}

// ---- sockets ----

Rds::Rds() : fd_(socket(AF_RDS, SOCK_SEQPACKET, 0)) { EXPECT_GE(fd_, 0) << strerror(errno); }

Rds Rds::Bound(uint16_t port) {
  Rds out;
  out.Bind(port);
  return out;
}

void Rds::Bind(uint16_t port) const {
  const sockaddr_in name = AddressOf(port);
  EXPECT_EQ(bind(fd_, reinterpret_cast<const sockaddr*>(&name), sizeof name), 0) << strerror(errno);
}

void Rds::Close() {
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
}

uint16_t Rds::port() const {
  sockaddr_in name{};
  socklen_t length = sizeof name;
  EXPECT_EQ(getsockname(fd_, reinterpret_cast<sockaddr*>(&name), &length), 0);
  return ntohs(name.sin_port);
}

// ---- control messages ----

Controls& Controls::Add(int type, const void* data, size_t size, int level) {
  const size_t at = octets_.size();
  octets_.resize(at + CMSG_SPACE(size));
  const struct {
    size_t length;
    int level, type;
  } header{CMSG_LEN(size), level, type};
  std::memcpy(&octets_[at], &header, sizeof header);
  if (size > 0) std::memcpy(&octets_[at + CMSG_LEN(0)], data, size);
  return *this;
}

Controls& Controls::Map(void* at, size_t size, rds_rdma_cookie_t* cookie, uint64_t flags) {
  rds_get_mr_args args{};
  args.vec = Piece(at, size);
  args.cookie_addr = reinterpret_cast<uintptr_t>(cookie);
  args.flags = flags;
  return Add(RDS_CMSG_RDMA_MAP, &args, sizeof args);
}

Controls& Controls::Destination(rds_rdma_cookie_t cookie) {
  return Add(RDS_CMSG_RDMA_DEST, &cookie, sizeof cookie);
}

Controls& Controls::Rdma(rds_rdma_cookie_t cookie, uint64_t offset, uint64_t remote,
                         const std::vector<rds_iovec>& local, uint64_t flags, uint64_t token) {
  areas_.push_back(local);
  rds_rdma_args args{};
  args.cookie = cookie;
  args.remote_vec = {offset, remote};
  args.local_vec_addr = reinterpret_cast<uintptr_t>(areas_.back().data());
  args.nr_local = areas_.back().size();
  args.flags = flags;
  args.user_token = token;
  return Add(RDS_CMSG_RDMA_ARGS, &args, sizeof args);
}

Controls& Controls::FetchAdd(rds_rdma_cookie_t cookie, uint64_t offset, uint64_t* old, uint64_t add,
                             uint64_t flags, uint64_t token) {
  rds_atomic_args args{};
  args.cookie = cookie;
  args.local_addr = reinterpret_cast<uintptr_t>(old);
  args.remote_addr = offset;
  args.fadd.add = add;
  args.flags = flags;
  args.user_token = token;
  return Add(RDS_CMSG_ATOMIC_FADD, &args, sizeof args);
}

Controls& Controls::CompareSwap(rds_rdma_cookie_t cookie, uint64_t offset, uint64_t* old,
                                uint64_t compare, uint64_t swap, uint64_t flags, uint64_t token) {
  rds_atomic_args args{};
  args.cookie = cookie;
  args.local_addr = reinterpret_cast<uintptr_t>(old);
  args.remote_addr = offset;
  args.cswp.compare = compare;
  args.cswp.swap = swap;
  args.flags = flags;
  args.user_token = token;
  return Add(RDS_CMSG_ATOMIC_CSWP, &args, sizeof args);
}

// ---- messages ----

namespace {

ssize_t SendOnce(int fd, const std::optional<sockaddr_in>& to, const std::string& payload,
                 const Controls& controls, int flags) {
  iovec part{const_cast<char*>(payload.data()), payload.size()};
  msghdr message{};
  if (to) {
    message.msg_name = const_cast<sockaddr_in*>(&*to);
    message.msg_namelen = sizeof *to;
  }
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = const_cast<uint8_t*>(controls.octets().data());
  message.msg_controllen = controls.octets().size();
  const ssize_t sent = sendmsg(fd, &message, flags);
  return sent < 0 ? -errno : sent;
}

}  // namespace

ssize_t Send(int fd, const std::optional<sockaddr_in>& to, const std::string& payload,
             const Controls& controls, int flags) {
  ssize_t sent = SendOnce(fd, to, payload, controls, flags);
  if (!IsKernel() || sent != -EAGAIN || (flags & MSG_DONTWAIT) != 0) return sent;
  KernelDiffers("mapping before a connection");
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (sent == -EAGAIN && std::chrono::steady_clock::now() < end) {
    Poll(-1, 0, 10);
    sent = SendOnce(fd, to, payload, controls, flags);
  }
  return sent;
}

namespace {

void ReadControls(const msghdr& message, Got* got) {
  size_t at = 0;
  const auto* const octets = static_cast<const uint8_t*>(message.msg_control);
  while (at + CMSG_LEN(0) <= message.msg_controllen) {
    struct {
      size_t length;
      int level, type;
    } header;
    std::memcpy(&header, octets + at, sizeof header);
    got->types.push_back(header.type);
    const uint8_t* const data = octets + at + CMSG_LEN(0);
    got->controls.assign(data, octets + at + header.length);
    if (header.level == SOL_RDS && header.type == RDS_CMSG_RDMA_DEST) {
      std::memcpy(&got->cookie.emplace(), data, sizeof *got->cookie);
    } else if (header.level == SOL_RDS && header.type == RDS_CMSG_RDMA_STATUS) {
      std::memcpy(&got->statuses.emplace_back(), data, sizeof(rds_rdma_notify));
    } else if (header.level == SOL_RDS && header.type == RDS_CMSG_CONG_UPDATE) {
      std::memcpy(&got->freed.emplace(), data, sizeof *got->freed);
    }
    at += CMSG_ALIGN(header.length);
  }
}

}  // namespace

Got Receive(int fd, int flags, size_t room, size_t control_room) {
  Got got;
  // Kept, because a sanitizer makes a fresh one costly.
  thread_local std::vector<char> buffer;
  if (buffer.size() < room) buffer.resize(room);
  std::vector<uint8_t> controls(control_room);
  iovec part{buffer.data(), room};
  msghdr message{};
  message.msg_name = &got.from;
  message.msg_namelen = sizeof got.from;
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control_room == 0 ? nullptr : controls.data();
  message.msg_controllen = control_room;
  got.result = recvmsg(fd, &message, flags);
  if (got.result < 0) {
    got.result = -errno;
    return got;
  }
  got.payload.assign(buffer.data(), std::min(room, static_cast<size_t>(got.result)));
  got.name_length = message.msg_namelen;
  got.flags = message.msg_flags;
  ReadControls(message, &got);
  return got;
}

Got ReceiveMessage(int fd, std::vector<rds_rdma_notify>* statuses) {
  while (true) {
    Got got = Receive(fd);
    if (got.result < 0 || (got.statuses.empty() && !got.freed)) return got;
    if (statuses != nullptr) {
      statuses->insert(statuses->end(), got.statuses.begin(), got.statuses.end());
    }
  }
}

rds_rdma_notify ReceiveStatus(int fd) {
  const Got got = Receive(fd, 0, 1 << 20, CMSG_SPACE(sizeof(rds_rdma_notify)));
  EXPECT_EQ(got.statuses.size(), 1u) << "a message of " << got.result;
  return got.statuses.empty() ? rds_rdma_notify{} : got.statuses.front();
}

short Poll(int fd, short events, int ms) {
  // News of congestion that nobody has asked about are told once.
  pollfd p{fd, static_cast<short>(events | (IsKernel() ? POLLWRBAND : 0)), 0};
  do {
    EXPECT_GE(poll(&p, 1, ms), 0);
  } while ((p.revents & ~events & POLLWRBAND) != 0 && KernelDiffers("old news of congestion"));
  return p.revents;
}

// ---- processes ----

Process::Process(const std::function<void(int line)>& what) {
  int ends[2];
  EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  pid_ = fork();
  if (pid_ == 0) {
    close(ends[0]);
    what(ends[1]);
    _exit(testing::Test::HasFailure() ? 1 : 0);
  }
  close(ends[1]);
  line_ = ends[0];
}

void Process::Join() {
  if (pid_ < 0) return;
  close(line_);
  int status = 0;
  EXPECT_EQ(waitpid(pid_, &status, 0), pid_);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "status " << status;
  pid_ = -1;
}

void Process::Kill() {
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  close(line_);
  pid_ = -1;
}

void Process::Stop() {
  kill(pid_, SIGSTOP);
  int status = 0;
  EXPECT_EQ(waitpid(pid_, &status, WUNTRACED), pid_);
  EXPECT_TRUE(WIFSTOPPED(status));
}

void Process::Continue() { kill(pid_, SIGCONT); }

void Tell(int line, uint64_t value) {
  EXPECT_EQ(send(line, &value, sizeof value, MSG_NOSIGNAL), static_cast<ssize_t>(sizeof value));
}

uint64_t Hear(int line) {
  uint64_t value = 0;
  EXPECT_EQ(recv(line, &value, sizeof value, MSG_WAITALL), static_cast<ssize_t>(sizeof value));
  return value;
}

}  // namespace softdat::rds_test
