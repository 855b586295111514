// SPDX-License-Identifier: BSD-3-Clause
// Code for programs of several processes. They are no GoogleTest programs, since they also run by
// hand. It has dat/client with calls that must succeed, memory whose words can be told apart,
// processes under a time limit, and processes that only use the CPUs.
#ifndef SOFTDAT_TESTS_FIELD_PLAIN_H_
#define SOFTDAT_TESTS_FIELD_PLAIN_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "dat/client/endpoint.h"
#include "dat/client/events.h"
#include "dat/client/ia.h"
#include "dat/client/memory.h"
#include "dat/client/post.h"
#include "dat/client/result.h"
#include "dat2/udat.h"

namespace softdat::field {

inline constexpr DAT_TIMEOUT kPlainPatienceUs = 60'000'000;

// Says what went wrong and ends the process with status 1.
[[noreturn, gnu::format(printf, 1, 2)]] void Die(const char* format, ...);
// Dies unless the call succeeded.
void Must(const char* call, DAT_RETURN ret);
#define MUST(call) ::softdat::field::Must(#call, call)

// An open IA with a zone. Only a call closes it, since programs end with their process.
struct PlainIa {
  client::Ia ia;
  client::Pz pz;

  explicit PlainIa(const std::string& name);
  ~PlainIa() { ia.Release(); }
  DAT_EVD_HANDLE NewEvd(int flags, DAT_COUNT qlen) const;
  // Makes an EP, with default attributes unless `attributes` is given.
  DAT_EP_HANDLE NewEp(const client::EpEvds& evds, const DAT_EP_ATTR* attributes = nullptr) const;
};

// Registered memory of words, filled with zeros.
struct PlainMemory : client::Memory {
  uint64_t* words = nullptr;

  PlainMemory(const PlainIa& plain, size_t count);
  DAT_LMR_TRIPLET Words(size_t first, size_t count) const {
    return Local(first * sizeof *words, count * sizeof *words);
  }
};

// The word at `index` of the pattern `seed`. No two patterns share a word at the same place.
inline uint64_t PatternWord(uint64_t seed, size_t index) {
  return (seed + 1) * 0x9E3779B97F4A7C15u + index;
}
void FillPattern(uint64_t* words, size_t n, uint64_t seed);
// The index of the first word that does not belong to the pattern, or n.
size_t FirstStale(const uint64_t* words, size_t n, uint64_t seed);

// Returns the next event, which must be of this kind. Dies at another one, or if none comes.
DAT_EVENT MustWait(DAT_EVD_HANDLE evd, DAT_EVENT_NUMBER number);
// Returns the next completion, which must be a success.
DAT_DTO_COMPLETION_EVENT_DATA MustComplete(DAT_EVD_HANDLE evd);

// Runs `body` in a child that never outlives its parent. The child ends as if main() had returned
// the result of `body`.
pid_t Spawn(const std::function<int()>& body);
// Children that compute until the object goes.
class Load {
 public:
  explicit Load(int processes);
  ~Load();
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;

 private:
  std::vector<pid_t> pids_;
};

// --NAME VALUE pairs and --NAME flags. Dies at unknown ones.
class PlainOptions {
 public:
  PlainOptions(int argc, char** argv, const char* usage);
  long Number(const char* name, long otherwise);
  std::string Text(const char* name, const std::string& otherwise);
  bool Flag(const char* name);
  // Call this after asking for all options.
  void RejectOthers() const;

 private:
  const char* const usage_;
  std::vector<std::string> left_;
};

}  // namespace softdat::field

#endif  // SOFTDAT_TESTS_FIELD_PLAIN_H_
