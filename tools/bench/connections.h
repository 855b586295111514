// SPDX-License-Identifier: BSD-3-Clause
// Connections that are made and ended, one after the other or several at once, over DAT and over
// plain TCP.
#ifndef SOFTDAT_TOOLS_BENCH_CONNECTIONS_H_
#define SOFTDAT_TOOLS_BENCH_CONNECTIONS_H_

#include <cstdint>
#include <memory>
#include <string>

#include "tools/common/outcome.h"
#include "tools/traffic/job.h"

namespace softdat::tools {

// One end. A turn makes so many connections at once, and then ends them all. A connection is over
// when both ends know that it is.
class Connections {
 public:
  virtual ~Connections() = default;

  // For the server. AcceptTurn() waits for the connections of a turn, and then until the client
  // ends them.
  virtual Outcome Listen(uint64_t* port) = 0;
  virtual Outcome AcceptTurn() = 0;

  // For the client.
  virtual Outcome PrepareToConnect(uint64_t port) = 0;
  virtual Outcome ConnectTurn() = 0;
};

// For each connection the client calls socket, connect, shutdown, recv, close, and the server
// accept, recv, close; each of these calls for all connections of a turn before the next one. On
// this host connect() does not wait for the server's program, so that blocking calls begin several
// connections at once with fewer system calls than others.
std::unique_ptr<Connections> MakeRawConnections(uint32_t at_once);
// The same with what a start-up of MPA and the first exchange of RDMAP take: a small message there,
// one back, and both again.
std::unique_ptr<Connections> MakeHandshakeConnections(uint32_t at_once);
// Each connection has an end point, which is created, connected, disconnected gracefully and freed.
std::unique_ptr<Connections> MakeDatConnections(const std::string& ia, uint32_t at_once);

// For the client. Times `count` connections. They are made in whole turns of `at_once`, and the
// times are in proportion. The server's processor time stays 0, because the server knows no jobs.
Outcome TimeConnections(Connections* client, uint64_t count, uint32_t at_once, JobResult* result);

}  // namespace softdat::tools

#endif  // SOFTDAT_TOOLS_BENCH_CONNECTIONS_H_
