// SPDX-License-Identifier: BSD-3-Clause
// A TCP connection on which a client and a server agree on floors to run, one after the other. One
// server process serves one client, and sleeps in between.
//
//   client                                      server
//   RawRequest(job, what it offers)  ->
//                                    <-         RawReply(what it offers)
//   ready                            ->
//   ... the transfers of the job ...
//                                    <-         its processor time
#ifndef SOFTDAT_TOOLS_RAW_LINK_H_
#define SOFTDAT_TOOLS_RAW_LINK_H_

#include <cstdint>

#include "tools/common/outcome.h"
#include "tools/common/unique_fd.h"
#include "tools/raw/job.h"
#include "tools/traffic/job.h"

namespace softdat::tools {

// One end of a TCP connection over 127.0.0.1.
class RawLink {
 public:
  // Listens on any free port. Accept() waits for one client, without limit.
  Outcome Listen(uint16_t* port);
  Outcome Accept();
  Outcome Connect(uint16_t port);

  // For the client. Asks for a job and takes part in it. The time is that from the first byte to
  // the last answer.
  Outcome Run(const RawJob& job, JobResult* result);
  // For the server. Takes part in jobs until the client closes, or asks for something that is no
  // job. Then closes.
  Outcome Serve();

 private:
  Outcome ServeJobs();
  Outcome ServeJob(const RawRequest& request);
  Outcome Adopt(UniqueFd fd);

  UniqueFd listener_;
  UniqueFd fd_;
};

}  // namespace softdat::tools

#endif  // SOFTDAT_TOOLS_RAW_LINK_H_
