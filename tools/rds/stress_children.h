// SPDX-License-Identifier: BSD-3-Clause
// The tasks of one end of rds-softstress as seen by their parent.
#ifndef SOFTDAT_TOOLS_RDS_STRESS_CHILDREN_H_
#define SOFTDAT_TOOLS_RDS_STRESS_CHILDREN_H_

#include <poll.h>
#include <sys/types.h>

#include <array>
#include <string>
#include <vector>

#include "tools/common/outcome.h"
#include "tools/common/unique_fd.h"
#include "tools/rds/stress_control.h"
#include "tools/rds/stress_counts.h"
#include "tools/rds/stress_task.h"

namespace softdat::tools {

// The parent must not have used RDS: a socket stays with the process that made it.
class StressChildren {
 public:
  StressChildren() = default;
  StressChildren(const StressChildren&) = delete;
  StressChildren& operator=(const StressChildren&) = delete;
  // Kills what is left of them.
  ~StressChildren();

  // Starts a process for each task. `setup` without what differs between them. `unneeded`: a
  // descriptor that they do not need.
  Outcome Start(StressTaskSetup setup, int unneeded);

  enum Phase : size_t { kRun, kDrain, kEnd, kPhases };
  // Lets them pass into a phase.
  void Open(Phase phase) { gates_[phase].write = UniqueFd(); }

  // Adds what is to be polled for them.
  void AddTo(std::vector<pollfd>* polled) const;
  // Takes what they tell, without waiting. The first failure of a task is the outcome.
  Outcome Look();

  uint32_t tasks() const { return static_cast<uint32_t>(children_.size()); }
  bool AllReady() const { return ready_ == children_.size(); }
  bool AllDrained() const { return drained_ == children_.size(); }
  bool AllEnded() const { return ended_ == children_.size(); }
  StressCounts Counts() const;
  void Kill();

 private:
  struct Gate {
    UniqueFd read, write;
  };
  struct Child {
    pid_t process = -1;
    UniqueFd reports;
    LineBuffer lines;
    std::string failure;  // what it says about it
    bool ended = false;
  };

  Outcome Ended(size_t index);

  std::array<Gate, kPhases> gates_;
  std::vector<Child> children_;
  size_t ready_ = 0, drained_ = 0, ended_ = 0;
  SharedCounts* counts_ = nullptr;  // by task
};

}  // namespace softdat::tools

#endif  // SOFTDAT_TOOLS_RDS_STRESS_CHILDREN_H_
