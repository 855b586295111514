// SPDX-License-Identifier: BSD-3-Clause
// Runs calls in which the kernel stays for seconds. An attempt to connect over iWARP that was given
// up cannot be destroyed before the peer has answered or the kernel's time for that is over (siw of
// Linux 6.1: ten seconds). Its queue pair cannot be destroyed earlier, either. A thread that frees
// an endpoint must not wait for that.
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

  // Calls `work` in a new thread, or in the calling thread if no new one can be had.
  void Run(std::function<void()> work);
  // Waits until all work is done.
  void Join();
  // To be called in a forked child, because the threads are the parent's.
  void AbandonAfterFork();

 private:
  struct Task;

  std::mutex mutex_;  // protects tasks_
  std::list<Task> tasks_;
};

}  // namespace softdat::verbs

#endif  // SOFTDAT_PROVIDER_VERBS_REAPER_H_
