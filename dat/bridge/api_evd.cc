// SPDX-License-Identifier: BSD-3-Clause
// dat_evd_*, dat_cno_*: events.
#include <utility>

#include "dat/base/no_memory.h"
#include "dat/bridge/agents.h"
#include "dat/bridge/extensions.h"
#include "dat/bridge/handles.h"
#include "dat/bridge/masks.h"
#include "dat/bridge/native.h"
#include "dat/bridge/one.h"
#include "dat/bridge/params.h"
#include "dat/bridge/query.h"
#include "dat/bridge/return_words.h"
#include "dat/bridge/two.h"

using namespace softdat::bridge;  // NOLINT: this file is the C API of libdat.so.1
namespace dat12 = softdat::dat12;

namespace {

[[gnu::always_inline]] inline void TakeEvent(const ::DAT_EVENT& from, dat12::DAT_EVENT* to) {
  To12(from, to);
  if (to->event_number == dat12::DAT_EXTENSION_EVENT) [[unlikely]]
    TellImmediateMessage(from.evd_handle, &to->event_data.extension_data);
}

}  // namespace

dat12::DAT_RETURN one_evd_create(dat12::DAT_IA_HANDLE ia, dat12::DAT_COUNT qlen,
                                 dat12::DAT_CNO_HANDLE cno, dat12::DAT_EVD_FLAGS flags,
                                 dat12::DAT_EVD_HANDLE* evd) {
  if (const NativeIa to{ia}) [[unlikely]]
    return to.Call<&Table::evd_create_func>(qlen, cno, flags, evd);
  ::DAT_EVD_HANDLE evd_2 = nullptr;
  const ::DAT_RETURN result =
      two_evd_create(IaTo2(ia), qlen, ArgumentTo2(cno), static_cast<::DAT_EVD_FLAGS>(flags),
                     evd != nullptr ? &evd_2 : nullptr);
  if (result == ::DAT_SUCCESS) *evd = To12(evd_2);
  return ReturnTo12(result);
}

dat12::DAT_RETURN one_evd_query(dat12::DAT_EVD_HANDLE evd, dat12::DAT_EVD_PARAM_MASK mask,
                                dat12::DAT_EVD_PARAM* param) {
  if (const Native to{evd}) [[unlikely]]
    return to.Call<&Table::evd_query_func>(mask, param);
  return QueryAsItIs(&two_evd_query, evd, mask, param);
}

dat12::DAT_RETURN one_evd_modify_cno(dat12::DAT_EVD_HANDLE evd, dat12::DAT_CNO_HANDLE cno) {
  if (const Native to{evd}) [[unlikely]]
    return to.Call<&Table::evd_modify_cno_func>(cno);
  return ReturnTo12(two_evd_modify_cno(To2(evd), ArgumentTo2(cno)));
}

dat12::DAT_RETURN one_evd_resize(dat12::DAT_EVD_HANDLE evd, dat12::DAT_COUNT qlen) {
  if (const Native to{evd}) [[unlikely]]
    return to.Call<&Table::evd_resize_func>(qlen);
  return ReturnTo12(two_evd_resize(To2(evd), qlen));
}

dat12::DAT_RETURN one_evd_wait(dat12::DAT_EVD_HANDLE evd, dat12::DAT_TIMEOUT timeout,
                               dat12::DAT_COUNT threshold, dat12::DAT_EVENT* event,
                               dat12::DAT_COUNT* nmore) {
  if (const Native to{evd}) [[unlikely]]
    return to.Call<&Table::evd_wait_func>(timeout, threshold, event, nmore);
  ::DAT_EVENT event_2;
  const ::DAT_RETURN result =
      two_evd_wait(To2(evd), timeout, threshold, event != nullptr ? &event_2 : nullptr, nmore);
  if (result == ::DAT_SUCCESS) TakeEvent(event_2, event);
  return ReturnTo12(result);
}

dat12::DAT_RETURN one_evd_dequeue(dat12::DAT_EVD_HANDLE evd, dat12::DAT_EVENT* event) {
  ::DAT_EVD_HANDLE evd_2;
  if (!IsObject(evd, &evd_2) || event == nullptr) [[unlikely]] {
    if (const Native to{evd}) return to.Call<&Table::evd_dequeue_func>(event);
    return ReturnTo12(two_evd_dequeue(To2(evd), nullptr));
  }
  ::DAT_EVENT event_2;
  const ::DAT_RETURN result = two_evd_dequeue(evd_2, &event_2);
  if (result != ::DAT_SUCCESS) return FailureTo12(result);
  TakeEvent(event_2, event);
  return dat12::DAT_SUCCESS;
}

// Only software events can be posted, and only their pointer counts.
dat12::DAT_RETURN one_evd_post_se(dat12::DAT_EVD_HANDLE evd, const dat12::DAT_EVENT* event) {
  if (const Native to{evd}) [[unlikely]]
    return to.Call<&Table::evd_post_se_func>(event);
  ::DAT_EVENT event_2{};
  if (event != nullptr) {
    event_2.event_number = static_cast<::DAT_EVENT_NUMBER>(event->event_number);
    event_2.event_data.software_event_data.pointer = event->event_data.software_event_data.pointer;
  }
  return ReturnTo12(two_evd_post_se(To2(evd), event != nullptr ? &event_2 : nullptr));
}

