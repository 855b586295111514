// SPDX-License-Identifier: BSD-3-Clause
// AdapterCore: settings, and sockets that outlive their connection.
#include "provider_softnet/driver/adapter_core.h"

#include <sys/socket.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "dat/base/log.h"
#include "dat/base/settings.h"
#include "dat/profile/profile.h"
#include "provider_softnet/driver/closing_socket.h"
#include "provider_softnet/driver/handoff_listener.h"
#include "provider_softnet/driver/incoming.h"
#include "provider_softnet/driver/socket_util.h"

namespace softdat::softnet {

AdapterOptions AdapterOptions::FromSettings() {
  const Settings& s = GetSettings();
  AdapterOptions o;
  o.driver.spin = std::chrono::microseconds(s.spin_us);
  o.driver.flush_tick = std::chrono::microseconds(s.gather_us);
  o.crc = s.crc == CrcMode::kOn    ? CrcPolicy::kOn
          : s.crc == CrcMode::kOff ? CrcPolicy::kOff
                                   : CrcPolicy::kAuto;
  o.mpa_revision = static_cast<uint8_t>(s.mpa_revision);
  o.extensions = s.rfc7306;
  o.short_reads = s.short_reads;
  o.rnr_timeout_us = static_cast<uint64_t>(s.rnr_timeout_ms) * 1000;
  const Profile* const profile = ProfileFromSettings();
  if (profile != nullptr && profile->receiver_must_be_ready) o.rnr_timeout_us = 1;
  o.confirm = s.completion == CompletionMode::kConfirmed &&
              (profile == nullptr || profile->confirms_writes);
  o.connect_grace = std::chrono::milliseconds(s.connect_grace_ms);
  o.handshake_timeout = std::chrono::milliseconds(s.handshake_timeout_ms);
  o.close_timeout = std::chrono::milliseconds(s.close_timeout_ms);
  o.disconnect = std::chrono::milliseconds(s.disconnect_ms);
  o.check_memory = s.check_memory;
  o.dead_path = std::chrono::milliseconds(s.dead_path_ms);
  o.max_half_open = static_cast<size_t>(s.max_half_open);
  return o;
}

AdapterCore::AdapterCore(const AdapterOptions& o, const transport::AdapterAttributes& a,
                         std::function<uint64_t()> random)
    : options(o), attributes(a), memory(o.check_memory, std::move(random)), driver(o.driver) {}

AdapterCore::~AdapterCore() { Stop(); }

void AdapterCore::Stop() {
  driver.StopHelper();
  FinishAbruptEnds();
  half_open.clear();
  handoffs.clear();
  paths.Close();
  driver.Stop();
}

// Peers of abrupt ends learn of them before this process is gone; not for long.
void AdapterCore::FinishAbruptEnds() {
  constexpr auto kLongest = 10 * ClosingSocket::kLook;
  const CancelOff no_cancellation;
  closing.remove_if([](const auto& socket) { return !socket->abrupt(); });
  for (auto waited = 0 * ClosingSocket::kLook;; waited += ClosingSocket::kLook) {
    closing.remove_if([](const auto& socket) { return !socket->Look(); });
    if (closing.empty() || waited >= kLongest) return closing.clear();
    std::this_thread::sleep_for(ClosingSocket::kLook);
  }
}

uint64_t AdapterCore::CloseGently(UniqueFd fd, bool abrupt, std::vector<uint8_t> rest) {
  if (!driver.started()) return 0;
  const uint64_t id = ++last_closing;
  // Out of the list at once, but destroyed later: `done` is called from the object's own handlers.
  auto done = [this, id] {
    const auto it =
        std::find_if(closing.begin(), closing.end(), [&](const auto& c) { return c->id() == id; });
    if (it == closing.end()) return;
    std::unique_ptr<ClosingSocket> taken = std::move(*it);
    closing.erase(it);
    driver.counters().sockets_closed.Add();
    driver.DeleteLater(std::shared_ptr<ClosingSocket>(std::move(taken)));
  };
  auto socket = std::make_unique<ClosingSocket>(&driver.loop(), id, std::move(fd), done);
  if (!socket->Start(options.close_timeout, abrupt, std::move(rest))) {
    driver.counters().sockets_closed.Add();
    return 0;
  }
  closing.push_back(std::move(socket));
  return id;
}

void AdapterCore::HurryClosing(uint64_t id) {
  for (const auto& socket : closing) {
    if (socket->id() == id) return socket->Hurry();
  }
}

void AdapterCore::CloseNow(UniqueFd fd, bool reset) {
  if (reset) ResetOnClose(fd.get());
  fd.Close();
  driver.counters().sockets_closed.Add();
}

}  // namespace softdat::softnet
