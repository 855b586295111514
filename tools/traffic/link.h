// SPDX-License-Identifier: BSD-3-Clause
// One end of one connection: adapter, zone, event dispatchers, end point. Uses the standard API
// only, and separate EVDs for connection, request and receive events, so that it works on any
// provider.
#ifndef SOFTDAT_TOOLS_TRAFFIC_LINK_H_
#define SOFTDAT_TOOLS_TRAFFIC_LINK_H_

#include <dat2/udat.h>

#include <cstdint>
#include <optional>
#include <string>

#include "tools/common/objects.h"
#include "tools/common/outcome.h"
#include "tools/traffic/job.h"

namespace softdat::tools {

struct LinkDepths {
  int receives = 512;
  int requests = 128;
};

class Link {
 public:
  // Opens the adapter and makes everything but the end point. Depths are cut to what the adapter
  // has.
  Outcome Open(const std::string& ia_name, const LinkDepths& depths);

  // Passive side. Listen() with 0 takes any free qualifier. Accept() waits for one request, without
  // limit, and for the connection; the service point stays for further calls of Accept() after
  // Disconnect().
  Outcome Listen(uint64_t conn_qual);
  Outcome Accept();

  // Active side.
  Outcome Connect(const sockaddr* address, uint64_t conn_qual, uint32_t timeout_us);

  // Disconnects gracefully and waits until the connection is over, or only waits for the peer to
  // do it; then frees the end point.
  Outcome Disconnect();
  Outcome AwaitDisconnect();

  // Posts. The memory must stay until the completion.
  Outcome PostReceive(DAT_LMR_TRIPLET segment);
  Outcome PostSend(DAT_LMR_TRIPLET segment, DAT_COMPLETION_FLAGS flags);
  Outcome PostWrite(DAT_LMR_TRIPLET segment, const RemoteMemory& target,
                    DAT_COMPLETION_FLAGS flags);
  Outcome PostRead(DAT_LMR_TRIPLET segment, const RemoteMemory& source, DAT_COMPLETION_FLAGS flags);

  // The next receive (request) completion; `bytes` may be nullptr. A completion that is not a
  // success, or that is not of the kind expected, is a failure that says how the connection ended.
  Outcome NextReceive(WaitMode mode, uint32_t* bytes);
  Outcome NextRequest(WaitMode mode);
  // One turn of polling for those who wait by looking at memory: a failure when the connection is
  // over. No receive may be due.
  Outcome PollForTrouble();

  const Ia& ia() const { return ia_; }
  const Pz& pz() const { return pz_; }
  const LinkDepths& depths() const { return depths_; }
  uint64_t conn_qual() const { return conn_qual_; }
  // Addresses and ports of the connection, for people: "127.0.0.1, connection qualifier 18515".
  std::string LocalName() const;
  std::string RemoteName() const;

 private:
  Outcome MakeEndPoint();
  Outcome AwaitEstablished(const char* what);
  // The next event of `evd`, which must be a completion that succeeded.
  Outcome NextSuccess(const Evd& evd, WaitMode mode, const char* what, DAT_EVENT* event);
  Outcome Examine(const DAT_EVENT& event, const char* what);
  std::string WhyOver();

  Ia ia_;
  Pz pz_;
  Evd connect_evd_;
  Evd request_evd_;
  Evd receive_evd_;
  Evd cr_evd_;
  Psp psp_;
  Ep ep_;
  LinkDepths depths_;
  uint64_t conn_qual_ = 0;
  // How the connection ended, once that is known.
  std::optional<DAT_EVENT_NUMBER> end_;
};

}  // namespace softdat::tools

#endif  // SOFTDAT_TOOLS_TRAFFIC_LINK_H_
