// SPDX-License-Identifier: BSD-3-Clause
// Code that the actions of the return code table share.
#include "tests/conformance/return_cells.h"

#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <atomic>
#include <cstring>
#include <thread>

namespace softdat::conformance {
namespace {

std::vector<ReturnAction>& Actions() {
  static std::vector<ReturnAction> all;
  return all;
}

}  // namespace

ReturnAction::ReturnAction(const ReturnCell& of, DAT_RETURN (*action)(World&))
    : cell(of), run(action) {
  Actions().push_back(*this);
}

const std::vector<ReturnAction>& AllReturnActions() { return Actions(); }

void World::TearDown() {
  for (; !undo_.empty(); undo_.pop_back()) undo_.back()();
  memory_.reset();
  target_.reset();
  PairTest::TearDown();
}

Buffer& World::memory() {
  if (memory_ == nullptr) memory_ = a_->MakeBuffer(4096);
  return *memory_;
}

Buffer& World::target() {
  if (target_ == nullptr) target_ = b_->MakeBuffer(4096);
  return *target_;
}

void World::Connected() { Join(*a_, a_->ep, *b_, b_->ep); }

DAT_CR_HANDLE World::Request() {
  DAT_CONN_QUAL qualifier = 0;
  const DAT_PSP_HANDLE psp = Listen(*b_, &qualifier);
  EXPECT_OK(Connect(a_->ep, qualifier));
  const DAT_CR_HANDLE cr = NextRequest(*b_);
  Later([psp, cr] {
    dat_cr_reject(cr, 0, nullptr);  // unless the test has answered it
    EXPECT_OK(dat_psp_free(psp));
  });
  return cr;
}

DAT_PSP_HANDLE World::Psp() {
  DAT_CONN_QUAL qualifier = 0;
  const DAT_PSP_HANDLE psp = Listen(*a_, &qualifier);
  Later([psp] { EXPECT_OK(dat_psp_free(psp)); });
  return psp;
}

DAT_RSP_HANDLE World::Rsp() {
  DAT_RSP_HANDLE rsp = DAT_HANDLE_NULL;
  EXPECT_OK(dat_rsp_create(a_->ia, FreeQualifier(), a_->ep, a_->cr_evd, &rsp));
  Later([rsp] { EXPECT_OK(dat_rsp_free(rsp)); });
  return rsp;
}

DAT_CSP_HANDLE World::Csp() {
  DAT_CSP_HANDLE csp = DAT_HANDLE_NULL;
  const auto port = static_cast<uint16_t>(FreeQualifier());
  DAT_IA_ADDRESS_PTR at = SocketAddress(port);
  DAT_COMM comm{at->sa_family, SOCK_STREAM, 0};
  EXPECT_OK(dat_csp_create(a_->ia, &comm, at, a_->cr_evd, &csp));
  Later([csp] { EXPECT_OK(dat_csp_free(csp)); });
  return csp;
}

DAT_SRQ_HANDLE World::Srq() {
  DAT_SRQ_ATTR attr{4, 2, DAT_SRQ_LW_DEFAULT};
  DAT_SRQ_HANDLE srq = DAT_HANDLE_NULL;
  EXPECT_OK(dat_srq_create(a_->ia, a_->pz, &attr, &srq));
  memory();  // outlives the receives that are posted from it
  Later([srq] { EXPECT_OK(dat_srq_free(srq)); });
  return srq;
}

DAT_EP_HANDLE World::SrqEp() {
  const DAT_SRQ_HANDLE srq = Srq();
  DAT_EP_ATTR attr{};
  attr.max_recv_dtos = attr.max_request_dtos = 4;
  attr.max_request_iov = 1;
  DAT_EP_HANDLE made = DAT_HANDLE_NULL;
  EXPECT_OK(dat_ep_create_with_srq(a_->ia, a_->pz, a_->recv_evd, a_->request_evd, a_->connect_evd,
                                   srq, &attr, &made));
  Later([made] { EXPECT_OK(dat_ep_free(made)); });
  return made;
}

DAT_RMR_HANDLE World::Rmr() {
  memory();
  DAT_RMR_HANDLE rmr = DAT_HANDLE_NULL;
  EXPECT_OK(dat_rmr_create(a_->pz, &rmr));
  Later([rmr] { EXPECT_OK(dat_rmr_free(rmr)); });
  return rmr;
}

DAT_CNO_HANDLE World::Cno() {
  DAT_CNO_HANDLE cno = DAT_HANDLE_NULL;
  EXPECT_OK(dat_cno_create(a_->ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &cno));
  Later([cno] { EXPECT_OK(dat_cno_free(cno)); });
  return cno;
}

DAT_PZ_HANDLE World::OtherPz() {
  DAT_PZ_HANDLE pz = DAT_HANDLE_NULL;
  EXPECT_OK(dat_pz_create(a_->ia, &pz));
  Later([pz] { EXPECT_OK(dat_pz_free(pz)); });
  return pz;
}

DAT_EP_HANDLE World::BareEp() {
  DAT_EP_HANDLE made = DAT_HANDLE_NULL;
  EXPECT_OK(dat_ep_create(a_->ia, nullptr, nullptr, nullptr, nullptr, nullptr, &made));
  Later([made] { EXPECT_OK(dat_ep_free(made)); });
  return made;
}

DAT_EVD_HANDLE World::Evd(DAT_EVD_FLAGS flags, DAT_COUNT qlen) {
  DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
  EXPECT_OK(dat_evd_create(a_->ia, qlen, DAT_HANDLE_NULL, flags, &evd));
  Later([evd] { EXPECT_OK(dat_evd_free(evd)); });
  return evd;
}

DAT_IA_ADDRESS_PTR World::SocketAddress(uint16_t port) {
  if (variant().family == AF_INET6) {
    sockaddr_in6 at{};
    at.sin6_family = AF_INET6;
    at.sin6_addr = in6addr_loopback;
    at.sin6_port = htons(port);
    std::memcpy(&socket_address_, &at, sizeof at);
  } else {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    at.sin_port = htons(port);
    std::memcpy(&socket_address_, &at, sizeof at);
  }
  return reinterpret_cast<DAT_IA_ADDRESS_PTR>(&socket_address_);
}

DAT_RETURN World::Bind(DAT_LMR_TRIPLET triplet, DAT_RMR_HANDLE rmr, DAT_EP_HANDLE on,
                       DAT_MEM_PRIV_FLAGS rights, DAT_COMPLETION_FLAGS flags) {
  DAT_RMR_CONTEXT context = 0;
  return dat_rmr_bind(rmr, memory().lmr(), &triplet, rights, DAT_VA_TYPE_VA, on, Cookie(1), flags,
                      &context);
}

DAT_RETURN World::EachBad(const std::function<DAT_RETURN(DAT_HANDLE)>& call, bool null_is_bad) {
  DAT_PZ_HANDLE stale = DAT_HANDLE_NULL;
  EXPECT_OK(dat_pz_create(a_->ia, &stale));
  EXPECT_OK(dat_pz_free(stale));
  DAT_CNO_HANDLE other = DAT_HANDLE_NULL;  // no tested call wants it, except a CNO's
  EXPECT_OK(dat_cno_create(a_->ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &other));
  const DAT_RETURN result = call(reinterpret_cast<DAT_HANDLE>(uintptr_t{0x777}));
  EXPECT_RETURN(call(stale), result) << "with a freed handle";
  // For calls that want a CNO's handle, or any handle.
  if (DAT_GET_SUBTYPE(result) != DAT_INVALID_HANDLE_CNO &&
      DAT_GET_SUBTYPE(result) != DAT_INVALID_HANDLE1) {
    EXPECT_RETURN(call(other), result) << "with the handle of a CNO";
  }
  if (null_is_bad) {
    EXPECT_RETURN(call(DAT_HANDLE_NULL), result) << "with a null handle";
  }
  EXPECT_OK(dat_cno_free(other));
  return result;
}

DAT_RETURN World::EachBadIa(const std::function<DAT_RETURN(DAT_HANDLE)>& call) {
  const DAT_RETURN result = EachBad(call);
  EXPECT_RETURN(call(reinterpret_cast<DAT_HANDLE>(uintptr_t{999})), result);
  EXPECT_RETURN(call(a_->pz), result);
  return result;
}

DAT_RETURN World::WhileWaiting(DAT_EVD_HANDLE evd, const std::function<DAT_RETURN()>& call) {
  std::thread waiter([evd] {
    DAT_EVENT event{};
    DAT_COUNT nmore = 0;
    EXPECT_TYPE(dat_evd_wait(evd, DAT_TIMEOUT_INFINITE, 1, &event, &nmore), DAT_INVALID_STATE);
  });
  DAT_EVENT event{};
  while (DAT_GET_TYPE(dat_evd_dequeue(evd, &event)) == DAT_QUEUE_EMPTY) sched_yield();
  const DAT_RETURN result = call();
  EXPECT_OK(dat_evd_set_unwaitable(evd));
  waiter.join();
  EXPECT_OK(dat_evd_clear_unwaitable(evd));
  return result;
}

DAT_RETURN World::Interrupted(const std::function<DAT_RETURN()>& call) {
  struct sigaction ignore_it {};
  ignore_it.sa_handler = [](int) {};  // no SA_RESTART
  sigaction(SIGUSR1, &ignore_it, nullptr);
  std::atomic<bool> done{false};  // publishes nothing but itself; the join does the rest
  DAT_RETURN result = DAT_SUCCESS;
  std::thread thread([&] {
    result = call();
    done = true;
  });
  while (!done) {
    pthread_kill(thread.native_handle(), SIGUSR1);
    sched_yield();
  }
  thread.join();
  return result;
}

DAT_RETURN World::FirstFailure(const std::function<DAT_RETURN()>& call, int at_most) {
  for (int i = 0; i < at_most; ++i) {
    const DAT_RETURN ret = call();
    if (ret != DAT_SUCCESS) return ret;
  }
  return DAT_SUCCESS;
}

}  // namespace softdat::conformance
