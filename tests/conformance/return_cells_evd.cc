// SPDX-License-Identifier: BSD-3-Clause
// Actions of the return code table: EVD and CNO.
#include <thread>

#include "tests/conformance/return_cells.h"

namespace softdat::conformance {
namespace {

constexpr DAT_TIMEOUT kForever = DAT_TIMEOUT_INFINITE;

DAT_RETURN Create(World& w, DAT_COUNT qlen, int flags, DAT_CNO_HANDLE cno = DAT_HANDLE_NULL) {
  DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
  const DAT_RETURN ret =
      dat_evd_create(w.a().ia, qlen, cno, static_cast<DAT_EVD_FLAGS>(flags), &evd);
  if (ret == DAT_SUCCESS) {
    EXPECT_OK(dat_evd_free(evd));
  }
  return ret;
}

DAT_RETURN Wait(DAT_EVD_HANDLE evd, DAT_TIMEOUT timeout_us = 0, DAT_COUNT threshold = 1) {
  DAT_EVENT event{};
  DAT_COUNT nmore = 0;
  return dat_evd_wait(evd, timeout_us, threshold, &event, &nmore);
}

DAT_RETURN Dequeue(DAT_EVD_HANDLE evd) {
  DAT_EVENT event{};
  return dat_evd_dequeue(evd, &event);
}

DAT_RETURN PostSe(DAT_EVD_HANDLE evd, DAT_EVENT_NUMBER number = DAT_SOFTWARE_EVENT) {
  DAT_EVENT event{};
  event.event_number = number;
  return dat_evd_post_se(evd, &event);
}

DAT_RETURN EachBadEvd(World& w, DAT_RETURN (*call)(DAT_EVD_HANDLE)) { return w.EachBad(call); }

DAT_COUNT MaxQlen(World& w) {
  DAT_IA_ATTR attr{};
  EXPECT_OK(dat_ia_query(w.a().ia, nullptr, DAT_IA_FIELD_ALL, &attr, 0, nullptr));
  return attr.max_evd_qlen;
}

}  // namespace

ACTION(dat_evd_create, SUCCESS, NO_SUBTYPE) { return Create(w, 8, DAT_EVD_DTO_FLAG); }
ACTION(dat_evd_create, INVALID_HANDLE, INVALID_HANDLE_IA) {
  DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
  return w.EachBadIa(
      [&evd](DAT_HANDLE h) { return dat_evd_create(h, 8, nullptr, DAT_EVD_DTO_FLAG, &evd); });
}
ACTION(dat_evd_create, INVALID_PARAMETER, INVALID_ARG2) {
  EXPECT_RETURN(Create(w, -1, DAT_EVD_DTO_FLAG), BadArgument(2));
  return Create(w, 0, DAT_EVD_DTO_FLAG);
}
ACTION(dat_evd_create, INVALID_HANDLE, INVALID_HANDLE_CNO) {
  EXPECT_RETURN(Create(w, 8, DAT_EVD_DTO_FLAG, w.a().pz), BadHandle(DAT_INVALID_HANDLE_CNO));
  return w.EachBad([&w](DAT_HANDLE h) { return Create(w, 8, DAT_EVD_DTO_FLAG, h); }, false);
}
ACTION(dat_evd_create, INVALID_PARAMETER, INVALID_ARG4) {
  EXPECT_RETURN(Create(w, 8, 0x200), BadArgument(4));
  return Create(w, 8, 0);
}
ACTION(dat_evd_create, INVALID_PARAMETER, INVALID_ARG5) {
  return dat_evd_create(w.a().ia, 8, nullptr, DAT_EVD_DTO_FLAG, nullptr);
}
ACTION(dat_evd_create, INSUFFICIENT_RESOURCES, RESOURCE_TEVD) {
  return Create(w, MaxQlen(w) + 1, DAT_EVD_DTO_FLAG);
}

ACTION(dat_evd_free, SUCCESS, NO_SUBTYPE) { return Create(w, 8, DAT_EVD_DTO_FLAG); }
ACTION(dat_evd_free, INVALID_HANDLE, INVALID_HANDLE_EVD_REQUEST) {
  return EachBadEvd(w, dat_evd_free);
}
ACTION(dat_evd_free, INVALID_STATE, INVALID_STATE_EVD_IN_USE) {
  return dat_evd_free(w.a().connect_evd);
}
ACTION(dat_evd_free, INVALID_STATE, INVALID_STATE_EVD_WAITER) {
  const DAT_EVD_HANDLE evd = w.Evd();
  return w.WhileWaiting(evd, [evd] { return dat_evd_free(evd); });
}

ACTION(dat_evd_query, SUCCESS, NO_SUBTYPE) {
  DAT_EVD_PARAM param{};
  return dat_evd_query(w.a().cr_evd, DAT_EVD_FIELD_ALL, &param);
}
ACTION(dat_evd_query, INVALID_HANDLE, INVALID_HANDLE_EVD_REQUEST) {
  DAT_EVD_PARAM param{};
  return w.EachBad([&](DAT_HANDLE h) { return dat_evd_query(h, DAT_EVD_FIELD_ALL, &param); });
}
ACTION(dat_evd_query, INVALID_PARAMETER, INVALID_ARG2) {
  DAT_EVD_PARAM param{};
  return dat_evd_query(w.a().cr_evd, static_cast<DAT_EVD_PARAM_MASK>(0x4000), &param);
}
ACTION(dat_evd_query, INVALID_PARAMETER, INVALID_ARG3) {
  return dat_evd_query(w.a().cr_evd, DAT_EVD_FIELD_ALL, nullptr);
}

ACTION(dat_evd_modify_cno, SUCCESS, NO_SUBTYPE) {
  return dat_evd_modify_cno(w.a().cr_evd, DAT_HANDLE_NULL);
}
ACTION(dat_evd_modify_cno, INVALID_HANDLE, INVALID_HANDLE_EVD_REQUEST) {
  return w.EachBad([](DAT_HANDLE h) { return dat_evd_modify_cno(h, DAT_HANDLE_NULL); });
}
ACTION(dat_evd_modify_cno, INVALID_HANDLE, INVALID_HANDLE_CNO) {
  return w.EachBad([&w](DAT_HANDLE h) { return dat_evd_modify_cno(w.a().cr_evd, h); }, false);
}

ACTION(dat_evd_enable, SUCCESS, NO_SUBTYPE) { return dat_evd_enable(w.a().cr_evd); }
ACTION(dat_evd_enable, INVALID_HANDLE, INVALID_HANDLE_EVD_REQUEST) {
  return EachBadEvd(w, dat_evd_enable);
}
ACTION(dat_evd_disable, SUCCESS, NO_SUBTYPE) { return dat_evd_disable(w.a().cr_evd); }
ACTION(dat_evd_disable, INVALID_HANDLE, INVALID_HANDLE_EVD_REQUEST) {
  return EachBadEvd(w, dat_evd_disable);
}
ACTION(dat_evd_set_unwaitable, SUCCESS, NO_SUBTYPE) { return dat_evd_set_unwaitable(w.a().cr_evd); }
ACTION(dat_evd_set_unwaitable, INVALID_HANDLE, INVALID_HANDLE_EVD_REQUEST) {
  return EachBadEvd(w, dat_evd_set_unwaitable);
}
ACTION(dat_evd_clear_unwaitable, SUCCESS, NO_SUBTYPE) {
  return dat_evd_clear_unwaitable(w.a().cr_evd);
}
ACTION(dat_evd_clear_unwaitable, INVALID_HANDLE, INVALID_HANDLE_EVD_REQUEST) {
  return EachBadEvd(w, dat_evd_clear_unwaitable);
}

ACTION(dat_evd_wait, SUCCESS, NO_SUBTYPE) {
  const DAT_EVD_HANDLE evd = w.Evd();
  EXPECT_OK(PostSe(evd));
  return Wait(evd);
}
ACTION(dat_evd_wait, INVALID_HANDLE, INVALID_HANDLE_EVD_REQUEST) {
  return w.EachBad([](DAT_HANDLE h) { return Wait(h); });
}
ACTION(dat_evd_wait, INVALID_PARAMETER, INVALID_ARG3) {
  const DAT_EVD_HANDLE evd = w.Evd();
  EXPECT_RETURN(Wait(evd, 0, -1), BadArgument(3));
  EXPECT_RETURN(Wait(evd, 0, MaxQlen(w) + 1), BadArgument(3));
  return Wait(evd, 0, 0);
}
ACTION(dat_evd_wait, INVALID_PARAMETER, INVALID_ARG4) {
  DAT_COUNT nmore = 0;
  return dat_evd_wait(w.a().cr_evd, 0, 1, nullptr, &nmore);
}
ACTION(dat_evd_wait, INVALID_PARAMETER, INVALID_ARG5) {
  DAT_EVENT event{};
  return dat_evd_wait(w.a().cr_evd, 0, 1, &event, nullptr);
}
ACTION(dat_evd_wait, INVALID_STATE, INVALID_STATE_EVD_WAITER) {
  const DAT_EVD_HANDLE evd = w.Evd();
  return w.WhileWaiting(evd, [evd] { return Wait(evd); });
}
ACTION(dat_evd_wait, INVALID_STATE, INVALID_STATE_EVD_UNWAITABLE) {
  const DAT_EVD_HANDLE evd = w.Evd();
  EXPECT_OK(dat_evd_set_unwaitable(evd));
  return Wait(evd);
}
ACTION(dat_evd_wait, INVALID_STATE, INVALID_STATE_EVD_CONFIG_NOTIFY) {
  // A threshold above 1 is refused if a stream has completions that are no notifications.
  DAT_EP_ATTR attr{};
  attr.max_recv_dtos = attr.max_request_dtos = 4;
  attr.max_recv_iov = attr.max_request_iov = 1;
  attr.request_completion_flags = DAT_COMPLETION_UNSIGNALLED_FLAG;
  const DAT_EVD_HANDLE recv = w.Evd(DAT_EVD_DTO_FLAG), request = w.Evd(DAT_EVD_DTO_FLAG);
  DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
  EXPECT_OK(dat_ep_create(w.a().ia, w.a().pz, recv, request, w.a().connect_evd, &attr, &ep));
  const DAT_RETURN ret = Wait(request, 0, 2);
  EXPECT_OK(dat_ep_free(ep));
  return ret;
}
ACTION(dat_evd_wait, TIMEOUT_EXPIRED, NO_SUBTYPE) { return Wait(w.a().cr_evd, 1000); }
ACTION(dat_evd_wait, ABORT, NO_SUBTYPE) {
  std::string name = TheOptions().ia;
  DAT_EVD_HANDLE async = DAT_HANDLE_NULL, evd = DAT_HANDLE_NULL;
  DAT_IA_HANDLE ia = DAT_HANDLE_NULL;
  EXPECT_OK(dat_ia_open(name.data(), 8, &async, &ia));
  EXPECT_OK(dat_evd_create(ia, 8, nullptr, DAT_EVD_SOFTWARE_FLAG, &evd));
  DAT_RETURN ret = DAT_SUCCESS;
  std::thread waiter([&ret, evd] { ret = Wait(evd, kForever); });
  while (DAT_GET_TYPE(Dequeue(evd)) == DAT_QUEUE_EMPTY) std::this_thread::yield();
  EXPECT_OK(dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG));
  waiter.join();
  return ret;
}
ACTION(dat_evd_wait, INTERRUPTED_CALL, NO_SUBTYPE) {
  return w.Interrupted([&w] { return Wait(w.a().cr_evd, kForever); });
}

