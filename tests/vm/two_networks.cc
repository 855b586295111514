// SPDX-License-Identifier: BSD-3-Clause
// Preloaded into a program in a network namespace of its own, it gives the program the RDMA devices
// of the network of process 1 as well. So one process has softnet in the one network, and a device
// in the other, which soft-RoCE of Linux 6.1 needs: it works in the first network alone, and there
// it takes the port of RoCEv2 for itself.
//
// What an rdma_cm id does happens in the network of the thread that made it. Everything else that a
// provider does with a device happens through file descriptors and sysfs. softnet's provider is not
// told of the second network: an address there is no address of its host.
#include <dlfcn.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <rdma/rdma_cma.h>
#include <sched.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

// A file descriptor of a network namespace, for as long as the process lives.
int Namespace(const char* path) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd >= 0) return fd;
  std::perror(path);
  std::abort();
}

void Enter(int network) {
  if (setns(network, CLONE_NEWNET) == 0) return;
  std::perror("two_networks: setns");
  std::abort();
}

// The thread is in the network of process 1 while it exists.
class Outside {
 public:
  Outside() : own_(Namespace("/proc/thread-self/ns/net")) {
    static const int outside = Namespace("/proc/1/ns/net");
    Enter(outside);
  }
  ~Outside() {
    Enter(own_);
    close(own_);
  }
  Outside(const Outside&) = delete;
  Outside& operator=(const Outside&) = delete;

 private:
  const int own_;
};

// Whether the code at an address is softnet's.
bool IsSoftnet(const void* code) {
  Dl_info info{};
  return dladdr(code, &info) != 0 && std::strstr(info.dli_fname, "libdaplsoftnet") != nullptr;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int rdma_create_id(rdma_event_channel* channel, rdma_cm_id** id, void* context,
                   rdma_port_space space) {
  // The library may be one of a provider's own, which no search from here finds.
  static auto* const real = reinterpret_cast<decltype(&rdma_create_id)>(
      dlsym(dlopen("librdmacm.so.1", RTLD_NOW), "rdma_create_id"));
  const Outside outside;
  return real(channel, id, context, space);
}

// The interfaces of both networks. The list of the second is never freed.
int getifaddrs(ifaddrs** list) noexcept {
  static auto* const real = reinterpret_cast<int (*)(ifaddrs**)>(dlsym(RTLD_NEXT, "getifaddrs"));
  if (const int error = real(list); error != 0) return error;
  if (IsSoftnet(__builtin_return_address(0))) return 0;
  ifaddrs** end = list;
  while (*end != nullptr) end = &(*end)->ifa_next;
  const Outside outside;
  return real(end);
}

}  // extern "C"
#pragma GCC visibility pop
