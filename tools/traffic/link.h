// SPDX-License-Identifier: BSD-3-Clause
// One end of a connection, or of several between the same two processes: adapter, zone, event
// dispatchers, end points. Uses the standard API only (and the InfiniBand extension for what needs
// it), and separate EVDs for connection, request and receive events, so that it works on any
// provider. The end points share the EVDs; connection 0 is the one that jobs are agreed on.
#ifndef SOFTDAT_TOOLS_TRAFFIC_LINK_H_
#define SOFTDAT_TOOLS_TRAFFIC_LINK_H_

#include <dat2/udat.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dat/client/endpoint.h"
#include "dat/client/events.h"
#include "dat/client/ia.h"
#include "tools/common/outcome.h"
#include "tools/common/unique_fd.h"
#include "tools/traffic/job.h"

namespace softdat::tools {

// Of each connection.
struct LinkDepths {
  int receives = 512;
  int requests = 128;
};

// What a completion says that succeeded.
struct Completion {
  uint32_t bytes = 0;  // of a receive
  uint32_t connection = 0;
  bool is_request = false;
  bool is_notice = false;     // the request was PostNotice()
  bool is_immediate = false;  // the receive was taken by immediate data
};

class Link {
 public:
  // Opens the adapter and makes everything but the end points. Depths are cut to what the adapter
  // has.
  Outcome Open(const std::string& ia_name, const LinkDepths& depths, uint32_t connections = 1);

  // Passive side. Listen() with 0 takes any free qualifier. Accept() waits for a request for each
  // connection, without limit, and for the connections; the service point stays for further calls
  // of Accept() after Disconnect().
  Outcome Listen(uint64_t conn_qual);
  Outcome Accept();

  // Active side.
  Outcome Connect(const sockaddr* address, uint64_t conn_qual, uint32_t timeout_us);

  // Disconnects gracefully and waits until the connections are over, or only waits for the peer to
  // do it; then frees the end points.
  Outcome Disconnect();
  Outcome AwaitDisconnect();

  // Before completions are awaited in this way: attaches the EVDs to the CNO that it needs, or to
  // none.
  Outcome PrepareWait(WaitMode mode);

  // Posts on a connection. The memory must stay until the completion.
  Outcome PostReceive(DAT_LMR_TRIPLET segment, uint32_t connection = 0);
  Outcome PostSend(DAT_LMR_TRIPLET segment, DAT_COMPLETION_FLAGS flags, uint32_t connection = 0);
  // An empty message, with a completion.
  Outcome PostNotice(uint32_t connection = 0);
  // A write, read, write with immediate data or atomic between `segment` and as much of `remote`.
  Outcome PostRdma(Operation operation, DAT_LMR_TRIPLET segment, const RemoteMemory& remote,
                   DAT_COMPLETION_FLAGS flags, uint32_t connection = 0);

  // The next receive (request) completion; `completion` may be nullptr. One that is not a success,
  // or that is not of the kind expected, is a failure that says how the connection ended.
  Outcome NextReceive(WaitMode mode, Completion* completion);
  Outcome NextRequest(WaitMode mode, Completion* completion);
  // The next of either kind. Not for WaitMode::kWait, which knows one EVD.
  Outcome NextEither(WaitMode mode, Completion* completion);
  // A receive completion if there is one.
  Outcome TryReceive(std::optional<Completion>* completion);
  // One turn of polling for those who wait by looking at memory: a failure when the connection is
  // over. No receive may be due.
  Outcome PollForTrouble();

  const client::Ia& ia() const { return ia_; }
  const client::Pz& pz() const { return pz_; }
  const LinkDepths& depths() const { return depths_; }
  uint32_t connections() const { return connections_; }
  uint64_t conn_qual() const { return conn_qual_; }
  // Addresses and ports of the connection, for people: "127.0.0.1, connection qualifier 18515".
  std::string LocalName() const;
  std::string RemoteName() const;

 private:
  Outcome MakeEndPoint(client::Ep* ep);
  Outcome AwaitEstablished(const char* what);
  Outcome AwaitEnd();
  // Completions of one kind: those of an EVD, and in front of them those that were taken off it
  // while others were awaited. A CNO wakes for every EVD that has something.
  struct Completions {
    client::Evd evd;
    std::vector<DAT_EVENT> held;
    size_t next = 0;  // in `held`
  };
  // As dat_evd_dequeue.
  static DAT_RETURN Take(Completions* completions, DAT_EVENT* event);
  // Takes everything off the EVD of those that are not awaited just now.
  static void Hold(Completions* completions);
  // The next event of `wanted`; a failure is returned as DAT has it.
  DAT_RETURN NextEvent(Completions* wanted, WaitMode mode, DAT_EVENT* event);
  // Sleeps as the mode does; kPoll does not.
  DAT_RETURN Sleep(WaitMode mode);
  // `event`, the outcome of a call, must be a completion that succeeded.
  Outcome Interpret(DAT_RETURN result, WaitMode mode, const DAT_EVENT& event, bool is_request,
                    Completion* completion);
  Outcome Examine(const DAT_EVENT& event, const char* what);
  std::string WhyOver();

  client::Ia ia_;
  client::Pz pz_;
  client::Cno cno_;     // of WaitMode::kCno
  client::Cno fd_cno_;  // of WaitMode::kFd
  UniqueFd epoll_;
  DAT_CNO_HANDLE attached_ = DAT_HANDLE_NULL;
  client::Evd connect_evd_;
  Completions requests_;
  Completions receives_;
  client::Evd cr_evd_;
  client::ServicePoint psp_;
  std::unique_ptr<client::Ep[]> eps_;
  uint32_t connections_ = 1;
  LinkDepths depths_;
  uint64_t conn_qual_ = 0;
  uint32_t ended_ = 0;  // connections whose end was told
  // How the first connection that ended did so, once that is known.
  std::optional<DAT_EVENT_NUMBER> end_;
};

}  // namespace softdat::tools

#endif  // SOFTDAT_TOOLS_TRAFFIC_LINK_H_