ACTION(dat_evd_dequeue, SUCCESS, NO_SUBTYPE) {
  const DAT_EVD_HANDLE evd = w.Evd();
  EXPECT_OK(PostSe(evd));
  return Dequeue(evd);
}
ACTION(dat_evd_dequeue, INVALID_HANDLE, INVALID_HANDLE_EVD_REQUEST) {
  return EachBadEvd(w, Dequeue);
}
ACTION(dat_evd_dequeue, INVALID_PARAMETER, INVALID_ARG2) {
  return dat_evd_dequeue(w.a().cr_evd, nullptr);
}
ACTION(dat_evd_dequeue, QUEUE_EMPTY, NO_SUBTYPE) {
  // An EVD for completions returns it without the class bits, as programs compare it (semantics 1).
  EXPECT_EQ(static_cast<DAT_UINT32>(Dequeue(w.a().recv_evd)), DAT_UINT32{DAT_QUEUE_EMPTY});
  return Dequeue(w.a().cr_evd);
}
ACTION(dat_evd_dequeue, INVALID_STATE, INVALID_STATE_EVD_WAITER) {
  const DAT_EVD_HANDLE evd = w.Evd();
  return w.WhileWaiting(evd, [evd] { return Dequeue(evd); });
}

ACTION(dat_evd_post_se, SUCCESS, NO_SUBTYPE) { return PostSe(w.Evd()); }
ACTION(dat_evd_post_se, INVALID_HANDLE, INVALID_HANDLE_EVD_REQUEST) {
  return w.EachBad([](DAT_HANDLE h) { return PostSe(h); });
}
ACTION(dat_evd_post_se, INVALID_PARAMETER, INVALID_ARG1) { return PostSe(w.a().cr_evd); }
ACTION(dat_evd_post_se, INVALID_PARAMETER, INVALID_ARG2) {
  const DAT_EVD_HANDLE evd = w.Evd();
  EXPECT_RETURN(dat_evd_post_se(evd, nullptr), BadArgument(2));
  return PostSe(evd, DAT_DTO_COMPLETION_EVENT);
}
ACTION(dat_evd_post_se, QUEUE_FULL, NO_SUBTYPE) {
  const DAT_EVD_HANDLE evd = w.Evd();
  return w.FirstFailure([evd] { return PostSe(evd); });
}

