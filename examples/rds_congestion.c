/* SPDX-License-Identifier: BSD-3-Clause */
/* rds_congestion.c: a sender that is faster than its receiver, and waits for news.
 *
 * A message is never lost because its receiver is slow. Instead the receiver's port becomes
 * congested: a send that does not wait fails with ENOBUFS. A sender that monitors congestion
 * (RDS_CONG_MONITOR) becomes readable when ports are free again, and recvmsg tells which
 * (RDS_CMSG_CONG_UPDATE).
 *
 * The receiver reads nothing until the sender has met congestion. The sender tells it so at another
 * port of the same host, which has nothing to do with the congested one.
 *
 *   cc -o rds_congestion rds_congestion.c
 *   tools/softdat-run --rds ./rds_congestion receiver 127.0.0.1    prints two ports
 *   tools/softdat-run --rds ./rds_congestion sender 127.0.0.1 127.0.0.1 PORT OTHER-PORT
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/rds.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#ifndef AF_RDS
#define AF_RDS 21
#endif

enum { kFailedCall = 1, kUsage = 2, kWrong = 3 }; /* exit statuses */
enum { kMessageSize = 8192, kReceiveBuffer = 4 * kMessageSize, kSendBuffer = 16 * kMessageSize };
enum { kLastWordMs = 2000 };
enum { kMostMessages = 1000 }; /* long before that the port is congested */

static void fail(const char* call) {
  fprintf(stderr, "rds_congestion: %s: %s\n", call, strerror(errno));
  exit(kFailedCall);
}

static struct sockaddr_in address(const char* text, const char* port) {
  struct sockaddr_in result = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port))};
  if (inet_pton(AF_INET, text, &result.sin_addr) == 1) return result;
  fprintf(stderr, "rds_congestion: %s is no IPv4 address\n", text);
  exit(kUsage);
}

/* A socket at a port that is free. Prints the port after `what`, if there is one. */
static int open_socket(const char* own, const char* what) {
  struct sockaddr_in name = address(own, "0");
  socklen_t length = sizeof name;
  const int fd = socket(AF_RDS, SOCK_SEQPACKET, 0);
  if (fd < 0) fail("socket");
  if (bind(fd, (const struct sockaddr*)&name, sizeof name) != 0) fail("bind");
  if (getsockname(fd, (struct sockaddr*)&name, &length) != 0) fail("getsockname");
  if (what != NULL) printf("%s: %d\n", what, ntohs(name.sin_port));
  return fd;
}

static void set(int fd, int level, int option, int value, const char* call) {
  if (setsockopt(fd, level, option, &value, sizeof value) != 0) fail(call);
}

static void receiver(const char* own) {
  static char message[kMessageSize];
  struct sockaddr_in from;
  socklen_t length = sizeof from;
  size_t messages = 0;
  const int fd = open_socket(own, "port");
  const int other = open_socket(own, "other port");
  fflush(stdout);
  set(fd, SOL_SOCKET, SO_RCVBUF, kReceiveBuffer, "setsockopt(SO_RCVBUF)");
  if (recv(other, message, sizeof message, 0) < 0) fail("recv");
  printf("the sender waits\n");
  /* The port is free again when less than half of the receive buffer is full. */
  do {
    if (recvfrom(fd, message, sizeof message, 0, (struct sockaddr*)&from, &length) < 0)
      fail("recvfrom");
    ++messages;
  } while (message[0] != 'l');
  if (sendto(fd, "all", 3, 0, (const struct sockaddr*)&from, sizeof from) < 0) fail("sendto");
  /* The answer may need this socket for a while: until the sender has heard it, and says so. */
  if (poll(&(struct pollfd){fd, POLLIN, 0}, 1, kLastWordMs) < 0) fail("poll");
  printf("%s messages came\n", messages > 4 ? "all" : "too few");
  exit(messages > 4 ? 0 : kWrong);
}

