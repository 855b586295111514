// SPDX-License-Identifier: BSD-3-Clause
// Calls that the kernel keeps for seconds: an attempt to connect over iWARP that was given up
// cannot be destroyed before the peer has answered or the kernel's time for that is over (siw of
// Linux 6.1: ten seconds), and neither can its queue pair. Nobody who frees an endpoint shall wait
// for it.
#ifndef SOFTDAT_PROVIDER_VERBS_REAPER_H_
#define SOFTDAT_PROVIDER_VERBS_REAPER_H_

#include <functional>
#include <list>
#include <mutex>

namespace softdat::verbs {

class Reaper {
 public:
  Reaper();
  ~Reaper();
  Reaper(const Reaper&) = delete;
  Reaper& operator=(const Reaper&) = delete;

  // Calls `work` in a thread of its own; here, where there is none to be had.
  void Run(std::function<void()> work);
  // Waits until all work is done.
  void Join();
  // In a forked child: the threads are the parent's.
  void AbandonAfterFork();

 private:
  struct Task;

  std::mutex mutex_;  // protects tasks_
  std::list<Task> tasks_;
};

}  // namespace softdat::verbs

#endif  // SOFTDAT_PROVIDER_VERBS_REAPER_H_