ACTION(dat_evd_resize, SUCCESS, NO_SUBTYPE) { return dat_evd_resize(w.a().cr_evd, 32); }
ACTION(dat_evd_resize, INVALID_HANDLE, INVALID_HANDLE_EVD_REQUEST) {
  return w.EachBad([](DAT_HANDLE h) { return dat_evd_resize(h, 8); });
}
ACTION(dat_evd_resize, INVALID_PARAMETER, INVALID_ARG2) {
  EXPECT_RETURN(dat_evd_resize(w.a().cr_evd, -1), BadArgument(2));
  return dat_evd_resize(w.a().cr_evd, 0);
}
ACTION(dat_evd_resize, INVALID_STATE, INVALID_STATE_EVD_IN_USE) {
  const DAT_EVD_HANDLE evd = w.Evd();
  for (int i = 0; i < 5; ++i) EXPECT_OK(PostSe(evd));
  return dat_evd_resize(evd, 2);
}
ACTION(dat_evd_resize, INVALID_STATE, INVALID_STATE_EVD_WAITER) {
  const DAT_EVD_HANDLE evd = w.Evd();
  return w.WhileWaiting(evd, [evd] { return dat_evd_resize(evd, 16); });
}
ACTION(dat_evd_resize, INSUFFICIENT_RESOURCES, RESOURCE_TEVD) {
  return dat_evd_resize(w.a().cr_evd, MaxQlen(w) + 1);
}

