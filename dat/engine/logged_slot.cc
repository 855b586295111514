// SPDX-License-Identifier: BSD-3-Clause
// Failed calls as lines of the log.
#include "dat/engine/logged_slot.h"

#include <fmt/format.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "dat/base/log.h"
#include "dat/base/reason.h"
#include "dat/base/setting_values.h"

namespace softdat::engine {
namespace {

constexpr uint32_t kLogBits = kLogLevelDebug | kLogAreaProviderApi;
constexpr DAT_COUNT kMostSegments = 4;

// Copies `n` bytes from where a consumer points; false when they are not there.
bool ReadSafely(const void* from, void* to, size_t n) {
  const iovec here = {to, n};
  // The system call writes nothing there.
  const iovec there = {const_cast<void*>(from), n};
  return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == static_cast<ssize_t>(n);
}

}  // namespace

bool LogsFailedCalls() {
  StartLog();
  return LogEnabled(kLogBits);
}

std::string* ArgumentText::Next() {
  if (!text_.empty()) text_ += ", ";
  return &text_;
}

void ArgumentText::AddAddress(uintptr_t address) {
  *Next() += address == 0 ? "NULL" : fmt::format("{:#x}", address);
}
void ArgumentText::AddHex(uint64_t value) { *Next() += fmt::format("{:#x}", value); }
void ArgumentText::AddNumber(int64_t value) { *Next() += fmt::format("{}", value); }

void ArgumentText::AddName(const char* name) {
  std::array<char, DAT_NAME_MAX_LENGTH> copy{};
  // Byte by byte: it may end in front of memory that is not there.
  for (size_t i = 0; i + 1 < copy.size(); ++i) {
    if (!ReadSafely(name + i, &copy[i], 1) || copy[i] == '\0') break;
  }
  if (name == nullptr) return AddAddress(0);
  *Next() += '"' + Printable(copy.data()) + '"';
}

void ArgumentText::AddSegments(const DAT_LMR_TRIPLET* segments, DAT_COUNT count) {
  AddAddress(reinterpret_cast<uintptr_t>(segments));
  const DAT_COUNT shown = std::clamp(count, 0, kMostSegments);
  std::string list;
  for (DAT_COUNT i = 0; i < shown; ++i) {
    DAT_LMR_TRIPLET segment;
    if (!ReadSafely(segments + i, &segment, sizeof(segment))) return;
    list += fmt::format("{}{{{:#x}, {}, {:#x}}}", list.empty() ? "" : " ", segment.virtual_address,
                        segment.segment_length, segment.lmr_context);
  }
  if (shown < count) list += " ...";
  if (!list.empty()) text_ += " [" + list + "]";
}

void ArgumentText::AddRemote(const DAT_RMR_TRIPLET* remote) {
  AddAddress(reinterpret_cast<uintptr_t>(remote));
  DAT_RMR_TRIPLET copy;
  if (!ReadSafely(remote, &copy, sizeof(copy))) return;
  text_ += fmt::format(" [{{{:#x}, {}, {:#x}}}]", copy.virtual_address, copy.segment_length,
                       copy.rmr_context);
}

ReasonsOfCall::ReasonsOfCall() : before_(LastReasons()) { ClearReasons(); }

ReasonsOfCall::~ReasonsOfCall() {
  if (!keep_ && !before_.empty()) SetReason(before_);
}

void LogFailedCall(const char* call, const std::string& arguments, DAT_RETURN result) {
  if (!LogEnabled(kLogBits)) return;
  const char* type = "";
  const char* subtype = "";
  static_cast<void>(dat_strerror(result, &type, &subtype));
  const std::string reasons = LastReasons();
  WriteLog(kLogBits, fmt::format("{}({}) = {:#x} {} {}{}{}", call, arguments, result, type, subtype,
                                 reasons.empty() ? "" : ": ", reasons));
}

}  // namespace softdat::engine
