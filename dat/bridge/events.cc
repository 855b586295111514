// SPDX-License-Identifier: BSD-3-Clause
// Events from uDAPL 2.0 to 1.2.
#include <cstring>

#include "dat/bridge/attributes.h"
#include "dat/bridge/handles.h"
#include "dat/bridge/params.h"
// The types of 1.2 must come before the headers of 2.0.
#include <dat2/dat_ib_extensions.h>
#include <dat2/softdat.h>

namespace softdat::bridge {
namespace {

dat12::DAT_DTO_COMPLETION_STATUS StatusTo12(::DAT_DTO_COMPLETION_STATUS status) {
  const bool known = status <= ::DAT_RMR_OPERATION_FAILED;
  return known ? static_cast<dat12::DAT_DTO_COMPLETION_STATUS>(status)
               : dat12::DAT_DTO_ERR_LOCAL_PROTECTION;
}

void DtoTo12(const ::DAT_DTO_COMPLETION_EVENT_DATA& from,
             dat12::DAT_DTO_COMPLETION_EVENT_DATA* to) {
  to->ep_handle = To12(from.ep_handle);
  to->user_cookie.as_64 = from.user_cookie.as_64;
  to->status = StatusTo12(from.status);
  to->transfered_length = from.transfered_length;
}

void BindTo12(const ::DAT_RMR_BIND_COMPLETION_EVENT_DATA& from,
              dat12::DAT_RMR_BIND_COMPLETION_EVENT_DATA* to) {
  to->rmr_handle = To12(from.rmr_handle);
  to->user_cookie.as_64 = from.user_cookie.as_64;
  to->status = StatusTo12(from.status);
}

void RequestTo12(const ::DAT_CR_ARRIVAL_EVENT_DATA& from, dat12::DAT_CR_ARRIVAL_EVENT_DATA* to) {
  to->sp_handle.psp_handle = To12(from.sp_handle.psp_handle);
  to->local_ia_address_ptr = from.local_ia_address_ptr;
  to->conn_qual = from.conn_qual;
  to->cr_handle = To12(from.cr_handle);
}

void ConnectionTo12(const ::DAT_CONNECTION_EVENT_DATA& from, dat12::DAT_CONNECTION_EVENT_DATA* to) {
  to->ep_handle = To12(from.ep_handle);
  to->private_data_size = from.private_data_size;
  to->private_data = from.private_data;
}

dat12::DAT_EXT_EVENT_TYPE TypeOf(const ::DAT_IB_EXTENSION_EVENT_DATA& extension) {
  switch (int{extension.type}) {
    case ::SOFTDAT_EXT_RECV:
      return dat12::DAT_EXT_RECV_NO_IMMED;  // unless TellImmediateMessage() changes it
    case ::DAT_IB_FETCH_AND_ADD:
      return dat12::DAT_EXT_FETCH_AND_ADD_STATUS;
    case ::DAT_IB_CMP_AND_SWAP:
      return dat12::DAT_EXT_CMP_AND_SWAP_STATUS;
    case ::DAT_IB_RDMA_WRITE_IMMED_DATA:
    case ::DAT_IB_RECV_IMMED_DATA:
      return dat12::DAT_EXT_RECV_IMMED_DATA_EVENT;
    default:
      return dat12::DAT_EXT_RDMA_WRITE_IMMED_STATUS;
  }
}

// Not inline, because its copy would make every event pay for a guarded stack.
[[gnu::noinline]] void ExtensionTo12(const ::DAT_EVENT& from, dat12::DAT_EVENT* to) {
  const ::DAT_DTO_COMPLETION_EVENT_DATA& dto = from.event_data.dto_completion_event_data;
  ::DAT_IB_EXTENSION_EVENT_DATA extension;
  std::memcpy(&extension, from.event_extension_data, sizeof(extension));
  to->event_number = dat12::DAT_EXTENSION_EVENT;
  dat12::DAT_EXTENSION_DATA& data = to->event_data.extension_data;
  data = {};
  data.ep_handle = To12(dto.ep_handle);
  data.user_cookie.as_64 = dto.user_cookie.as_64;
  data.status = dat12::DAT_DTO_SUCCESS;
  data.type = TypeOf(extension);
  data.transfered_length = dto.transfered_length;
  if (data.type == dat12::DAT_EXT_RECV_IMMED_DATA_EVENT)
    data.val.immed.data = extension.val.immed.data;
}

// When a completion failed, the provider may leave the extension data unwritten. So its operation
// tells what it was. A receive is then an ordinary one, unless its operation says that it had room
// for immediate data: foreign providers give the number of an extension to every receive that is
// flushed.
void FailedExtensionTo12(const ::DAT_EVENT& from, dat12::DAT_EVENT* to) {
  const ::DAT_DTO_COMPLETION_EVENT_DATA& dto = from.event_data.dto_completion_event_data;
  to->event_number = dat12::DAT_EXTENSION_EVENT;
  to->event_data = {};
  switch (int{dto.operation}) {
    case ::DAT_IB_DTO_RDMA_WRITE_IMMED:
    case ::SOFTDAT_DTO_RDMA_WRITE:
      to->event_data.extension_data.type = dat12::DAT_EXT_RDMA_WRITE_IMMED_STATUS;
      break;
    case ::SOFTDAT_DTO_RECEIVE:
      to->event_data.extension_data.type = dat12::DAT_EXT_RECV_NO_IMMED;
      break;
    case ::DAT_IB_DTO_FETCH_ADD:
      to->event_data.extension_data.type = dat12::DAT_EXT_FETCH_AND_ADD_STATUS;
      break;
    case ::DAT_IB_DTO_CMP_SWAP:
      to->event_data.extension_data.type = dat12::DAT_EXT_CMP_AND_SWAP_STATUS;
      break;
    default:
      to->event_number = dat12::DAT_DTO_COMPLETION_EVENT;
      return DtoTo12(dto, &to->event_data.dto_completion_event_data);
  }
  to->event_data.extension_data.ep_handle = To12(dto.ep_handle);
  to->event_data.extension_data.user_cookie.as_64 = dto.user_cookie.as_64;
  to->event_data.extension_data.status = StatusTo12(dto.status);
}

bool IsConnectionEvent(::DAT_EVENT_NUMBER number) {
  return number >= ::DAT_CONNECTION_EVENT_ESTABLISHED &&
         number <= ::DAT_CONNECTION_EVENT_UNREACHABLE;
}

bool IsRequest(::DAT_EVENT_NUMBER number) {
  return number == ::DAT_CONNECTION_REQUEST_EVENT ||
         static_cast<int>(number) == ::DAT_IB_UD_CONNECTION_REQUEST_EVENT;
}

bool IsAsynchronousError(::DAT_EVENT_NUMBER number) {
  return number >= ::DAT_ASYNC_ERROR_EVD_OVERFLOW &&
         number <= ::DAT_ASYNC_ERROR_PROVIDER_INTERNAL_ERROR;
}

}  // namespace

void To12(const ::DAT_EVENT& from, dat12::DAT_EVENT* to) {
  to->event_number = static_cast<dat12::DAT_EVENT_NUMBER>(from.event_number);
  to->evd_handle = To12(from.evd_handle);
  const ::DAT_EVENT_DATA& data = from.event_data;
  if (from.event_number == ::DAT_DTO_COMPLETION_EVENT) [[likely]] {
    DtoTo12(data.dto_completion_event_data, &to->event_data.dto_completion_event_data);
  } else if (from.event_number == ::DAT_RMR_BIND_COMPLETION_EVENT) {
    BindTo12(data.rmr_completion_event_data, &to->event_data.rmr_completion_event_data);
  } else if (IsRequest(from.event_number)) {
    // One for datagrams, which 1.2 does not have, can be rejected, and is not accepted.
    to->event_number = dat12::DAT_CONNECTION_REQUEST_EVENT;
    RequestTo12(data.cr_arrival_event_data, &to->event_data.cr_arrival_event_data);
  } else if (IsConnectionEvent(from.event_number)) {
    ConnectionTo12(data.connect_event_data, &to->event_data.connect_event_data);
  } else if (IsAsynchronousError(from.event_number)) {
    to->event_data.asynch_error_event_data.dat_handle =
        IaTo12(data.asynch_error_event_data.dat_handle);
    to->event_data.asynch_error_event_data.reason = data.asynch_error_event_data.reason;
  } else if (from.event_number == ::DAT_SOFTWARE_EVENT) {
    to->event_data.software_event_data.pointer = data.software_event_data.pointer;
  } else if (int{from.event_number} == int{::DAT_IB_DTO_EVENT}) {
    const bool failed = data.dto_completion_event_data.status != ::DAT_DTO_SUCCESS;
    failed ? FailedExtensionTo12(from, to) : ExtensionTo12(from, to);
  } else {
    to->event_data = {};
  }
}

}  // namespace softdat::bridge