ACTION(dat_cno_create, SUCCESS, NO_SUBTYPE) {
  w.Cno();
  return DAT_SUCCESS;
}
ACTION(dat_cno_create, INVALID_HANDLE, INVALID_HANDLE_IA) {
  DAT_CNO_HANDLE cno = DAT_HANDLE_NULL;
  return w.EachBadIa(
      [&cno](DAT_HANDLE h) { return dat_cno_create(h, DAT_OS_WAIT_PROXY_AGENT_NULL, &cno); });
}
ACTION(dat_cno_create, INVALID_PARAMETER, INVALID_ARG3) {
  return dat_cno_create(w.a().ia, DAT_OS_WAIT_PROXY_AGENT_NULL, nullptr);
}
ACTION(dat_cno_free, SUCCESS, NO_SUBTYPE) {
  DAT_CNO_HANDLE cno = DAT_HANDLE_NULL;
  EXPECT_OK(dat_cno_create(w.a().ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &cno));
  return dat_cno_free(cno);
}
ACTION(dat_cno_free, INVALID_HANDLE, INVALID_HANDLE_CNO) { return w.EachBad(dat_cno_free); }
ACTION(dat_cno_free, INVALID_STATE, INVALID_STATE_CNO_IN_USE) {
  const DAT_CNO_HANDLE cno = w.Cno();
  EXPECT_OK(dat_evd_modify_cno(w.a().cr_evd, cno));
  const DAT_RETURN ret = dat_cno_free(cno);
  EXPECT_OK(dat_evd_modify_cno(w.a().cr_evd, DAT_HANDLE_NULL));
  return ret;
}
ACTION(dat_cno_wait, SUCCESS, NO_SUBTYPE) {
  const DAT_CNO_HANDLE cno = w.Cno();
  const DAT_EVD_HANDLE evd = w.Evd();
  EXPECT_OK(dat_evd_modify_cno(evd, cno));
  EXPECT_OK(PostSe(evd));
  DAT_EVD_HANDLE hint = DAT_HANDLE_NULL;
  return dat_cno_wait(cno, kForever, &hint);
}
ACTION(dat_cno_wait, INVALID_HANDLE, INVALID_HANDLE_CNO) {
  DAT_EVD_HANDLE hint = DAT_HANDLE_NULL;
  return w.EachBad([&hint](DAT_HANDLE h) { return dat_cno_wait(h, 0, &hint); });
}
ACTION(dat_cno_wait, INVALID_PARAMETER, INVALID_ARG3) { return dat_cno_wait(w.Cno(), 0, nullptr); }
ACTION(dat_cno_wait, QUEUE_EMPTY, NO_SUBTYPE) {
  DAT_EVD_HANDLE hint = w.a().cr_evd;
  const DAT_RETURN ret = dat_cno_wait(w.Cno(), 1000, &hint);
  EXPECT_EQ(hint, DAT_HANDLE_NULL);
  return ret;
}
ACTION(dat_cno_wait, INTERRUPTED_CALL, NO_SUBTYPE) {
  const DAT_CNO_HANDLE cno = w.Cno();
  DAT_EVD_HANDLE hint = DAT_HANDLE_NULL;
  return w.Interrupted([cno, &hint] { return dat_cno_wait(cno, kForever, &hint); });
}
ACTION(dat_cno_modify_agent, SUCCESS, NO_SUBTYPE) {
  return dat_cno_modify_agent(w.Cno(), DAT_OS_WAIT_PROXY_AGENT_NULL);
}
ACTION(dat_cno_modify_agent, INVALID_HANDLE, INVALID_HANDLE_CNO) {
  return w.EachBad(
      [](DAT_HANDLE h) { return dat_cno_modify_agent(h, DAT_OS_WAIT_PROXY_AGENT_NULL); });
}
ACTION(dat_cno_query, SUCCESS, NO_SUBTYPE) {
  DAT_CNO_PARAM param{};
  return dat_cno_query(w.Cno(), DAT_CNO_FIELD_ALL, &param);
}
ACTION(dat_cno_query, INVALID_HANDLE, INVALID_HANDLE_CNO) {
  DAT_CNO_PARAM param{};
  return w.EachBad([&](DAT_HANDLE h) { return dat_cno_query(h, DAT_CNO_FIELD_ALL, &param); });
}
ACTION(dat_cno_query, INVALID_PARAMETER, INVALID_ARG2) {
  DAT_CNO_PARAM param{};
  return dat_cno_query(w.Cno(), static_cast<DAT_CNO_PARAM_MASK>(0x10), &param);
}
ACTION(dat_cno_query, INVALID_PARAMETER, INVALID_ARG3) {
  return dat_cno_query(w.Cno(), DAT_CNO_FIELD_ALL, nullptr);
}
ACTION(dat_cno_fd_create, SUCCESS, NO_SUBTYPE) {
  DAT_FD fd = -1;
  DAT_CNO_HANDLE cno = DAT_HANDLE_NULL;
  EXPECT_OK(dat_cno_fd_create(w.a().ia, &fd, &cno));
  EXPECT_GE(fd, 0);
  return dat_cno_free(cno);
}
ACTION(dat_cno_fd_create, INVALID_HANDLE, INVALID_HANDLE_IA) {
  DAT_FD fd = -1;
  DAT_CNO_HANDLE cno = DAT_HANDLE_NULL;
  return w.EachBadIa([&](DAT_HANDLE h) { return dat_cno_fd_create(h, &fd, &cno); });
}
ACTION(dat_cno_fd_create, INVALID_PARAMETER, INVALID_ARG2) {
  DAT_CNO_HANDLE cno = DAT_HANDLE_NULL;
  return dat_cno_fd_create(w.a().ia, nullptr, &cno);
}
ACTION(dat_cno_fd_create, INVALID_PARAMETER, INVALID_ARG3) {
  DAT_FD fd = -1;
  return dat_cno_fd_create(w.a().ia, &fd, nullptr);
}
ACTION(dat_cno_trigger, SUCCESS, NO_SUBTYPE) {
  const DAT_CNO_HANDLE cno = w.Cno();
  const DAT_EVD_HANDLE evd = w.Evd();
  EXPECT_OK(dat_evd_modify_cno(evd, cno));
  EXPECT_OK(PostSe(evd));
  DAT_EVD_HANDLE hint = DAT_HANDLE_NULL;
  return dat_cno_trigger(cno, &hint);
}
ACTION(dat_cno_trigger, INVALID_HANDLE, INVALID_HANDLE_CNO) {
  DAT_EVD_HANDLE hint = DAT_HANDLE_NULL;
  return w.EachBad([&hint](DAT_HANDLE h) { return dat_cno_trigger(h, &hint); });
}
ACTION(dat_cno_trigger, INVALID_PARAMETER, INVALID_ARG2) {
  return dat_cno_trigger(w.Cno(), nullptr);
}
ACTION(dat_cno_trigger, QUEUE_EMPTY, NO_SUBTYPE) {
  DAT_EVD_HANDLE hint = DAT_HANDLE_NULL;
  return dat_cno_trigger(w.Cno(), &hint);
}

}  // namespace softdat::conformance
