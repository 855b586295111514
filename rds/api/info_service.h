// SPDX-License-Identifier: BSD-3-Clause
// RDS_INFO_* are about all sockets of the host, so each process that has bound one answers others.
//
// Where it answers is a unix socket with an abstract name, softdat-rds/info/INSTANCE, so that the
// kernel's table tells who there is, and a process that has ended is not in it. An asker connects,
// reads to the end, and has what EncodeForOthers() makes. Processes of another user are not told,
// but for root's.
#ifndef SOFTDAT_RDS_API_INFO_SERVICE_H_
#define SOFTDAT_RDS_API_INFO_SERVICE_H_

#include <functional>
#include <string>

#include "rds/socket/info.h"
#include "rds/socket/introduction.h"

namespace softdat::rds {

// A thread that sleeps until somebody asks.
class InfoService {
 public:
  // `collect` is called by the thread, with no lock held. Without a descriptor or a thread for it,
  // this process is not seen by others.
  InfoService(Instance self, std::function<Info()> collect);
  InfoService(const InfoService&) = delete;
  InfoService& operator=(const InfoService&) = delete;
  // Never: it lives as long as the process.
  ~InfoService() = delete;

  // The name is the parent's, and must not stay because a child has a copy of the descriptor.
  static void AfterForkInChild();

 private:
  void Run();

  const std::function<Info()> collect_;
};

// What the other processes of the host answer, without the lock of the library. One that does not
// answer in time, because it is stopped, is left out.
Info AskOthers(Instance self);

// The instance in a line of /proc/net/unix that names such a socket, or kKernelInstance.
Instance AnsweringInstance(const std::string& line);

}  // namespace softdat::rds

#endif  // SOFTDAT_RDS_API_INFO_SERVICE_H_
