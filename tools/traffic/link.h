// SPDX-License-Identifier: BSD-3-Clause
// One end of a connection, or of several between the same two processes: adapter, zone, event
// dispatchers, end points. It uses only the standard API (and the InfiniBand extension where
// necessary), and separate EVDs for connection, request and receive events, so that it works on any
// provider. The end points share the EVDs. Jobs are agreed on over connection 0.
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

// For each connection.
struct LinkDepths {
  int receives = 512;
  int requests = 128;
};

// The result of a completion that succeeded.
struct Completion {
  uint32_t bytes = 0;  // of a receive
  uint32_t connection = 0;
  bool is_request = false;
  bool is_notice = false;     // the request was PostNotice()
  bool is_immediate = false;  // the receive was taken by immediate data
};

class Link {
 public:
  // When the connections of a link are made. Both sides need the same order.
  enum class Order : uint8_t {
    kOneByOne,  // each is established before the next one is begun
    kAtOnce,    // all are begun, and then all are awaited
  };

  // Opens the adapter and makes everything except the end points. Depths are cut to the limits of
  // the adapter.
  Outcome Open(const std::string& ia_name, const LinkDepths& depths, uint32_t connections = 1);
  // The same on an open adapter. Links may share one. Each of them may then have its own thread.
  Outcome Open(std::shared_ptr<const client::Ia> ia, const LinkDepths& depths,
               uint32_t connections = 1);

  // For the passive side. Listen() with 0 takes any free qualifier. Accept() waits for a request
  // for each connection, without limit, and then for the connections. The service point stays for
  // further calls of Accept() after Disconnect().
  Outcome Listen(uint64_t conn_qual);
  Outcome Accept(Order order = Order::kOneByOne);

  // For the active side.
  Outcome Connect(const sockaddr* address, uint64_t conn_qual, uint32_t timeout_us,
                  Order order = Order::kOneByOne);

  // Disconnects gracefully and waits until the connections are over, or only waits until the peer
  // disconnects. Then frees the end points.
  Outcome Disconnect();
  Outcome AwaitDisconnect();

  // To be called before completions are awaited in this mode. Attaches the EVDs to the CNO that it
  // needs, or to none.
  Outcome PrepareWait(WaitMode mode);

  // Posts on a connection. The memory must stay until the completion.
  Outcome PostReceive(DAT_LMR_TRIPLET segment, uint32_t connection = 0);
  Outcome PostSend(DAT_LMR_TRIPLET segment, DAT_COMPLETION_FLAGS flags, uint32_t connection = 0);
  // Posts an empty message, with a completion.
  Outcome PostNotice(uint32_t connection = 0);
  // A write, read, write with immediate data or atomic between `segment` and as much of `remote`.
  Outcome PostRdma(Operation operation, DAT_LMR_TRIPLET segment, const RemoteMemory& remote,
                   DAT_COMPLETION_FLAGS flags, uint32_t connection = 0);

  // Takes the next receive (request) completion. `completion` may be nullptr. If the completion is
  // not a success, or is of an unexpected kind, the failure says how the connection ended.
  Outcome NextReceive(WaitMode mode, Completion* completion);
  Outcome NextRequest(WaitMode mode, Completion* completion);
  // Takes the next completion of either kind. Not for WaitMode::kWait, which knows only one EVD.
  Outcome NextEither(WaitMode mode, Completion* completion);
  // Takes a receive completion if there is one.
  Outcome TryReceive(std::optional<Completion>* completion);
  // One turn of polling, for those who wait by looking at memory. Fails if the connection is over.
  // No receive may be due.
  Outcome PollForTrouble();

  const client::Ia& ia() const { return *ia_; }
  const client::Pz& pz() const { return pz_; }
  const LinkDepths& depths() const { return depths_; }
  uint32_t connections() const { return connections_; }
  uint64_t conn_qual() const { return conn_qual_; }
  // Addresses and ports of the connection, for people: "127.0.0.1, connection qualifier 18515".
  std::string LocalName() const;
  std::string RemoteName() const;

 private:
  Outcome MakeEndPoint(client::Ep* ep);
  // Waits until so many more connections are established. Those that are may end meanwhile.
  Outcome AwaitEstablished(const char* what, uint32_t count);
  Outcome AwaitEnd();
  void NoteEnd(DAT_EVENT_NUMBER number);
  // Completions of one kind: those of an EVD, and before them those that were taken off it while
  // others were awaited. A CNO wakes for every EVD that has something.
  struct Completions {
    client::Evd evd;
    std::vector<DAT_EVENT> held;
    size_t next = 0;  // in `held`
  };
  // As dat_evd_dequeue.
  static DAT_RETURN Take(Completions* completions, DAT_EVENT* event);
  // Takes everything off the EVD of the kind that is not awaited at the moment.
  static void Hold(Completions* completions);
  // Takes the next event of `wanted`. A failure is returned as DAT's.
  DAT_RETURN NextEvent(Completions* wanted, WaitMode mode, DAT_EVENT* event);
  // Sleeps in the way of the mode. kPoll does not sleep.
  DAT_RETURN Sleep(WaitMode mode);
  // `event`, the result of a call, must be a completion that succeeded.
  Outcome Interpret(DAT_RETURN result, WaitMode mode, const DAT_EVENT& event, bool is_request,
                    Completion* completion);
  Outcome Examine(const DAT_EVENT& event, const char* what);
  std::string WhyOver();

  std::shared_ptr<const client::Ia> ia_;
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
  uint32_t ended_ = 0;  // connections whose end was reported
  // How the first connection that ended did so, once that is known.
  std::optional<DAT_EVENT_NUMBER> end_;
};

}  // namespace softdat::tools

#endif  // SOFTDAT_TOOLS_TRAFFIC_LINK_H_
