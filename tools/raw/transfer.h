// SPDX-License-Identifier: BSD-3-Clause
// One end of one job of one kind, which is what differs between the floors. link.h makes the two
// ends meet.
#ifndef SOFTDAT_TOOLS_RAW_TRANSFER_H_
#define SOFTDAT_TOOLS_RAW_TRANSFER_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "tools/common/outcome.h"
#include "tools/raw/job.h"

namespace softdat::tools {

class RawTransfer {
 public:
  RawTransfer(const RawJob& job, bool is_server) : job_(job), is_server_(is_server) {}
  RawTransfer(const RawTransfer&) = delete;
  RawTransfer& operator=(const RawTransfer&) = delete;
  virtual ~RawTransfer() = default;

  // Called before the ends know of each other. Makes this end's offer.
  virtual Outcome Prepare(RawOffer* /*offer*/) { return {}; }
  // Takes the other end's offer, and makes everything that must exist before the client begins. The
  // server is called first.
  virtual Outcome Meet(const RawOffer& /*offer*/) { return {}; }
  // The timed part. At the client it returns when the server has received everything.
  virtual Outcome Run() = 0;

 protected:
  const RawJob job_;
  const bool is_server_;
};

// `fd` is the TCP connection on which the job was agreed. It stays with the caller. The functions
// for single kinds are in the files with their names.
std::unique_ptr<RawTransfer> MakeRawTransfer(const RawJob& job, bool is_server, int fd);

std::unique_ptr<RawTransfer> MakeTcpTransfer(const RawJob& job, bool is_server, int fd);
std::unique_ptr<RawTransfer> MakeTcpThreadTransfer(const RawJob& job, bool is_server, int fd);
std::unique_ptr<RawTransfer> MakeTcpRendezvousTransfer(const RawJob& job, bool is_server, int fd);
std::unique_ptr<RawTransfer> MakeUdpTransfer(const RawJob& job, bool is_server);
std::unique_ptr<RawTransfer> MakeShmTransfer(const RawJob& job, bool is_server);
std::unique_ptr<RawTransfer> MakeMemcpyTransfer(const RawJob& job, bool is_server);
std::unique_ptr<RawTransfer> MakeProcessVmTransfer(const RawJob& job, bool is_server, int fd);
std::unique_ptr<RawTransfer> MakeVerbsTransfer(const RawJob& job, bool is_server);
std::unique_ptr<RawTransfer> MakeRdsTransfer(const RawJob& job, bool is_server);

}  // namespace softdat::tools

#endif  // SOFTDAT_TOOLS_RAW_TRANSFER_H_
