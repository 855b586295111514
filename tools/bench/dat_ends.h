// SPDX-License-Identifier: BSD-3-Clause
// One end of a unit over DAT: a link for each of its threads. Each link has end points, EVDs and a
// connection qualifier of its own.
#ifndef SOFTDAT_TOOLS_BENCH_DAT_ENDS_H_
#define SOFTDAT_TOOLS_BENCH_DAT_ENDS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tools/common/outcome.h"
#include "tools/traffic/job.h"
#include "tools/traffic/link.h"
#include "tools/traffic/session.h"

namespace softdat::tools {

// What one end is made of.
struct DatShape {
  std::string ia;
  uint32_t threads = 1;
  bool ia_for_each = false;  // each thread opens the IA for itself; otherwise they share one
  uint32_t connections = 1;  // of each thread
  LinkDepths depths;
};

class DatEnds {
 public:
  // Opens the IA and the links.
  Outcome Open(const DatShape& shape);

  // For the server. Listen() returns the connection qualifier of each link. Serve() accepts the
  // connections of each link, and takes part in its jobs until the client disconnects.
  Outcome Listen(std::vector<uint64_t>* ports);
  Outcome Serve();

  // For the driver. The server is on the same adapter.
  Outcome Connect(const std::vector<uint64_t>& ports);
  // Divides the iterations of a job among the links, which begin together. The times are those from
  // the first transfer of any link to the last one of all.
  Outcome Run(const Job& job, JobResult* result);
  Outcome Disconnect();

 private:
  struct End {
    Link link;
    std::unique_ptr<Session> session;
  };
  // Calls `work` for each of the first `count` ends at once: for the first one in this thread, and
  // for each other one in a thread of its own. An end that fails is freed, so that its peer does
  // not wait for it. Returns the first failure.
  Outcome AtOnce(size_t count, const std::function<Outcome(size_t, End*)>& work);

  std::vector<std::unique_ptr<End>> ends_;
};

}  // namespace softdat::tools

#endif  // SOFTDAT_TOOLS_BENCH_DAT_ENDS_H_
