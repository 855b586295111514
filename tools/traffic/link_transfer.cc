// SPDX-License-Identifier: BSD-3-Clause
// Posting transfers and taking their completions. No allocation unless something fails.
#include <errno.h>
#include <fmt/format.h>
#include <sys/epoll.h>

#include <cstring>

#include "dat/client/names.h"
#include "dat/client/post.h"
#include "dat2/dat_ib_extensions.h"
#include "tools/common/dat_calls.h"
#include "tools/traffic/link.h"

namespace softdat::tools {
namespace {

using client::EventName;
using client::StatusName;

// The cookie tells which connection a completion belongs to, and whether it is that of a notice.
constexpr uint64_t kNotice = uint64_t{1} << 32;

// One segment, or none if it is empty.
client::Segments Message(const DAT_LMR_TRIPLET& segment) {
  return {&segment, segment.segment_length > 0 ? size_t{1} : 0};
}

// The call that fails if a wait of this mode does.
const char* CallOf(WaitMode mode) {
  return mode == WaitMode::kWait ? "dat_evd_wait" : "dat_evd_dequeue, dat_cno_wait";
}

// Completions of the extension also have the data of a DTO completion.
bool IsCompletion(const DAT_EVENT& event) {
  return event.event_number == DAT_DTO_COMPLETION_EVENT ||
         static_cast<uint32_t>(event.event_number) == DAT_IB_DTO_EVENT;
}

bool IsSuccess(const DAT_EVENT& event) {
  return IsCompletion(event) &&
         event.event_data.dto_completion_event_data.status == DAT_DTO_SUCCESS;
}

const char* WhatOf(bool is_request) { return is_request ? "a request" : "a receive"; }

}  // namespace

Outcome Link::PrepareWait(WaitMode mode) {
  if (mode == WaitMode::kCno && !cno_) SOFTDAT_TRY(Check(cno_.Create(*ia_)));
  if (mode == WaitMode::kFd && !fd_cno_) {
    DAT_FD fd = -1;
    SOFTDAT_TRY(Check(fd_cno_.CreateFd(*ia_, &fd)));
    epoll_ = UniqueFd(epoll_create1(EPOLL_CLOEXEC));
    epoll_event event{};
    event.events = EPOLLIN;
    if (!epoll_ || epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0)
      return Outcome::Fail(fmt::format("epoll: {}", strerror(errno)));
  }
  DAT_CNO_HANDLE wanted = DAT_HANDLE_NULL;
  if (mode == WaitMode::kCno) wanted = cno_.get();
  if (mode == WaitMode::kFd) wanted = fd_cno_.get();
  if (wanted == attached_) return {};
  for (const Completions* completions : {&receives_, &requests_}) {
    SOFTDAT_TRY(Check("dat_evd_modify_cno", dat_evd_modify_cno(completions->evd, wanted)));
  }
  attached_ = wanted;
  return {};
}

DAT_RETURN Link::Sleep(WaitMode mode) {
  DAT_EVD_HANDLE unused = DAT_HANDLE_NULL;
  DAT_RETURN result = DAT_SUCCESS;
  if (mode == WaitMode::kCno) {
    result = dat_cno_wait(cno_, DAT_TIMEOUT_INFINITE, &unused);
  } else if (mode == WaitMode::kFd) {
    epoll_event ready{};
    if (epoll_wait(epoll_.get(), &ready, 1, -1) > 0) result = dat_cno_trigger(fd_cno_, &unused);
  }
  const bool again =
      DAT_GET_TYPE(result) == DAT_INTERRUPTED_CALL || DAT_GET_TYPE(result) == DAT_QUEUE_EMPTY;
  return again ? DAT_RETURN{DAT_SUCCESS} : result;
}

DAT_RETURN Link::Take(Completions* completions, DAT_EVENT* event) {
  if (completions->next == completions->held.size()) [[likely]]
    return dat_evd_dequeue(completions->evd, event);
  *event = completions->held[completions->next++];
  if (completions->next == completions->held.size()) {
    completions->held.clear();
    completions->next = 0;
  }
  return DAT_SUCCESS;
}

void Link::Hold(Completions* completions) {
  DAT_EVENT event;
  while (dat_evd_dequeue(completions->evd, &event) == DAT_SUCCESS)
    completions->held.push_back(event);
}

DAT_RETURN Link::NextEvent(Completions* wanted, WaitMode mode, DAT_EVENT* event) {
  if (mode == WaitMode::kWait && wanted->held.empty()) return client::WaitEvent(wanted->evd, event);
  while (true) {
    const DAT_RETURN result = Take(wanted, event);
    if (DAT_GET_TYPE(result) != DAT_QUEUE_EMPTY) return result;
    if (mode != WaitMode::kPoll) Hold(wanted == &receives_ ? &requests_ : &receives_);
    if (const DAT_RETURN slept = Sleep(mode); slept != DAT_SUCCESS) return slept;
  }
}

Outcome Link::PostReceive(DAT_LMR_TRIPLET segment, uint32_t connection) {
  return Check(client::PostReceive(eps_[connection], Message(segment), connection));
}

Outcome Link::PostSend(DAT_LMR_TRIPLET segment, DAT_COMPLETION_FLAGS flags, uint32_t connection) {
  return Check(client::PostSend(eps_[connection], Message(segment), connection, flags));
}

Outcome Link::PostNotice(uint32_t connection) {
  return Check(client::PostSend(eps_[connection], {}, kNotice | connection));
}

Outcome Link::PostRdma(Operation operation, DAT_LMR_TRIPLET segment, const RemoteMemory& target,
                       DAT_COMPLETION_FLAGS flags, uint32_t connection) {
  const client::Ep& ep = eps_[connection];
  const DAT_RMR_TRIPLET remote =
      client::RemoteSegment(target.address, target.context, segment.segment_length);
  switch (operation) {
    case Operation::kWrite:
      return Check(client::PostWrite(ep, segment, remote, connection, flags));
    case Operation::kRead:
      return Check(client::PostRead(ep, segment, remote, connection, flags));
    case Operation::kWriteImmediate:
      return Check(client::PostWriteImmediate(ep, segment, remote, 1, connection, flags));
    case Operation::kFetchAndAdd:
      return Check(client::PostFetchAndAdd(ep, segment, remote, 1, connection, flags));
    case Operation::kCompareAndSwap:
      return Check(client::PostCompareAndSwap(ep, segment, remote, 0, 0, connection, flags));
    case Operation::kSend:
    case Operation::kMessage:
    case Operation::kMessageByRead:
      break;
  }
  return Outcome::Fail("a message has no remote memory");
}

Outcome Link::Interpret(DAT_RETURN result, WaitMode mode, const DAT_EVENT& event, bool is_request,
                        Completion* completion) {
  if (result != DAT_SUCCESS) [[unlikely]]
    return Check(CallOf(mode), result);
  if (!IsSuccess(event)) [[unlikely]]
    return Examine(event, WhatOf(is_request));
  if (completion == nullptr) return {};
  const auto& data = event.event_data.dto_completion_event_data;
  completion->bytes = static_cast<uint32_t>(data.transfered_length);
  completion->connection = static_cast<uint32_t>(data.user_cookie.as_64);
  completion->is_request = is_request;
  completion->is_notice = (data.user_cookie.as_64 & kNotice) != 0;
  completion->is_immediate = event.event_number != DAT_DTO_COMPLETION_EVENT;
  return {};
}

// Returns why the connection is over, if it is. Its connection event tells that.
std::string Link::WhyOver() {
  if (!end_) {
    DAT_EVENT event{};
    constexpr DAT_TIMEOUT kGraceUs = 1'000'000;  // the event may come a moment after the flush
    if (client::WaitEvent(connect_evd_, kGraceUs, &event) != DAT_SUCCESS) return "";
    NoteEnd(event.event_number);
  }
  return fmt::format("; the connection ended: {}", EventName(*end_));
}

Outcome Link::Examine(const DAT_EVENT& event, const char* what) {
  if (!IsCompletion(event))
    return Outcome::Fail(fmt::format("{}: unexpected {}", what, EventName(event.event_number)));
  const auto status = event.event_data.dto_completion_event_data.status;
  if (status == DAT_DTO_SUCCESS) return {};
  return Outcome::Fail(fmt::format("{} completed with {}{}", what, StatusName(status), WhyOver()));
}

Outcome Link::NextReceive(WaitMode mode, Completion* completion) {
  DAT_EVENT event;
  const DAT_RETURN result = NextEvent(&receives_, mode, &event);
  return Interpret(result, mode, event, false, completion);
}

Outcome Link::NextRequest(WaitMode mode, Completion* completion) {
  DAT_EVENT event;
  const DAT_RETURN result = NextEvent(&requests_, mode, &event);
  return Interpret(result, mode, event, true, completion);
}

Outcome Link::NextEither(WaitMode mode, Completion* completion) {
  DAT_EVENT event;
  while (true) {
    for (Completions* completions : {&requests_, &receives_}) {
      const DAT_RETURN result = Take(completions, &event);
      if (DAT_GET_TYPE(result) != DAT_QUEUE_EMPTY)
        return Interpret(result, mode, event, completions == &requests_, completion);
    }
    SOFTDAT_TRY(Check("dat_cno_wait", Sleep(mode)));
  }
}

Outcome Link::TryReceive(std::optional<Completion>* completion) {
  DAT_EVENT event;
  const DAT_RETURN result = Take(&receives_, &event);
  if (DAT_GET_TYPE(result) == DAT_QUEUE_EMPTY) {
    completion->reset();
    return {};
  }
  return Interpret(result, WaitMode::kPoll, event, false, &completion->emplace());
}

Outcome Link::PollForTrouble() {
  DAT_EVENT event;
  const DAT_RETURN result = Take(&receives_, &event);
  if (DAT_GET_TYPE(result) == DAT_QUEUE_EMPTY) return {};
  SOFTDAT_TRY(Check("dat_evd_dequeue", result));
  SOFTDAT_TRY(Examine(event, "a receive"));
  return Outcome::Fail("a message came when none was due");
}

}  // namespace softdat::tools
