// SPDX-License-Identifier: BSD-3-Clause
// Connections made and ended, one after the other: over DAT, and over plain TCP.
#ifndef SOFTDAT_TOOLS_BENCH_CONNECTIONS_H_
#define SOFTDAT_TOOLS_BENCH_CONNECTIONS_H_

#include <cstdint>
#include <memory>
#include <string>

#include "tools/common/outcome.h"
#include "tools/traffic/job.h"

namespace softdat::tools {

// One end. A connection is over when both ends know that it is.
class Connections {
 public:
  virtual ~Connections() = default;

  // Server. AcceptOne() waits for a connection, and for the client to end it.
  virtual Outcome Listen(uint64_t* port) = 0;
  virtual Outcome AcceptOne() = 0;

  // Client.
  virtual Outcome PrepareToConnect(uint64_t port) = 0;
  virtual Outcome ConnectOne() = 0;
};

// socket, connect, shutdown, recv, close; accept, recv, close.
std::unique_ptr<Connections> MakeRawConnections();
// An end point for each: created, connected, disconnected gracefully, freed.
std::unique_ptr<Connections> MakeDatConnections(const std::string& ia);

// Client: `count` of them. The server's processor time stays 0: it does not know of jobs.
Outcome TimeConnections(Connections* client, uint64_t count, JobResult* result);

}  // namespace softdat::tools

#endif  // SOFTDAT_TOOLS_BENCH_CONNECTIONS_H_
