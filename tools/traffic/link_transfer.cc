// SPDX-License-Identifier: BSD-3-Clause
// Posting transfers and taking their completions. No allocation unless something fails.
#include <fmt/format.h>

#include "tools/common/dat_error.h"
#include "tools/common/names.h"
#include "tools/traffic/link.h"

namespace softdat::tools {
namespace {

DAT_DTO_COOKIE NoCookie() { return DAT_DTO_COOKIE{}; }

DAT_RMR_TRIPLET Remote(const RemoteMemory& memory, DAT_SEG_LENGTH bytes) {
  return DAT_RMR_TRIPLET{memory.address, bytes, memory.context};
}

// The next event of `evd`; a failure is returned as DAT has it.
DAT_RETURN NextEvent(DAT_EVD_HANDLE evd, WaitMode mode, DAT_EVENT* event) {
  DAT_RETURN result;
  if (mode == WaitMode::kPoll) {
    do {
      result = dat_evd_dequeue(evd, event);
    } while (DAT_GET_TYPE(result) == DAT_QUEUE_EMPTY);
    return result;
  }
  do {
    DAT_COUNT more = 0;
    result = dat_evd_wait(evd, DAT_TIMEOUT_INFINITE, 1, event, &more);
  } while (DAT_GET_TYPE(result) == DAT_INTERRUPTED_CALL);
  return result;
}

bool IsSuccess(const DAT_EVENT& event) {
  return event.event_number == DAT_DTO_COMPLETION_EVENT &&
         event.event_data.dto_completion_event_data.status == DAT_DTO_SUCCESS;
}

}  // namespace

Outcome Link::PostReceive(DAT_LMR_TRIPLET segment) {
  const DAT_COUNT segments = segment.segment_length > 0 ? 1 : 0;
  return Check("dat_ep_post_recv", dat_ep_post_recv(ep_.get(), segments, &segment, NoCookie(),
                                                    DAT_COMPLETION_DEFAULT_FLAG));
}

Outcome Link::PostSend(DAT_LMR_TRIPLET segment, DAT_COMPLETION_FLAGS flags) {
  const DAT_COUNT segments = segment.segment_length > 0 ? 1 : 0;
  return Check("dat_ep_post_send",
               dat_ep_post_send(ep_.get(), segments, &segment, NoCookie(), flags));
}

Outcome Link::PostWrite(DAT_LMR_TRIPLET segment, const RemoteMemory& target,
                        DAT_COMPLETION_FLAGS flags) {
  const DAT_RMR_TRIPLET remote = Remote(target, segment.segment_length);
  return Check("dat_ep_post_rdma_write",
               dat_ep_post_rdma_write(ep_.get(), 1, &segment, NoCookie(), &remote, flags));
}

Outcome Link::PostRead(DAT_LMR_TRIPLET segment, const RemoteMemory& source,
                       DAT_COMPLETION_FLAGS flags) {
  const DAT_RMR_TRIPLET remote = Remote(source, segment.segment_length);
  return Check("dat_ep_post_rdma_read",
               dat_ep_post_rdma_read(ep_.get(), 1, &segment, NoCookie(), &remote, flags));
}

Outcome Link::NextSuccess(const Evd& evd, WaitMode mode, const char* what, DAT_EVENT* event) {
  const DAT_RETURN result = NextEvent(evd.get(), mode, event);
  if (result == DAT_SUCCESS && IsSuccess(*event)) [[likely]]
    return {};
  SOFTDAT_TRY(Check(mode == WaitMode::kPoll ? "dat_evd_dequeue" : "dat_evd_wait", result));
  return Examine(*event, what);
}

// Why the connection is over, if it is: its connection event says.
std::string Link::WhyOver() {
  if (!end_) {
    DAT_EVENT event{};
    DAT_COUNT more = 0;
    constexpr DAT_TIMEOUT kGraceUs = 1'000'000;  // the event may be a moment behind the flush
    if (dat_evd_wait(connect_evd_.get(), kGraceUs, 1, &event, &more) != DAT_SUCCESS) return "";
    end_ = event.event_number;
  }
  return fmt::format("; the connection ended: {}", EventName(*end_));
}

Outcome Link::Examine(const DAT_EVENT& event, const char* what) {
  if (event.event_number != DAT_DTO_COMPLETION_EVENT)
    return Outcome::Fail(fmt::format("{}: unexpected {}", what, EventName(event.event_number)));
  const auto status = event.event_data.dto_completion_event_data.status;
  if (status == DAT_DTO_SUCCESS) return {};
  return Outcome::Fail(fmt::format("{} completed with {}{}", what, StatusName(status), WhyOver()));
}

Outcome Link::NextReceive(WaitMode mode, uint32_t* bytes) {
  DAT_EVENT event;
  SOFTDAT_TRY(NextSuccess(receive_evd_, mode, "a receive", &event));
  if (bytes != nullptr) *bytes = event.event_data.dto_completion_event_data.transfered_length;
  return {};
}

Outcome Link::NextRequest(WaitMode mode) {
  DAT_EVENT event;
  return NextSuccess(request_evd_, mode, "a request", &event);
}

Outcome Link::PollForTrouble() {
  DAT_EVENT event;
  const DAT_RETURN result = dat_evd_dequeue(receive_evd_.get(), &event);
  if (DAT_GET_TYPE(result) == DAT_QUEUE_EMPTY) return {};
  SOFTDAT_TRY(Check("dat_evd_dequeue", result));
  SOFTDAT_TRY(Examine(event, "a receive"));
  return Outcome::Fail("a message came when none was due");
}

}  // namespace softdat::tools
