// SPDX-License-Identifier: BSD-3-Clause
// Posting transfers and taking their completions. No allocation unless something fails.
#include <errno.h>
#include <fmt/format.h>
#include <sys/epoll.h>

#include <cstring>

#include "dat2/dat_ib_extensions.h"
#include "tools/common/dat_error.h"
#include "tools/common/names.h"
#include "tools/traffic/link.h"

namespace softdat::tools {
namespace {

// Tells which connection a completion belongs to, and whether it is that of a notice.
constexpr uint64_t kNotice = uint64_t{1} << 32;

DAT_DTO_COOKIE Cookie(uint64_t value) {
  DAT_DTO_COOKIE cookie{};
  cookie.as_64 = value;
  return cookie;
}

DAT_RMR_TRIPLET Remote(const RemoteMemory& memory, DAT_SEG_LENGTH bytes) {
  return DAT_RMR_TRIPLET{memory.address, bytes, memory.context};
}

DAT_RETURN WaitForEvent(DAT_EVD_HANDLE evd, DAT_EVENT* event) {
  while (true) {
    DAT_COUNT more = 0;
    const DAT_RETURN result = dat_evd_wait(evd, DAT_TIMEOUT_INFINITE, 1, event, &more);
    if (DAT_GET_TYPE(result) != DAT_INTERRUPTED_CALL) return result;
  }
}

// The call that fails when a wait of this kind does.
const char* CallOf(WaitMode mode) {
  return mode == WaitMode::kWait ? "dat_evd_wait" : "dat_evd_dequeue, dat_cno_wait";
}

// Completions of the extension have the data of a DTO completion too.
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
  if (mode == WaitMode::kCno && !cno_) {
    SOFTDAT_TRY(Check("dat_cno_create",
                      dat_cno_create(ia_.get(), DAT_OS_WAIT_PROXY_AGENT_NULL, cno_.out())));
  }
  if (mode == WaitMode::kFd && !fd_cno_) {
    DAT_FD fd = -1;
    SOFTDAT_TRY(Check("dat_cno_fd_create", dat_cno_fd_create(ia_.get(), &fd, fd_cno_.out())));
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
    SOFTDAT_TRY(Check("dat_evd_modify_cno", dat_evd_modify_cno(completions->evd.get(), wanted)));
  }
  attached_ = wanted;
  return {};
}

DAT_RETURN Link::Sleep(WaitMode mode) {
  DAT_EVD_HANDLE unused = DAT_HANDLE_NULL;
  DAT_RETURN result = DAT_SUCCESS;
  if (mode == WaitMode::kCno) {
    result = dat_cno_wait(cno_.get(), DAT_TIMEOUT_INFINITE, &unused);
  } else if (mode == WaitMode::kFd) {
    epoll_event ready{};
    if (epoll_wait(epoll_.get(), &ready, 1, -1) > 0)
      result = dat_cno_trigger(fd_cno_.get(), &unused);
  }
  const bool again =
      DAT_GET_TYPE(result) == DAT_INTERRUPTED_CALL || DAT_GET_TYPE(result) == DAT_QUEUE_EMPTY;
  return again ? DAT_RETURN{DAT_SUCCESS} : result;
}

DAT_RETURN Link::Take(Completions* completions, DAT_EVENT* event) {
  if (completions->next == completions->held.size()) [[likely]]
    return dat_evd_dequeue(completions->evd.get(), event);
  *event = completions->held[completions->next++];
  if (completions->next == completions->held.size()) {
    completions->held.clear();
    completions->next = 0;
  }
  return DAT_SUCCESS;
}

void Link::Hold(Completions* completions) {
  DAT_EVENT event;
  while (dat_evd_dequeue(completions->evd.get(), &event) == DAT_SUCCESS)
    completions->held.push_back(event);
}

DAT_RETURN Link::NextEvent(Completions* wanted, WaitMode mode, DAT_EVENT* event) {
  if (mode == WaitMode::kWait && wanted->held.empty())
    return WaitForEvent(wanted->evd.get(), event);
  while (true) {
    const DAT_RETURN result = Take(wanted, event);
    if (DAT_GET_TYPE(result) != DAT_QUEUE_EMPTY) return result;
    if (mode != WaitMode::kPoll) Hold(wanted == &receives_ ? &requests_ : &receives_);
    if (const DAT_RETURN slept = Sleep(mode); slept != DAT_SUCCESS) return slept;
  }
}

Outcome Link::PostReceive(DAT_LMR_TRIPLET segment, uint32_t connection) {
  const DAT_COUNT segments = segment.segment_length > 0 ? 1 : 0;
  return Check("dat_ep_post_recv",
               dat_ep_post_recv(eps_[connection].get(), segments, &segment, Cookie(connection),
                                DAT_COMPLETION_DEFAULT_FLAG));
}

Outcome Link::PostSend(DAT_LMR_TRIPLET segment, DAT_COMPLETION_FLAGS flags, uint32_t connection) {
  const DAT_COUNT segments = segment.segment_length > 0 ? 1 : 0;
  return Check("dat_ep_post_send", dat_ep_post_send(eps_[connection].get(), segments, &segment,
                                                    Cookie(connection), flags));
}

Outcome Link::PostNotice(uint32_t connection) {
  DAT_LMR_TRIPLET none{};
  return Check("dat_ep_post_send",
               dat_ep_post_send(eps_[connection].get(), 0, &none, Cookie(kNotice | connection),
                                DAT_COMPLETION_DEFAULT_FLAG));
}

Outcome Link::PostRdma(Operation operation, DAT_LMR_TRIPLET segment, const RemoteMemory& target,
                       DAT_COMPLETION_FLAGS flags, uint32_t connection) {
  const DAT_EP_HANDLE ep = eps_[connection].get();
  const DAT_DTO_COOKIE cookie = Cookie(connection);
  DAT_RMR_TRIPLET remote = Remote(target, segment.segment_length);
  switch (operation) {
    case Operation::kWrite:
      return Check("dat_ep_post_rdma_write",
                   dat_ep_post_rdma_write(ep, 1, &segment, cookie, &remote, flags));
    case Operation::kRead:
      return Check("dat_ep_post_rdma_read",
                   dat_ep_post_rdma_read(ep, 1, &segment, cookie, &remote, flags));
    case Operation::kWriteImmediate:
      return Check("dat_ib_post_rdma_write_immed",
                   dat_ib_post_rdma_write_immed(ep, 1, &segment, cookie, &remote, 1, flags));
    case Operation::kFetchAndAdd:
      return Check("dat_ib_post_fetch_and_add",
                   dat_ib_post_fetch_and_add(ep, 1, &segment, cookie, &remote, flags));
    case Operation::kCompareAndSwap:
      return Check("dat_ib_post_cmp_and_swap",
                   dat_ib_post_cmp_and_swap(ep, 0, 0, &segment, cookie, &remote, flags));
    case Operation::kSend:
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

// Why the connection is over, if it is: its connection event says.
std::string Link::WhyOver() {
  if (!end_) {
    DAT_EVENT event{};
    DAT_COUNT more = 0;
    constexpr DAT_TIMEOUT kGraceUs = 1'000'000;  // the event may be a moment behind the flush
    if (dat_evd_wait(connect_evd_.get(), kGraceUs, 1, &event, &more) != DAT_SUCCESS) return "";
    ++ended_;
    end_ = event.event_number;
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
