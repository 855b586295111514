// SPDX-License-Identifier: BSD-3-Clause
// Per-thread reason chain. Thread-local, so it needs no lock.
#include "dat/base/reason.h"

#include <algorithm>
#include <vector>

namespace softdat {
namespace {

// Long enough for every layer; a loop that adds reasons without end must not eat memory.
constexpr size_t kMaxReasons = 16;

std::vector<std::string>& Chain() {
  thread_local std::vector<std::string> chain;  // innermost first
  return chain;
}

}  // namespace

void SetReason(std::string reason) {
  Chain().clear();
  Chain().push_back(std::move(reason));
}

void AddReason(std::string reason) {
  if (Chain().size() < kMaxReasons) Chain().push_back(std::move(reason));
}

std::string LastReasons() {
  std::string text;
  const auto& chain = Chain();
  std::for_each(chain.rbegin(), chain.rend(), [&text](const std::string& reason) {
    if (!text.empty()) text += '\n';
    text += reason;
  });
  return text;
}

void ClearReasons() { Chain().clear(); }

Code Record(const Status& status) {
  if (!status.ok()) SetReason(std::string(status.reason()));
  return status.code();
}

}  // namespace softdat