/* Waits until ports are free again. Returns the groups of ports: bit PORT % 64 is PORT's. */
static uint64_t await_news(int fd) {
  union {
    char bytes[CMSG_SPACE(sizeof(uint64_t))];
    struct cmsghdr align;
  } control;
  for (;;) {
    uint64_t groups = 0;
    struct pollfd polled = {fd, POLLIN, 0};
    struct msghdr message = {.msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
    struct cmsghdr* header;
    if (poll(&polled, 1, -1) < 0) fail("poll");
    if (recvmsg(fd, &message, 0) < 0) {
      if (errno == EAGAIN) continue; /* a socket may be ready without cause */
      fail("recvmsg");
    }
    header = CMSG_FIRSTHDR(&message);
    if (header == NULL || header->cmsg_type != RDS_CMSG_CONG_UPDATE) continue;
    memcpy(&groups, CMSG_DATA(header), sizeof groups);
    return groups;
  }
}

static void sender(const char* own, const char* peer, const char* port, const char* other) {
  static char message[kMessageSize] = "data";
  const struct sockaddr_in to = address(peer, port);
  const struct sockaddr_in other_to = address(peer, other);
  const int fd = open_socket(own, NULL);
  int waited = 0;
  ssize_t received;
  /* Not all messages are to be queued before the peer can say that its port is congested. */
  set(fd, SOL_SOCKET, SO_SNDBUF, kSendBuffer, "setsockopt(SO_SNDBUF)");
  set(fd, SOL_RDS, RDS_CONG_MONITOR, 1, "setsockopt(RDS_CONG_MONITOR)");
  if (fcntl(fd, F_SETFL, O_NONBLOCK) != 0) fail("fcntl");
  for (int sent = 0; sent < kMostMessages && !waited;) {
    if (sendto(fd, message, sizeof message, 0, (const struct sockaddr*)&to, sizeof to) >= 0) {
      ++sent;
    } else if (errno == EAGAIN) {
      /* The queue is full: until the peer has acknowledged some. */
      struct pollfd polled = {fd, POLLOUT, 0};
      if (poll(&polled, 1, -1) < 0) fail("poll");
    } else if (errno == ENOBUFS) {
      printf("congested\n");
      if (sendto(fd, "x", 1, 0, (const struct sockaddr*)&other_to, sizeof other_to) < 0)
        fail("sendto");
      while ((await_news(fd) & RDS_CONG_MONITOR_MASK(ntohs(to.sin_port))) == 0) continue;
      printf("free again\n");
      waited = 1;
    } else {
      fail("sendto");
    }
  }
  /* News may be about another port of the group, so the last one waits. */
  if (fcntl(fd, F_SETFL, 0) != 0) fail("fcntl");
  strcpy(message, "last");
  if (sendto(fd, message, sizeof message, 0, (const struct sockaddr*)&to, sizeof to) < 0)
    fail("sendto");
  /* A socket that is closed takes with it what the peer has not acknowledged, and the peer's kernel
   * need not acknowledge at once. So the receiver says that it has all. News are no message. */
  do {
    if ((received = recv(fd, message, sizeof message, 0)) < 0) fail("recv");
  } while (received == 0);
  if (sendto(fd, "bye", 3, 0, (const struct sockaddr*)&to, sizeof to) < 0) fail("sendto");
  exit(waited ? 0 : kWrong);
}

int main(int argc, char** argv) {
  if (argc == 3 && strcmp(argv[1], "receiver") == 0) {
    receiver(argv[2]);
  } else if (argc == 6 && strcmp(argv[1], "sender") == 0) {
    sender(argv[2], argv[3], argv[4], argv[5]);
  } else {
    const int help = argc == 2 && strcmp(argv[1], "--help") == 0;
    fprintf(help ? stdout : stderr,
            "usage: rds_congestion receiver OWN-ADDRESS\n"
            "       rds_congestion sender OWN-ADDRESS RECEIVER-ADDRESS PORT OTHER-PORT\n"
            "exit status: 0 all went well, 1 a call failed, 2 usage, 3 no congestion\n");
    return help ? 0 : kUsage;
  }
}
