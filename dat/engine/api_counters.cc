// SPDX-License-Identifier: BSD-3-Clause
// The extended operations on counters (semantics 15.2). Arguments are numbered as in the macros of
// dat2/api/ib_counters.h.
#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstdio>
#include <string>

#include "dat/engine/counter_names.h"
#include "dat/engine/ep.h"
#include "dat/engine/events/evd.h"
#include "dat/engine/ia.h"
#include "dat/engine/object/dat_error.h"
#include "dat/engine/slots.h"
#include "dat2/dat_ib_extensions.h"

namespace softdat::engine::slots {
namespace {

constexpr size_t kMostCounters = std::max({Ia::kCounters, Ep::kCounters, Evd::kCounters});

// The pinned object behind a handle, if it is of a kind that has counters.
class Counted {
 public:
  explicit Counted(DAT_HANDLE handle) : object_(handle) {
    if (object_) names_ = CounterNames(object_->type());
  }
  explicit operator bool() const { return !names_.empty(); }

  // Whether the object has this counter. The number behind the last one is DCNT_*_ALL_COUNTERS.
  bool Has(int counter) const {
    return counter >= 0 && static_cast<size_t>(counter) <= names_.size();
  }
  // The names of the counters that Read returns.
  std::span<const std::string_view> Names(int counter) const {
    const auto which = static_cast<size_t>(counter);
    return which == names_.size() ? names_ : names_.subspan(which, 1);
  }
  void Read(int counter, bool reset, DAT_UINT64* out) {
    switch (object_->type()) {
      case DAT_HANDLE_TYPE_IA:
        return ReadOf<Ia>(counter, reset, out);
      case DAT_HANDLE_TYPE_EP:
        return ReadOf<Ep>(counter, reset, out);
      default:
        return ReadOf<Evd>(counter, reset, out);
    }
  }
  const std::string& ia_name() const { return object_->ia().name(); }

 private:
  template <typename T>
  void ReadOf(int counter, bool reset, DAT_UINT64* out) {
    static_cast<T&>(*object_).ReadCounters(static_cast<size_t>(counter), reset, out);
  }

  AnyPinned object_;
  std::span<const std::string_view> names_;
};

DAT_RETURN NoSuchCounter() { return BadArgument(2, "objects of this kind have no such counter"); }

// dat_ib_query_counters(handle, counter, counters_out, reset)
DAT_RETURN Query(Counted& object, va_list args) {
  const int counter = va_arg(args, int);
  auto* out = va_arg(args, DAT_UINT64*);
  const bool reset = va_arg(args, int) != 0;
  if (!object.Has(counter)) return NoSuchCounter();
  if (out == nullptr) return BadArgument(3);
  object.Read(counter, reset, out);
  return DAT_SUCCESS;
}

// dat_ib_print_counters(handle, counter, reset)
DAT_RETURN Print(DAT_HANDLE handle, Counted& object, va_list args) {
  const int counter = va_arg(args, int);
  const bool reset = va_arg(args, int) != 0;
  if (!object.Has(counter)) return NoSuchCounter();
  std::array<DAT_UINT64, kMostCounters> values;
  object.Read(counter, reset, values.data());
  // One write, so that the lines of several threads do not mix.
  std::string text;
  size_t i = 0;
  for (const std::string_view name : object.Names(counter)) {
    std::array<char, 128> line;
    const int n = std::snprintf(line.data(), line.size(), " %p %.*s %llu\n", handle,
                                static_cast<int>(name.size()), name.data(),
                                static_cast<unsigned long long>(values[i++]));
    text.append(object.ia_name()).append(line.data(), static_cast<size_t>(n));
  }
  std::fwrite(text.data(), 1, text.size(), stdout);
  return DAT_SUCCESS;
}

// dat_ib_start_counter(ia, type), dat_ib_stop_counter(ia, type)
DAT_RETURN StartOrStop(DAT_IA_HANDLE handle, bool start, va_list args) {
  const Pinned<Ia> ia(handle);
  if (!ia) return BadHandle(DAT_INVALID_HANDLE_IA);
  // An argument of `...` is an int, whatever it was cast to.
  const int type = va_arg(args, int);
  if (type < DCNT_IA_CM || type > DCNT_IA_DIAG)
    return BadArgument(2, "an IA has no such group of counters");
  const auto group = static_cast<DAT_IA_COUNTER_TYPE>(type);
  if (start) {
    ia->counters().Start(group);
  } else {
    ia->counters().Stop(group);
  }
  return DAT_SUCCESS;
}

}  // namespace

DAT_RETURN CountersOp(DAT_HANDLE handle, DAT_EXTENDED_OP op, va_list args) {
  if (op == DAT_IB_START_COUNTERS_OP || op == DAT_IB_STOP_COUNTERS_OP)
    return StartOrStop(handle, op == DAT_IB_START_COUNTERS_OP, args);
  Counted object(handle);
  if (!object) return BadHandle(DAT_INVALID_HANDLE1);
  return op == DAT_IB_QUERY_COUNTERS_OP ? Query(object, args) : Print(handle, object, args);
}

}  // namespace softdat::engine::slots
