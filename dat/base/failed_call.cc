// SPDX-License-Identifier: BSD-3-Clause
// Failed calls as lines of the log.
#include "dat/base/failed_call.h"

#include <fmt/format.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>

#include "dat/base/log.h"
#include "dat/base/reason.h"
#include "dat/base/setting_values.h"

namespace softdat {

bool ArgumentText::ReadSafely(const void* from, void* to, size_t n) {
  const iovec here = {to, n};
  // The system call writes nothing there.
  const iovec there = {const_cast<void*>(from), n};
  return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == static_cast<ssize_t>(n);
}

std::string ArgumentText::SegmentText(uint64_t address, uint64_t length, uint32_t context) {
  return fmt::format("{{{:#x}, {}, {:#x}}}", address, length, context);
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
  if (name == nullptr) return AddAddress(0);
  constexpr size_t kMostLetters = 256;  // DAT_NAME_MAX_LENGTH
  std::array<char, kMostLetters> copy{};
  // Byte by byte, because the name may end just before memory that is not mapped.
  for (size_t i = 0; i + 1 < copy.size(); ++i) {
    if (!ReadSafely(name + i, &copy[i], 1) || copy[i] == '\0') break;
  }
  *Next() += '"' + Printable(copy.data()) + '"';
}

ReasonsOfCall::ReasonsOfCall() : before_(LastReasons()) { ClearReasons(); }

ReasonsOfCall::~ReasonsOfCall() {
  if (!keep_ && !before_.empty()) SetReason(before_);
}

void LogFailedCall(uint32_t log_bits, const char* call, const std::string& arguments,
                   uint32_t result, const char* type, const char* subtype) {
  const std::string reasons = LastReasons();
  WriteLog(log_bits, fmt::format("{}({}) = {:#x} {} {}{}{}", call, arguments, result, type, subtype,
                                 reasons.empty() ? "" : ": ", reasons));
}

}  // namespace softdat
