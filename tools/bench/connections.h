// SPDX-License-Identifier: BSD-3-Clause
// Connections that are made and ended, one after the other, over DAT and over plain TCP.
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

  // For the server. AcceptOne() waits for a connection, and then until the client ends it.
  virtual Outcome Listen(uint64_t* port) = 0;
  virtual Outcome AcceptOne() = 0;

  // For the client.
  virtual Outcome PrepareToConnect(uint64_t port) = 0;
  virtual Outcome ConnectOne() = 0;
};

// The client calls socket, connect, shutdown, recv, close. The server calls accept, recv, close.
std::unique_ptr<Connections> MakeRawConnections();
// Each connection has an end point, which is created, connected, disconnected gracefully and freed.
std::unique_ptr<Connections> MakeDatConnections(const std::string& ia);

// For the client. Makes `count` connections. The server's processor time stays 0, because the
// server knows no jobs.
Outcome TimeConnections(Connections* client, uint64_t count, JobResult* result);

}  // namespace softdat::tools

#endif  // SOFTDAT_TOOLS_BENCH_CONNECTIONS_H_
