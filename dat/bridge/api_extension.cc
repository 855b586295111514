// SPDX-License-Identifier: BSD-3-Clause
// dat_extension: the operations of 2005 by means of those of 2.0. Arguments are numbered as in the
// macros of dat/dat_extensions.h.
#include <cstdarg>

#include "dat/bridge/extensions.h"
#include "dat/bridge/flags.h"
#include "dat/bridge/handles.h"
#include "dat/bridge/ia_number.h"
#include "dat/bridge/logged_call.h"
#include "dat/bridge/native.h"
#include "dat/bridge/one.h"
#include "dat/bridge/refused.h"
#include "dat/bridge/return_words.h"
#include "dat/bridge/segments.h"
#include "dat/bridge/two.h"
// The types of 1.2 must come before the headers of 2.0.
#include <dat2/dat_ib_extensions.h>
#include <dat2/softdat.h>

namespace softdat::bridge {
namespace {

dat12::DAT_RETURN NotImplemented() {
  return Refused(dat12::DAT_NOT_IMPLEMENTED, "the IA does not have this operation");
}
constexpr int kExtensionFlags =
    int{dat12::DAT_EXT_WRITE_IMMED_FLAG} | int{dat12::DAT_EXT_WRITE_CONFIRM_FLAG};

dat12::DAT_RETURN UnknownExtensionFlags() {
  return Refused(dat12::kDAT_CLASS_ERROR | uint32_t{dat12::DAT_INVALID_PARAMETER} |
                     uint32_t{dat12::DAT_INVALID_ARG7},
                 "unknown flags of the extension");
}

dat12::DAT_RETURN NoEp() {
  return Refused(dat12::kDAT_CLASS_ERROR | uint32_t{dat12::DAT_INVALID_HANDLE} |
                     uint32_t{dat12::DAT_INVALID_HANDLE_EP},
                 "the operation needs an EP, and the handle is not an EP");
}

bool IsEp(::DAT_HANDLE handle) {
  ::DAT_HANDLE_TYPE type{};
  return two_get_handle_type(handle, &type) == ::DAT_SUCCESS && type == ::DAT_HANDLE_TYPE_EP;
}

// The services of the IA that an EP belongs to.
Services ServicesOfEp(::DAT_EP_HANDLE ep) {
  ::DAT_EP_PARAM param{};
  if (two_ep_query(ep, DAT_EP_FIELD_IA_HANDLE, &param) != ::DAT_SUCCESS) return {};
  return ServicesOf(NumberOf(param.ia_handle));
}

// The arguments after an operation's number. Each call of a Next function takes the next one.
struct Arguments {
  va_list list;
};

::DAT_DTO_COOKIE NextCookie(Arguments* args) {
  ::DAT_DTO_COOKIE cookie;
  cookie.as_64 = va_arg(args->list, dat12::DAT_DTO_COOKIE).as_64;
  return cookie;
}

constexpr ::DAT_COMPLETION_FLAGS Plus(::DAT_COMPLETION_FLAGS flags, int more) {
  return static_cast<::DAT_COMPLETION_FLAGS>(int{flags} | more);
}

::DAT_COMPLETION_FLAGS NextFlags(Arguments* args) {
  return CompletionFlagsTo2(static_cast<dat12::DAT_COMPLETION_FLAGS>(va_arg(args->list, int)));
}

// Takes the remote segment. Returns false when it is too long for 2.0.
struct Remote {
  ::DAT_RMR_TRIPLET segment{};
  ::DAT_RMR_TRIPLET* pointer = nullptr;
};
bool NextRemote(Arguments* args, Remote* remote) {
  const auto* of_12 = va_arg(args->list, const dat12::DAT_RMR_TRIPLET*);
  if (of_12 == nullptr) return true;
  remote->pointer = &remote->segment;
  return To2(*of_12, &remote->segment);
}

// Sets the flags of a post that is to be confirmed. A foreign provider with immediate data needs no
// flag: by InfiniBand's rules, its posts have been acknowledged when they complete.
dat12::DAT_RETURN Confirm(::DAT_EP_HANDLE ep, ::DAT_COMPLETION_FLAGS* flags) {
  if (!ServicesOfAll().confirm) {
    if (!IsEp(ep)) return NoEp();
    const Services services = ServicesOfEp(ep);
    if (services.foreign && services.immediate) return dat12::DAT_SUCCESS;
    if (!services.confirm) return NotImplemented();
  }
  *flags = Plus(*flags, ::SOFTDAT_COMPLETION_CONFIRM_FLAG);
  return dat12::DAT_SUCCESS;
}

// Sets the flags of a post of immediate data. Such a post always completes as DAT_EXTENSION_EVENT,
// if the provider can do so.
dat12::DAT_RETURN Immediate(::DAT_EP_HANDLE ep, ::DAT_COMPLETION_FLAGS* flags) {
  Services services = ServicesOfAll();
  if (!services.immediate || !services.extended) {
    if (!IsEp(ep)) return NoEp();
    services = ServicesOfEp(ep);
    if (!services.immediate) return NotImplemented();
  }
  if (services.extended) *flags = Plus(*flags, ::SOFTDAT_COMPLETION_EXTENSION_FLAG);
  return dat12::DAT_SUCCESS;
}

// dat_ep_post_write_immed(ep, num_segments, local_iov, user_cookie, remote_iov, immediate,
// ext_flags, completion_flags)
dat12::DAT_RETURN WriteImmediate(::DAT_EP_HANDLE ep, Arguments* args) {
  const auto count = va_arg(args->list, dat12::DAT_COUNT);
  const auto* local = va_arg(args->list, const dat12::DAT_LMR_TRIPLET*);
  const ::DAT_DTO_COOKIE cookie = NextCookie(args);
  Remote remote;
  if (!NextRemote(args, &remote)) return TooLong();
  const auto immediate = va_arg(args->list, dat12::DAT_UINT32);
  const int extension_flags = va_arg(args->list, int);
  ::DAT_COMPLETION_FLAGS flags = NextFlags(args);

  const dat12::DAT_RETURN has = Immediate(ep, &flags);
  if (has != dat12::DAT_SUCCESS) return has;
  if ((extension_flags & ~kExtensionFlags) != 0) return UnknownExtensionFlags();
  const bool with_immediate = (extension_flags & dat12::DAT_EXT_WRITE_IMMED_FLAG) != 0;
  if ((extension_flags & dat12::DAT_EXT_WRITE_CONFIRM_FLAG) != 0) {
    const dat12::DAT_RETURN can = Confirm(ep, &flags);
    if (can != dat12::DAT_SUCCESS) return can;
  }
  constexpr uint32_t kFlagsOfWrite = 6, kFlagsOfImmediate = 7, kFlagsHere = 8;
  ::DAT_RETURN result = ::DAT_SUCCESS;
  const dat12::DAT_RETURN posted = WithSegments(local, count, [&](::DAT_LMR_TRIPLET* local_2) {
    result = with_immediate
                 ? two_extension_op(ep, ::DAT_IB_RDMA_WRITE_IMMED_OP, count, local_2, cookie,
                                    remote.pointer, immediate, flags)
                 : two_ep_post_rdma_write(ep, count, local_2, cookie, remote.pointer, flags);
    return result;
  });
  if (result == ::DAT_SUCCESS) return posted;
  return MovedArgument(result, [&](uint32_t n) {
    return n == (with_immediate ? kFlagsOfImmediate : kFlagsOfWrite) ? kFlagsHere : n;
  });
}

// dat_ep_post_recv_immed(ep, num_segments, local_iov, user_cookie, completion_flags)
dat12::DAT_RETURN ReceiveImmediate(::DAT_EP_HANDLE ep, Arguments* args) {
  const auto count = va_arg(args->list, dat12::DAT_COUNT);
  const auto* local = va_arg(args->list, const dat12::DAT_LMR_TRIPLET*);
  const ::DAT_DTO_COOKIE cookie = NextCookie(args);
  ::DAT_COMPLETION_FLAGS flags = NextFlags(args);
  const dat12::DAT_RETURN has = Immediate(ep, &flags);
  if (has != dat12::DAT_SUCCESS) return has;
  return WithSegments(local, count, [&](::DAT_LMR_TRIPLET* local_2) {
    return two_ep_post_recv(ep, count, local_2, cookie, flags);
  });
}

// dat_ep_post_fetch_and_add(ep, add_value, local_iov, user_cookie, remote_iov, completion_flags)
// dat_ep_post_cmp_and_swap(ep, cmp_value, swap_value, local_iov, ...)
dat12::DAT_RETURN Atomic(::DAT_EP_HANDLE ep, bool swap, Arguments* args) {
  const auto first = va_arg(args->list, dat12::DAT_UINT64);
  const auto second = swap ? va_arg(args->list, dat12::DAT_UINT64) : 0;
  const auto* local = va_arg(args->list, const dat12::DAT_LMR_TRIPLET*);
  const ::DAT_DTO_COOKIE cookie = NextCookie(args);
  Remote remote;
  if (!NextRemote(args, &remote)) return TooLong();
  const ::DAT_COMPLETION_FLAGS flags = NextFlags(args);
  return WithSegments(local, 1, [&](::DAT_LMR_TRIPLET* local_2) {
    return swap ? two_extension_op(ep, ::DAT_IB_CMP_AND_SWAP_OP, first, second, local_2, cookie,
                                   remote.pointer, flags)
                : two_extension_op(ep, ::DAT_IB_FETCH_AND_ADD_OP, first, local_2, cookie,
                                   remote.pointer, flags);
  });
}

dat12::DAT_RETURN Extension(::DAT_EP_HANDLE ep, dat12::DAT_EXT_OP op, Arguments* args) {
  switch (op) {
    case dat12::DAT_EXT_RDMA_WRITE_IMMED:
      return WriteImmediate(ep, args);
    case dat12::DAT_EXT_RECV_IMMED:
      return ReceiveImmediate(ep, args);
    case dat12::DAT_EXT_FETCH_AND_ADD:
    case dat12::DAT_EXT_CMP_AND_SWAP:
      return Atomic(ep, op == dat12::DAT_EXT_CMP_AND_SWAP, args);
  }
  return NotImplemented();
}

}  // namespace

dat12::DAT_RETURN ExtensionOverTwo(dat12::DAT_HANDLE handle, dat12::DAT_EXT_OP op, va_list args) {
  Arguments copied;
  va_copy(copied.list, args);
  const dat12::DAT_RETURN result = Extension(To2(handle), op, &copied);
  va_end(copied.list);
  // 2.0 takes extended operations on every kind of object, these only on an EP.
  const bool no_handle = DAT_GET_TYPE(result) == uint32_t{dat12::DAT_INVALID_HANDLE};
  return no_handle ? NoEp() : result;
}

}  // namespace softdat::bridge

using namespace softdat::bridge;  // NOLINT: what follows is the C API of libdat.so.1
namespace dat12 = softdat::dat12;

dat12::DAT_RETURN one_extension(dat12::DAT_HANDLE handle, int number, ...) {
  va_list args;
  va_start(args, number);
  const auto op = static_cast<dat12::DAT_EXT_OP>(number);
  const NativeAny to{handle};
  const auto call = [&](dat12::DAT_HANDLE, int) {
    if (!to) return ExtensionOverTwo(handle, op, args);
    return HasNativeExtensions(to.object()) ? to.Call<&Table::extension_func>(op, args)
                                            : NotImplemented();
  };
  const dat12::DAT_RETURN result =
      MayLogCalls() ? Logged("dat_extension", call, handle, number) : call(handle, number);
  va_end(args);
  return result;
}
