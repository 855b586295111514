// SPDX-License-Identifier: BSD-3-Clause
// The RDS of this process: its node, its adapters, and which descriptor is which socket.
#ifndef SOFTDAT_RDS_API_LIBRARY_H_
#define SOFTDAT_RDS_API_LIBRARY_H_

#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "rds/api/bell.h"
#include "rds/api/driver.h"
#include "rds/api/info_service.h"
#include "rds/api/port_names.h"
#include "rds/api/readiness.h"
#include "rds/link/dat_link.h"
#include "rds/socket/node.h"
#include "rds/socket/socket.h"

namespace softdat::rds {

// A socket with its descriptors.
struct OpenSocket : std::enable_shared_from_this<OpenSocket> {
  Socket* socket = nullptr;  // nullptr once the socket is closed
  Readiness readiness;
  Driver* driver = nullptr;  // once it is bound
  int descriptors = 1;
  int looks = 0;      // in a row, by calls that do not wait, that found nothing to receive
  int receiving = 0;  // calls that drive and will look by themselves whether something has come
};

class Library : private DriverHost {
 public:
  // Made by the first call in this process. A child of fork begins anew.
  static Library& Get();
  // Needs no lock, and never fails.
  static bool IsSocket(int fd);

  // Everything below expects this to be held, for as long as what it returns is used.
  std::unique_lock<std::mutex> Lock() { return std::unique_lock(mutex_); }

  Node& node() { return node_; }

  // Return a descriptor or a negative errno; 0 or an errno.
  int Open(int flags);
  int Close(std::unique_lock<std::mutex>& lock, int fd);
  int Duplicated(int fd, int copy);
  // As Close(), but the number has been closed already. False: it was no socket.
  bool Forget(std::unique_lock<std::mutex>& lock, int fd);
  // nullptr: EBADF.
  std::shared_ptr<OpenSocket> Find(int fd) const;
  // Gives the socket a name. Port 0 stands for any. 0 or an errno.
  int Bind(OpenSocket& open, SocketName name);

  // After something was done: frames leave, and descriptors become ready.
  void Settle(Time now);

  // What RDS_INFO_* tells of this process.
  Info CollectInfo() const;
  // Which process it is, for others.
  Instance self() const { return self_; }

  // The socket may have changed by a call.
  void Touch(OpenSocket& open) { ShowReadiness(open); }

  // Operations of this socket were taken back, perhaps. Returns when their memory is the program's
  // again.
  void EndWork(std::unique_lock<std::mutex>& lock, Driver* driver, SocketId socket);

  // What a call waits for.
  enum class For : uint8_t { kReceive, kRoom, kCongestion };
  // A call that does not wait has found nothing to receive. Many of them in a row would keep the
  // background thread from its work, so each of these does it itself. Whether it has found
  // something.
  bool Look(std::unique_lock<std::mutex>& lock, OpenSocket& open);

  // Waits until something may have changed, without the lock. `until`: not longer. 0; EAGAIN when
  // the time is over; EINTR; EBADF when the socket was closed meanwhile.
  int Wait(std::unique_lock<std::mutex>& lock, OpenSocket& open, For what,
           std::optional<Time> until);

 private:
  Library();
  // Never called: it lives as long as the process.
  ~Library() = default;

  void BeforeWait() override;
  void AfterWait(Time now) override { node_.SetNow(now); }
  void EndTurn(const Driver& driver, Time now) override;
  void WakeProgram(std::unique_lock<std::mutex>& lock) override;
  std::optional<Time> deadline() const override { return node_.deadline(); }
  void OnHold(Adapter& adapter) override;

  static void AfterForkInChild();

  void ShowChanges();
  void ShowReadiness(OpenSocket& open);
  int TakeAnyPort(OpenSocket& open, SocketName* name);

  // Guards everything here and below: the node, the link, all sockets.
  std::mutex mutex_;
  Bell changed_;                     // sockets may have something or room, or peers may have room
  int sending_ = 0;                  // calls that drive and wait for one of the latter
  const Driver* turning_ = nullptr;  // has handled events in the background
  std::vector<std::shared_ptr<OpenSocket>> to_wake_;  // Readiness::Show() is due
  PortTable ports_;
  DatLink link_;
  const Instance self_;
  Node node_;
  InfoService* info_service_ = nullptr;  // from the first bind on
  std::unordered_map<Adapter*, Driver*> drivers_;
  std::unordered_map<int, std::shared_ptr<OpenSocket>> descriptors_;
  std::unordered_map<SocketId, OpenSocket*> sockets_;
};

}  // namespace softdat::rds

#endif  // SOFTDAT_RDS_API_LIBRARY_H_
