/* SPDX-License-Identifier: BSD-3-Clause */
/* rds_rdma.c: a server puts data straight into the memory of the client that asks for them.
 *
 * The client sends a request that opens its buffer to the server (RDS_CMSG_RDMA_MAP). The server
 * gets the request with a cookie for that buffer (RDS_CMSG_RDMA_DEST). It sends its answer together
 * with an RDMA write (RDS_CMSG_RDMA_ARGS). When the client has the answer, the data are in place,
 * and nobody can reach the buffer any more (RDS_RDMA_USE_ONCE). The server is told when its own
 * memory is free again (RDS_CMSG_RDMA_STATUS).
 *
 * Only calls of libc are used. So the program runs over the kernel's RDS as it is, and over
 * SoftDAT's with the library that takes these calls:
 *
 *   cc -o rds_rdma rds_rdma.c
 *   tools/softdat-run --rds ./rds_rdma server 127.0.0.1            prints PORT
 *   tools/softdat-run --rds ./rds_rdma client 127.0.0.1 127.0.0.1 PORT
 */
#include <arpa/inet.h>
#include <errno.h>
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

enum { kFailedCall = 1, kUsage = 2, kWrongData = 3 }; /* exit statuses */
enum { kDataSize = 100000, kToken = 7 };

static void fail(const char* call) {
  fprintf(stderr, "rds_rdma: %s: %s\n", call, strerror(errno));
  exit(kFailedCall);
}

static struct sockaddr_in address(const char* text, const char* port) {
  struct sockaddr_in result = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port))};
  if (inet_pton(AF_INET, text, &result.sin_addr) == 1) return result;
  fprintf(stderr, "rds_rdma: %s is no IPv4 address\n", text);
  exit(kUsage);
}

static int open_socket(const char* own) {
  const struct sockaddr_in name = address(own, "0");
  const int fd = socket(AF_RDS, SOCK_SEQPACKET, 0);
  if (fd < 0) fail("socket");
  if (bind(fd, (const struct sockaddr*)&name, sizeof name) != 0) fail("bind");
  return fd;
}

/* Sends a text with one control message. */
static void send_with(int fd, const struct sockaddr_in* to, char* text, int type, const void* data,
                      size_t size) {
  union {
    char bytes[CMSG_SPACE(sizeof(struct rds_rdma_args))];
    struct cmsghdr align;
  } control = {.bytes = {0}};
  struct iovec part = {text, strlen(text)};
  struct sockaddr_in name = *to;
  struct msghdr message = {.msg_name = &name,
                           .msg_namelen = sizeof name,
                           .msg_iov = &part,
                           .msg_iovlen = 1,
                           .msg_control = control.bytes,
                           .msg_controllen = CMSG_SPACE(size)};
  struct cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_RDS;
  header->cmsg_type = type;
  header->cmsg_len = CMSG_LEN(size);
  memcpy(CMSG_DATA(header), data, size);
  /* The kernel opens memory only once it is connected, and says EAGAIN until then. */
  while (sendmsg(fd, &message, 0) < 0) {
    if (errno != EAGAIN) fail("sendmsg");
    poll(NULL, 0, 10);
  }
}

/* Waits for a message, or for news of RDMA. Returns the type of the control message that came with
 * it, or 0. The first `size` bytes of the control message go to `data`. */
static int receive(int fd, char* text, size_t text_size, struct sockaddr_in* from, void* data,
                   size_t size) {
  union {
    char bytes[256];
    struct cmsghdr align;
  } control;
  struct iovec part = {text, text_size - 1};
  struct msghdr message = {.msg_name = from,
                           .msg_namelen = sizeof *from,
                           .msg_iov = &part,
                           .msg_iovlen = 1,
                           .msg_control = control.bytes,
                           .msg_controllen = sizeof control.bytes};
  const ssize_t length = recvmsg(fd, &message, 0);
  struct cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (length < 0) fail("recvmsg");
  text[length] = '\0';
  if (header == NULL || header->cmsg_level != SOL_RDS) return 0;
  if (header->cmsg_len >= CMSG_LEN(size)) memcpy(data, CMSG_DATA(header), size);
  return header->cmsg_type;
}

static void client(const char* own, const char* peer, const char* port) {
  static char buffer[kDataSize];
  char text[64];
  struct sockaddr_in from;
  const struct sockaddr_in to = address(peer, port);
  const int fd = open_socket(own);
  uint64_t cookie = 0;
  struct rds_get_mr_args map = {.vec = {.addr = (uintptr_t)buffer, .bytes = sizeof buffer},
                                .cookie_addr = (uintptr_t)&cookie,
                                .flags = RDS_RDMA_USE_ONCE};
  send_with(fd, &to, "data, please", RDS_CMSG_RDMA_MAP, &map, sizeof map);
  receive(fd, text, sizeof text, &from, NULL, 0);
  printf("answer: %s\n", text);
  for (size_t i = 0; i < sizeof buffer; ++i) {
    if (buffer[i] == 'x') continue;
    fprintf(stderr, "rds_rdma: byte %zu is wrong\n", i);
    exit(kWrongData);
  }
  printf("%zu bytes are in place\n", sizeof buffer);
  close(fd);
}

static void server(const char* own) {
  static char data[kDataSize];
  char text[64];
  struct sockaddr_in name, from;
  socklen_t length = sizeof name;
  const int fd = open_socket(own);
  memset(data, 'x', sizeof data);
  if (getsockname(fd, (struct sockaddr*)&name, &length) != 0) fail("getsockname");
  printf("port: %d\n", ntohs(name.sin_port));
  fflush(stdout);
  for (;;) {
    uint64_t cookie = 0;
    struct rds_rdma_notify status = {.status = -1};
    if (receive(fd, text, sizeof text, &from, &cookie, sizeof cookie) != RDS_CMSG_RDMA_DEST)
      continue;
    printf("request: %s\n", text);
    struct rds_iovec local = {.addr = (uintptr_t)data, .bytes = sizeof data};
    struct rds_rdma_args args = {.cookie = cookie,
                                 .remote_vec = {.addr = 0, .bytes = sizeof data},
                                 .local_vec_addr = (uintptr_t)&local,
                                 .nr_local = 1,
                                 .flags = RDS_RDMA_READWRITE | RDS_RDMA_NOTIFY_ME,
                                 .user_token = kToken};
    send_with(fd, &from, "here they are", RDS_CMSG_RDMA_ARGS, &args, sizeof args);
    /* A server with more to do would take requests meanwhile. */
    while (receive(fd, text, sizeof text, &from, &status, sizeof status) != RDS_CMSG_RDMA_STATUS)
      continue;
    printf("written: token %d, status %d\n", (int)status.user_token, (int)status.status);
    fflush(stdout);
  }
}

int main(int argc, char** argv) {
  if (argc == 3 && strcmp(argv[1], "server") == 0) {
    server(argv[2]);
  } else if (argc == 5 && strcmp(argv[1], "client") == 0) {
    client(argv[2], argv[3], argv[4]);
  } else {
    const int help = argc == 2 && strcmp(argv[1], "--help") == 0;
    fprintf(help ? stdout : stderr,
            "usage: rds_rdma server OWN-ADDRESS\n"
            "       rds_rdma client OWN-ADDRESS SERVER-ADDRESS PORT\n"
            "exit status: 0 all went well, 1 a call failed, 2 usage, 3 wrong data\n");
    return help ? 0 : kUsage;
  }
}
