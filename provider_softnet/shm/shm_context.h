// SPDX-License-Identifier: BSD-3-Clause
// What the connections and listeners of one adapter over shared memory have in common, and the
// links that outlive their connection.
#ifndef SOFTDAT_PROVIDER_SOFTNET_SHM_SHM_CONTEXT_H_
#define SOFTDAT_PROVIDER_SOFTNET_SHM_SHM_CONTEXT_H_

#include <memory>
#include <span>
#include <vector>

#include "provider_softnet/connection/closing_list.h"
#include "provider_softnet/connection/connection_context.h"
#include "provider_softnet/connection/link_watch.h"
#include "provider_softnet/shm/shm_link.h"

namespace softdat::softnet {

struct ShmContext;

// A link whose connection is over: its last bytes wait for room, and then the peer is given time to
// end the connection, too. Everything here needs the token.
class ClosingLink {
 public:
  // The context's `closing` owns it.
  ClosingLink(ShmContext* context, std::unique_ptr<ShmLink> link, bool abrupt,
              std::vector<uint8_t> rest, uint64_t id);
  ~ClosingLink();
  ClosingLink(const ClosingLink&) = delete;
  ClosingLink& operator=(const ClosingLink&) = delete;

  // False: it is over, and can be destroyed.
  bool Start(std::chrono::milliseconds timeout);
  void Hurry();
  // For the end of the process or the adapter. Sends what there is room for. Whether that was all
  // that can be said.
  bool HasSaidAll();
  uint64_t id() const { return id_; }

 private:
  bool Proceed();  // false: it is over
  void Leave();

  ShmContext* const context_;
  const std::unique_ptr<ShmLink> link_;
  const uint64_t id_;
  bool abrupt_;
  std::vector<uint8_t> rest_;
  size_t sent_ = 0;
  bool finished_ = false;
  LinkWatch watch_;
  LoopTimer timer_;
};

struct ShmContext final : ConnectionContext, std::enable_shared_from_this<ShmContext> {
  using ConnectionContext::ConnectionContext;
  ~ShmContext() override { Stop(); }

  // Same as Wire::Stop() and Wire::OnProcessExit().
  void Stop();
  void OnProcessExit(LoopClock::time_point deadline);

  Result<std::unique_ptr<ByteLink>> OpenLink(const sockaddr_storage& remote,
                                             bool same_host) override;
  void CloseNow(std::unique_ptr<ByteLink> link, bool reset) override;
  using ConnectionContext::CloseGently;
  uint64_t CloseGently(std::unique_ptr<ByteLink> link, bool abrupt, std::vector<uint8_t> rest,
                       SocketWatch* watch) override;
  void HurryClosing(uint64_t closing) override;
  Status HandOn(ArrivedRequest* request, uint64_t conn_qual) override;

  // Token:
  ClosingList<ClosingLink> closing;

 private:
  void SayLastWords(LoopClock::time_point deadline);
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_SHM_SHM_CONTEXT_H_