dat12::DAT_RETURN one_evd_enable(dat12::DAT_EVD_HANDLE evd) {
  if (const Native to{evd}) [[unlikely]]
    return to.Call<&Table::evd_enable_func>();
  return ReturnTo12(two_evd_enable(To2(evd)));
}

dat12::DAT_RETURN one_evd_disable(dat12::DAT_EVD_HANDLE evd) {
  if (const Native to{evd}) [[unlikely]]
    return to.Call<&Table::evd_disable_func>();
  return ReturnTo12(two_evd_disable(To2(evd)));
}

dat12::DAT_RETURN one_evd_set_unwaitable(dat12::DAT_EVD_HANDLE evd) {
  if (const Native to{evd}) [[unlikely]]
    return to.Call<&Table::evd_set_unwaitable_func>();
  return ReturnTo12(two_evd_set_unwaitable(To2(evd)));
}

dat12::DAT_RETURN one_evd_clear_unwaitable(dat12::DAT_EVD_HANDLE evd) {
  if (const Native to{evd}) [[unlikely]]
    return to.Call<&Table::evd_clear_unwaitable_func>();
  return ReturnTo12(two_evd_clear_unwaitable(To2(evd)));
}

dat12::DAT_RETURN one_evd_free(dat12::DAT_EVD_HANDLE evd) {
  if (const Native to{evd}) [[unlikely]]
    return to.CallLast<&Table::evd_free_func>();
  return ReturnTo12(two_evd_free(To2(evd)));
}

dat12::DAT_RETURN one_cno_create(dat12::DAT_IA_HANDLE ia, dat12::DAT_OS_WAIT_PROXY_AGENT agent,
                                 dat12::DAT_CNO_HANDLE* cno) {
  if (const NativeIa to{ia}) [[unlikely]]
    return to.Call<&Table::cno_create_func>(agent, cno);
  return softdat::OrNoMemory(
      [&] {
        Agents::Made made = Agents::Make(agent);
        ::DAT_CNO_HANDLE cno_2 = nullptr;
        const ::DAT_RETURN result =
            two_cno_create(IaTo2(ia), made.agent, cno != nullptr ? &cno_2 : nullptr);
        if (result != ::DAT_SUCCESS) return ReturnTo12(result);
        if (!softdat::OrNoMemory(
                [&] {
                  TheAgents().Keep(IaTo2(ia), cno_2, std::move(made.record));
                  return true;
                },
                false)) {
          two_cno_free(cno_2);
          return kNoMemory;
        }
        *cno = To12(cno_2);
        return dat12::DAT_RETURN{dat12::DAT_SUCCESS};
      },
      kNoMemory);
}

dat12::DAT_RETURN one_cno_modify_agent(dat12::DAT_CNO_HANDLE cno,
                                       dat12::DAT_OS_WAIT_PROXY_AGENT agent) {
  if (const Native to{cno}) [[unlikely]]
    return to.Call<&Table::cno_modify_agent_func>(agent);
  return softdat::OrNoMemory(
      [&] {
        ::DAT_OS_WAIT_PROXY_AGENT ours{};
        // 2.0 refuses a CNO that was not made here.
        const bool known = TheAgents().MakeFor(To2(cno), agent, &ours);
        return ReturnTo12(two_cno_modify_agent(known ? To2(cno) : nullptr, ours));
      },
      kNoMemory);
}

dat12::DAT_RETURN one_cno_query(dat12::DAT_CNO_HANDLE cno, dat12::DAT_CNO_PARAM_MASK mask,
                                dat12::DAT_CNO_PARAM* param) {
  if (const Native to{cno}) [[unlikely]]
    return to.Call<&Table::cno_query_func>(mask, param);
  ::DAT_CNO_PARAM param_2{};
  const ::DAT_RETURN result =
      two_cno_query(To2(cno), CnoMaskTo2(mask), param != nullptr ? &param_2 : nullptr);
  if (result == ::DAT_SUCCESS) {
    param->ia_handle = IaTo12(param_2.ia_handle);
    param->agent = {};
    if (param_2.proxy_type == ::DAT_PROXY_TYPE_AGENT)
      param->agent = Agents::Original(param_2.proxy.agent);
  }
  return ReturnTo12(result);
}

dat12::DAT_RETURN one_cno_wait(dat12::DAT_CNO_HANDLE cno, dat12::DAT_TIMEOUT timeout,
                               dat12::DAT_EVD_HANDLE* evd) {
  if (const Native to{cno}) [[unlikely]]
    return to.Call<&Table::cno_wait_func>(timeout, evd);
  int nothing = 0;
  ::DAT_EVD_HANDLE evd_2 = &nothing;  // means no EVD; it stays if the call writes none
  const ::DAT_RETURN result = two_cno_wait(To2(cno), timeout, evd != nullptr ? &evd_2 : nullptr);
  if (evd != nullptr && evd_2 != &nothing) *evd = To12(evd_2);
  return ReturnTo12(result);
}

dat12::DAT_RETURN one_cno_free(dat12::DAT_CNO_HANDLE cno) {
  if (const Native to{cno}) [[unlikely]]
    return to.CallLast<&Table::cno_free_func>();
  const uint64_t now = TheAgents().Now();
  const ::DAT_RETURN result = two_cno_free(To2(cno));
  if (result == ::DAT_SUCCESS) TheAgents().Forget(To2(cno), now);
  return ReturnTo12(result);
}
