// SPDX-License-Identifier: BSD-3-Clause
// The server processes of a benchmark: this program once more, told what to serve.
#ifndef SOFTDAT_TOOLS_BENCH_PEER_H_
#define SOFTDAT_TOOLS_BENCH_PEER_H_

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tools/common/outcome.h"

namespace softdat::tools {

// A child process; ends with its owner.
class Peer {
 public:
  Peer() = default;
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;
  ~Peer();

  // Starts this program with `arguments` and waits until it has announced where it listens.
  Outcome Start(const std::vector<std::string>& arguments);
  uint64_t port() const { return port_; }

 private:
  pid_t pid_ = -1;
  uint64_t port_ = 0;
};

// In the child: tells the parent, on standard output, where it listens.
void AnnouncePort(uint64_t port);

}  // namespace softdat::tools

#endif  // SOFTDAT_TOOLS_BENCH_PEER_H_
