/* SPDX-License-Identifier: BSD-3-Clause */
/* rds_message.c: two programs exchange messages over Reliable Datagram Sockets (RDS).
 *
 * The server waits for messages and sends each one back. The client sends one and waits for what
 * comes back. Neither makes a connection: RDS does that, and repairs it when it breaks.
 *
 * Only calls of libc are used. So the program runs over the kernel's RDS as it is, and over
 * SoftDAT's with the library that takes these calls:
 *
 *   cc -o rds_message rds_message.c
 *   tools/softdat-run --rds ./rds_message server 127.0.0.1         prints PORT
 *   tools/softdat-run --rds ./rds_message client 127.0.0.1 127.0.0.1 PORT hello
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#ifndef AF_RDS
#define AF_RDS 21
#endif

enum { kFailedCall = 1, kUsage = 2, kBufferSize = 4096 }; /* exit statuses; bytes of a message */

static void fail(const char* call) {
  fprintf(stderr, "rds_message: %s: %s\n", call, strerror(errno));
  exit(kFailedCall);
}

static struct sockaddr_in address(const char* text, const char* port) {
  struct sockaddr_in result = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port))};
  if (inet_pton(AF_INET, text, &result.sin_addr) == 1) return result;
  fprintf(stderr, "rds_message: %s is no IPv4 address\n", text);
  exit(kUsage);
}

/* A socket with a name. Port 0 stands for any that is free. RDS has no wildcard: the address says
 * which adapter is used. */
static int open_socket(const char* own) {
  const struct sockaddr_in name = address(own, "0");
  const int fd = socket(AF_RDS, SOCK_SEQPACKET, 0);
  if (fd < 0) fail("socket");
  if (bind(fd, (const struct sockaddr*)&name, sizeof name) != 0) fail("bind");
  return fd;
}

/* Waits for a message. Returns its length. */
static ssize_t receive(int fd, char* text, struct sockaddr_in* from) {
  socklen_t length = sizeof *from;
  const ssize_t size = recvfrom(fd, text, kBufferSize - 1, 0, (struct sockaddr*)from, &length);
  if (size < 0) fail("recvfrom");
  text[size] = '\0';
  return size;
}

static void server(const char* own) {
  char text[kBufferSize], host[INET_ADDRSTRLEN];
  struct sockaddr_in name, from;
  socklen_t length = sizeof name;
  const int fd = open_socket(own);
  if (getsockname(fd, (struct sockaddr*)&name, &length) != 0) fail("getsockname");
  printf("port: %d\n", ntohs(name.sin_port));
  fflush(stdout);
  for (;;) {
    const ssize_t size = receive(fd, text, &from);
    inet_ntop(AF_INET, &from.sin_addr, host, sizeof host);
    printf("from %s: %s\n", host, text);
    fflush(stdout);
    /* This returns as soon as the message is queued. It arrives as long as this socket lives. */
    if (sendto(fd, text, (size_t)size, 0, (struct sockaddr*)&from, sizeof from) < 0) fail("sendto");
  }
}

static void client(const char* own, const char* peer, const char* port, const char* greeting) {
  char text[kBufferSize];
  struct sockaddr_in from;
  const struct sockaddr_in to = address(peer, port);
  const int fd = open_socket(own);
  if (sendto(fd, greeting, strlen(greeting), 0, (const struct sockaddr*)&to, sizeof to) < 0)
    fail("sendto");
  receive(fd, text, &from);
  printf("back: %s\n", text);
  close(fd);
}

int main(int argc, char** argv) {
  if (argc == 3 && strcmp(argv[1], "server") == 0) {
    server(argv[2]);
  } else if (argc == 6 && strcmp(argv[1], "client") == 0) {
    client(argv[2], argv[3], argv[4], argv[5]);
  } else {
    const int help = argc == 2 && strcmp(argv[1], "--help") == 0;
    fprintf(help ? stdout : stderr,
            "usage: rds_message server OWN-ADDRESS\n"
            "       rds_message client OWN-ADDRESS SERVER-ADDRESS PORT TEXT\n"
            "exit status: 0 all went well, 1 a call failed, 2 usage\n");
    return help ? 0 : kUsage;
  }
}
