// SPDX-License-Identifier: BSD-3-Clause
// A client and a server of AF_RDS in plain C, as one would write them for Linux. They say what went
// wrong, and nothing else.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/rds.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define MESSAGES 100
#define MANY 8

static void check(int right, const char* what) {
  if (right) return;
  printf("wrong: %s (%s)\n", what, strerror(errno));
  exit(1);
}

static int bound(struct sockaddr_in* name) {
  socklen_t length = sizeof *name;
  const int fd = socket(AF_RDS, SOCK_SEQPACKET, 0);
  check(fd >= 0, "socket");
  memset(name, 0, sizeof *name);
  name->sin_family = AF_INET;
  name->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  check(bind(fd, (struct sockaddr*)name, sizeof *name) == 0, "bind");
  check(getsockname(fd, (struct sockaddr*)name, &length) == 0 && name->sin_port != 0,
        "getsockname");
  return fd;
}

// Sends back what comes, until it is empty. Its size is not known to the compiler, so the checked
// variants are called.
static void serve(int line, size_t room) {
  struct sockaddr_in name;
  char data[256];
  const int fd = bound(&name);
  const int epoll = epoll_create1(0);
  struct epoll_event event = {.events = EPOLLIN};
  check(epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0, "epoll_ctl");
  check(write(line, &name, sizeof name) == sizeof name, "telling the name");
  while (1) {
    socklen_t length = sizeof name;
    check(epoll_wait(epoll, &event, 1, -1) == 1, "epoll_wait");
    const ssize_t size = recvfrom(fd, data, room, MSG_DONTWAIT, (struct sockaddr*)&name, &length);
    check(size >= 0, "recvfrom of the server");
    if (size == 0) break;
    check(sendto(fd, data, (size_t)size, 0, (struct sockaddr*)&name, length) == size,
          "sendto of the server");
  }
  // The last answers are on their way as long as the socket lives.
  check(read(line, data, 1) == 0, "the end of the client");
  exit(0);
}

static void ask(int fd, size_t room) {
  char out[64], in[256];
  for (int i = 0; i < MESSAGES; ++i) {
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    const int size = snprintf(out, sizeof out, "message %d", i);
    check(send(fd, out, (size_t)size, 0) == size, "send");
    check(poll(&ready, 1, 30000) == 1 && ready.revents == POLLIN, "poll");
    check(recv(fd, in, room, MSG_PEEK) == size, "recv with MSG_PEEK");
    check(read(fd, in, room) == size && memcmp(in, out, (size_t)size) == 0, "read");
  }
}

static void ask_many(int fd) {
  struct mmsghdr messages[MANY];
  struct iovec parts[MANY];
  char data[MANY][4];
  memset(messages, 0, sizeof messages);
  for (int i = 0; i < MANY; ++i) {
    memset(data[i], 'a' + i, sizeof data[i]);
    parts[i].iov_base = data[i];
    parts[i].iov_len = sizeof data[i];
    messages[i].msg_hdr.msg_iov = &parts[i];
    messages[i].msg_hdr.msg_iovlen = 1;
  }
  check(sendmmsg(fd, messages, MANY, 0) == MANY, "sendmmsg");
  memset(data, 0, sizeof data);
  check(recvmmsg(fd, messages, MANY, 0, NULL) == MANY, "recvmmsg");
  for (int i = 0; i < MANY; ++i) {
    check(messages[i].msg_len == sizeof data[i] && data[i][3] == 'a' + i,
          "what recvmmsg has received");
  }
}

int main(int argc, char** argv) {
  const size_t room = 200 + (size_t)argc;
  struct sockaddr_in server, name;
  int lines[2];
  (void)argv;
  alarm(45);
  check(socketpair(AF_UNIX, SOCK_STREAM, 0, lines) == 0, "socketpair");
  const pid_t child = fork();
  if (child == 0) {
    close(lines[0]);
    serve(lines[1], room);
  }
  close(lines[1]);
  check(read(lines[0], &server, sizeof server) == sizeof server, "the name of the server");
  int fd = bound(&name);
  check(connect(fd, (struct sockaddr*)&server, sizeof server) == 0, "connect");
  ask(fd, room);
  ask_many(fd);
  // The copy is the same socket, and the only one that is left.
  const int copy = fcntl(fd, F_DUPFD_CLOEXEC, 100);
  check(copy >= 100, "F_DUPFD_CLOEXEC");
  check(close_range((unsigned)fd, (unsigned)fd, 0) == 0, "close_range");
  check(send(fd, "x", 1, 0) == -1 && errno == EBADF, "a closed descriptor");
  ask(copy, room);
  check(send(copy, "", 0, 0) == 0, "send of nothing");
  close(copy);
  close(lines[0]);
  int status = -1;
  check(waitpid(child, &status, 0) == child && status == 0, "the server's end");
  return 0;
}
