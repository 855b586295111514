// SPDX-License-Identifier: BSD-3-Clause
// Functions that programs of several processes share.
#include "tests/field/plain.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>

#ifdef __SANITIZE_ADDRESS__
// LeakSanitizer asks this at exit. These programs end with all their objects, and with threads of
// the library that its tracer cannot look at (LLVM 14).
extern "C" [[gnu::visibility("default")]] int __lsan_is_turned_off() { return 1; }
#endif

namespace softdat::field {

void Die(const char* format, ...) {
  std::fprintf(stderr, "%s[%d]: ", program_invocation_short_name, getpid());
  va_list arguments;
  va_start(arguments, format);
  std::vfprintf(stderr, format, arguments);
  va_end(arguments);
  std::fputc('\n', stderr);
  std::_Exit(1);
}

void Must(const char* call, DAT_RETURN ret) {
  if (ret != DAT_SUCCESS) Die("%s", client::DescribeFailure(call, ret).c_str());
}

PlainIa::PlainIa(const std::string& name) {
  MUST(ia.Open(name, 64));
  MUST(pz.Create(ia));
}

DAT_EVD_HANDLE PlainIa::NewEvd(int flags, DAT_COUNT qlen) const {
  client::Evd evd;
  MUST(evd.Create(ia, flags, qlen));
  return evd.Release();
}

DAT_EP_HANDLE PlainIa::NewEp(const client::EpEvds& evds, const DAT_EP_ATTR* attributes) const {
  client::Ep ep;
  MUST(ep.Create(ia, pz, evds, attributes));
  return ep.Release();
}

PlainMemory::PlainMemory(const PlainIa& plain, size_t count) {
  if (!Map(count * sizeof *words)) Die("no memory for %zu words", count);
  words = reinterpret_cast<uint64_t*>(data());
  MUST(Register(plain.ia, plain.pz));
}

void FillPattern(uint64_t* words, size_t n, uint64_t seed) {
  for (size_t i = 0; i < n; ++i) words[i] = PatternWord(seed, i);
}

size_t FirstStale(const uint64_t* words, size_t n, uint64_t seed) {
  for (size_t i = 0; i < n; ++i) {
    if (words[i] != PatternWord(seed, i)) return i;
  }
  return n;
}

DAT_EVENT MustWait(DAT_EVD_HANDLE evd, DAT_EVENT_NUMBER number) {
  DAT_EVENT event{};
  MUST(client::WaitEvent(evd, kPlainPatienceUs, &event));
  if (event.event_number != number) {
    Die("event %#x came instead of %#x", event.event_number, number);
  }
  return event;
}

DAT_DTO_COMPLETION_EVENT_DATA MustComplete(DAT_EVD_HANDLE evd) {
  const DAT_DTO_COMPLETION_EVENT_DATA data =
      MustWait(evd, DAT_DTO_COMPLETION_EVENT).event_data.dto_completion_event_data;
  if (data.status != DAT_DTO_SUCCESS) {
    Die("completion of %llu with status %d",
        static_cast<unsigned long long>(data.user_cookie.as_64), data.status);
  }
  return data;
}

pid_t Spawn(const std::function<int()>& body) {
  std::fflush(nullptr);
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0) Die("fork failed");
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    const int status = body();
    std::exit(status);
  }
  return pid;
}

Load::Load(int processes) {
  for (int i = 0; i < processes; ++i) {
    pids_.push_back(Spawn([]() -> int {
      volatile uint64_t sum = 0;
      for (;;) sum = sum + 1;
    }));
  }
}

Load::~Load() {
  for (const pid_t pid : pids_) {
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
  }
}

PlainOptions::PlainOptions(int argc, char** argv, const char* usage)
    : usage_(usage), left_(argv + 1, argv + argc) {
  if (std::find(left_.begin(), left_.end(), "--help") == left_.end()) return;
  std::printf("usage: %s %s\n", program_invocation_short_name, usage_);
  std::exit(0);
}

std::string PlainOptions::Text(const char* name, const std::string& otherwise) {
  const auto at = std::find(left_.begin(), left_.end(), name);
  if (at == left_.end()) return otherwise;
  if (at + 1 == left_.end()) Die("%s wants a value; usage: %s", name, usage_);
  const std::string value = *(at + 1);
  left_.erase(at, at + 2);
  return value;
}

long PlainOptions::Number(const char* name, long otherwise) {
  const std::string text = Text(name, std::to_string(otherwise));
  char* end = nullptr;
  const long value = std::strtol(text.c_str(), &end, 10);
  if (text.empty() || *end != '\0' || value < 0) {
    Die("%s wants a number that is not negative; usage: %s", name, usage_);
  }
  return value;
}

bool PlainOptions::Flag(const char* name) {
  const auto at = std::find(left_.begin(), left_.end(), name);
  if (at == left_.end()) return false;
  left_.erase(at);
  return true;
}

void PlainOptions::RejectOthers() const {
  if (!left_.empty()) Die("unknown option %s; usage: %s", left_.front().c_str(), usage_);
}

}  // namespace softdat::field
