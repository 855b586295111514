// SPDX-License-Identifier: BSD-3-Clause
// Names of events and completion statuses.
#include "dat/client/names.h"

#include <fmt/format.h>

namespace softdat::client {
namespace {

struct Name {
  int value;
  const char* text;
};

#define NAME(constant) \
  { constant, #constant }

constexpr Name kEvents[] = {
    NAME(DAT_DTO_COMPLETION_EVENT),
    NAME(DAT_RMR_BIND_COMPLETION_EVENT),
    NAME(DAT_CONNECTION_REQUEST_EVENT),
    NAME(DAT_CONNECTION_EVENT_ESTABLISHED),
    NAME(DAT_CONNECTION_EVENT_PEER_REJECTED),
    NAME(DAT_CONNECTION_EVENT_NON_PEER_REJECTED),
    NAME(DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR),
    NAME(DAT_CONNECTION_EVENT_DISCONNECTED),
    NAME(DAT_CONNECTION_EVENT_BROKEN),
    NAME(DAT_CONNECTION_EVENT_TIMED_OUT),
    NAME(DAT_CONNECTION_EVENT_UNREACHABLE),
    NAME(DAT_ASYNC_ERROR_EVD_OVERFLOW),
    NAME(DAT_ASYNC_ERROR_IA_CATASTROPHIC),
    NAME(DAT_ASYNC_ERROR_EP_BROKEN),
    NAME(DAT_ASYNC_ERROR_TIMED_OUT),
    NAME(DAT_ASYNC_ERROR_PROVIDER_INTERNAL_ERROR),
    NAME(DAT_HA_DOWN_TO_1),
    NAME(DAT_HA_UP_TO_MULTI_PATH),
    NAME(DAT_SOFTWARE_EVENT),
};

constexpr Name kStatuses[] = {
    NAME(DAT_DTO_SUCCESS),
    NAME(DAT_DTO_ERR_FLUSHED),
    NAME(DAT_DTO_ERR_LOCAL_LENGTH),
    NAME(DAT_DTO_ERR_LOCAL_EP),
    NAME(DAT_DTO_ERR_LOCAL_PROTECTION),
    NAME(DAT_DTO_ERR_BAD_RESPONSE),
    NAME(DAT_DTO_ERR_REMOTE_ACCESS),
    NAME(DAT_DTO_ERR_REMOTE_RESPONDER),
    NAME(DAT_DTO_ERR_TRANSPORT),
    NAME(DAT_DTO_ERR_RECEIVER_NOT_READY),
    NAME(DAT_DTO_ERR_PARTIAL_PACKET),
    NAME(DAT_RMR_OPERATION_FAILED),
    NAME(DAT_DTO_ERR_LOCAL_MM_ERROR),
};

#undef NAME

template <size_t kCount>
const char* Find(const Name (&names)[kCount], int value) {
  for (const auto& name : names) {
    if (name.value == value) return name.text;
  }
  return nullptr;
}

}  // namespace

std::string EventName(DAT_EVENT_NUMBER number) {
  const char* name = Find(kEvents, static_cast<int>(number));
  return name != nullptr ? name : fmt::format("event {:#x}", static_cast<unsigned>(number));
}

std::string StatusName(DAT_DTO_COMPLETION_STATUS status) {
  const char* name = Find(kStatuses, static_cast<int>(status));
  return name != nullptr ? name : fmt::format("status {}", static_cast<int>(status));
}

}  // namespace softdat::client
