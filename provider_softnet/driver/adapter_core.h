// SPDX-License-Identifier: BSD-3-Clause
// What the objects of one adapter share.
#ifndef SOFTDAT_PROVIDER_SOFTNET_DRIVER_ADAPTER_CORE_H_
#define SOFTDAT_PROVIDER_SOFTNET_DRIVER_ADAPTER_CORE_H_

#include <atomic>
#include <functional>
#include <list>
#include <memory>
#include <vector>

#include "dat/transport/transport.h"
#include "provider_softnet/driver/driver.h"
#include "provider_softnet/driver/path_watch.h"
#include "provider_softnet/driver/unique_fd.h"
#include "provider_softnet/iwarp/mpa_handshake.h"
#include "provider_softnet/iwarp/stream.h"
#include "provider_softnet/memory/memory_table.h"

namespace softdat::softnet {

class HandoffArrival;
class Incoming;

// Choices that settings and tests make.
struct AdapterOptions {
  DriverOptions driver;
  CrcPolicy crc = CrcPolicy::kAuto;
  uint8_t mpa_revision = 2;
  bool confirm = true;        // sends and writes complete when the peer has confirmed them
  bool extensions = true;     // RFC 7306 operations may be sent
  bool check_memory = false;  // registered memory is looked at before each access
  bool short_reads = false;   // a read moves what its local segments hold
  uint64_t rnr_timeout_us = 0;
  std::chrono::milliseconds connect_grace{300};       // retries of a refused connect to this host
  std::chrono::milliseconds handshake_timeout{8000};  // for a peer's start-up frame
  std::chrono::milliseconds close_timeout{3000};  // for a peer's end of connection after our own
  // For a peer that takes nothing of what a graceful disconnect waits for; 0: no limit.
  std::chrono::milliseconds disconnect{60000};
  std::chrono::milliseconds dead_path{30000};       // for an answer of a peer's TCP; 0: its own
  std::chrono::milliseconds handoff_timeout{5000};  // for another process's answer
  // For a message without a receive after its sender's FIN, while the sender is there to see.
  std::chrono::milliseconds fin_grace{1000};
  size_t max_half_open = 1024;  // connections whose request has not arrived yet
  // Gathered sends leave at the latest with so many messages or bytes.
  uint32_t gather_messages = 64;
  size_t gather_bytes = 256 * 1024;

  static AdapterOptions FromSettings();
};

class ClosingSocket;

// Held by every object of the adapter; the driver dies last.
struct AdapterCore {
  // `random`: for the keys of memory (MemoryTable).
  AdapterCore(const AdapterOptions& o, const transport::AdapterAttributes& a,
              std::function<uint64_t()> random);
  ~AdapterCore();
  AdapterCore(const AdapterCore&) = delete;
  AdapterCore& operator=(const AdapterCore&) = delete;

  // The adapter closes: joins the helper, drops what only waits for a peer. No caller is inside any
  // more.
  void Stop();

  // Token: sends `rest` and a FIN, discards input until the peer's own or close_timeout, closes.
  // `abrupt`: a peer that has the FIN but does not react, or whose window keeps the FIN out,
  // because it does not read, soon gets a reset too. Returns what HurryClosing() takes; 0 when it
  // is closed already.
  uint64_t CloseGently(UniqueFd fd, bool abrupt = false, std::vector<uint8_t> rest = {});
  // Token: makes a close abrupt. Nothing happens when it is over.
  void HurryClosing(uint64_t closing);
  // Token: closes at once, with a reset when `reset`.
  void CloseNow(UniqueFd fd, bool reset);

  void FinishAbruptEnds();

  const AdapterOptions options;
  const transport::AdapterAttributes attributes;
  uint32_t interface_index = 0;  // for link-local destinations without a scope
  MemoryTable memory;
  StreamBlocks blocks;
  Driver driver;
  PathWatch paths{&driver.loop(), options.dead_path};
  // With the token:
  std::list<std::unique_ptr<ClosingSocket>> closing;
  uint64_t last_closing = 0;
  std::list<std::unique_ptr<Incoming>> half_open;       // oldest first
  std::list<std::unique_ptr<HandoffArrival>> handoffs;  // of other processes, oldest first
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_DRIVER_ADAPTER_CORE_H_
