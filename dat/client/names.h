// SPDX-License-Identifier: BSD-3-Clause
// Names of events and completion statuses, for messages. Pure functions.
#ifndef SOFTDAT_DAT_CLIENT_NAMES_H_
#define SOFTDAT_DAT_CLIENT_NAMES_H_

#include <dat2/udat.h>

#include <string>

namespace softdat::client {

// "DAT_CONNECTION_EVENT_ESTABLISHED", or "event 0x1234" for a number that DAT 2.0 does not have.
std::string EventName(DAT_EVENT_NUMBER number);

// "DAT_DTO_ERR_FLUSHED", or "status 77" for an unknown status.
std::string StatusName(DAT_DTO_COMPLETION_STATUS status);

}  // namespace softdat::client

#endif  // SOFTDAT_DAT_CLIENT_NAMES_H_
