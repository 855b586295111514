// SPDX-License-Identifier: BSD-3-Clause
#include "provider_verbs/reaper.h"

#include <signal.h>

#include <atomic>
#include <system_error>
#include <thread>
#include <utility>

namespace softdat::verbs {

struct Reaper::Task {
  std::function<void()> work;     // the thread's, with all that it keeps alive
  std::atomic<bool> done{false};  // the thread sets it last
  std::thread thread;
};

Reaper::Reaper() = default;
Reaper::~Reaper() { Join(); }

void Reaper::Run(std::function<void()> work) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (auto task = tasks_.begin(); task != tasks_.end();) {
    if (!task->done.load(std::memory_order_acquire)) {
      ++task;
      continue;
    }
    task->thread.join();
    task = tasks_.erase(task);
  }
  Task& task = tasks_.emplace_back();
  task.work = std::move(work);
  try {
    task.thread = std::thread([&task] {
      sigset_t all;
      sigfillset(&all);
      pthread_sigmask(SIG_SETMASK, &all, nullptr);
      std::exchange(task.work, nullptr)();
      task.done.store(true, std::memory_order_release);
    });
  } catch (const std::system_error&) {
    const auto here = std::move(task.work);
    tasks_.pop_back();
    here();
  }
}

void Reaper::Join() {
  std::list<Task> tasks;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    tasks.swap(tasks_);
  }
  for (Task& task : tasks) task.thread.join();
}

void Reaper::AbandonAfterFork() { static_cast<void>(new std::list<Task>(std::move(tasks_))); }

}  // namespace softdat::verbs
