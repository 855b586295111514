// SPDX-License-Identifier: BSD-3-Clause
// subject IA N [posts]: posts N RDMA writes and reaps each, on an IA or ("-") on the verbs
// themselves. With "posts" the completions are suppressed and nothing is reaped. Compiled with
// SUBJECT_12, as subject12, it is a program of uDAPL 1.2. A SIGTRAP before the first write and one
// after the last tell the counting program where they are; without one they are ignored. If
// something fails, the exit status is 1, with the reason.
#include <arpa/inet.h>
#include <infiniband/verbs.h>
#include <netinet/in.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#ifdef SUBJECT_12
#include "dat/udat.h"
#else
#include "dat2/udat.h"
#endif

namespace {

constexpr int kDepth = 64;
alignas(64) char g_memory[64];

[[noreturn]] void Fail(const char* what, unsigned code) {
  std::fprintf(stderr, "subject: %s failed: %#x\n", what, code);
  std::exit(1);
}

void Must(const char* what, DAT_RETURN result) {
  if (result != DAT_SUCCESS) Fail(what, result);
}

void RunBare(long operations) {
  ibv_device** const list = ibv_get_device_list(nullptr);
  ibv_context* const context = ibv_open_device(list[0]);
  ibv_pd* const pd = ibv_alloc_pd(context);
  ibv_mr* const mr = ibv_reg_mr(pd, g_memory, sizeof g_memory, 0);
  ibv_cq* const cq = ibv_create_cq(context, kDepth, nullptr, nullptr, 0);
  ibv_qp_init_attr init{};
  init.send_cq = init.recv_cq = cq;
  init.qp_type = IBV_QPT_RC;
  ibv_qp* const qp = ibv_create_qp(pd, &init);
  std::raise(SIGTRAP);
  for (long i = 0; i < operations; ++i) {
    ibv_sge piece{reinterpret_cast<uintptr_t>(g_memory), 8, mr->lkey};
    ibv_send_wr wr{};
    wr.wr_id = static_cast<uint64_t>(i);
    wr.sg_list = &piece;
    wr.num_sge = 1;
    wr.opcode = IBV_WR_RDMA_WRITE;
    wr.send_flags = IBV_SEND_SIGNALED;
    wr.wr.rdma.remote_addr = 0x1000;
    wr.wr.rdma.rkey = 7;
    ibv_send_wr* bad = nullptr;
    if (ibv_post_send(qp, &wr, &bad) != 0) Fail("ibv_post_send", 0);
    ibv_wc wc;
    while (ibv_poll_cq(cq, 1, &wc) == 0) {
    }
  }
  std::raise(SIGTRAP);
}

// The two differences between the versions that matter here.
DAT_RETURN CreateRegion(DAT_IA_HANDLE ia, DAT_PZ_HANDLE pz, DAT_LMR_CONTEXT* context) {
  DAT_REGION_DESCRIPTION region{};
  region.for_va = g_memory;
  DAT_LMR_HANDLE lmr = DAT_HANDLE_NULL;
  DAT_RMR_CONTEXT unused = 0;
  DAT_VLEN length = 0;
  DAT_VADDR address = 0;
  return dat_lmr_create(ia, DAT_MEM_TYPE_VIRTUAL, region, sizeof g_memory, pz,
                        DAT_MEM_PRIV_ALL_FLAG,
#ifndef SUBJECT_12
                        DAT_VA_TYPE_VA,
#endif
                        &lmr, context, &unused, &length, &address);
}

DAT_RMR_TRIPLET Remote(DAT_VADDR address) {
  DAT_RMR_TRIPLET remote{};
#ifdef SUBJECT_12
  remote.target_address = address;
#else
  remote.virtual_address = address;
#endif
  remote.segment_length = 8;
  remote.rmr_context = 7;
  return remote;
}

void RunDat(const char* name, long operations, bool reap) {
  DAT_IA_HANDLE ia = DAT_HANDLE_NULL;
  DAT_EVD_HANDLE async = DAT_HANDLE_NULL, dto = DAT_HANDLE_NULL, connect = DAT_HANDLE_NULL;
  DAT_PZ_HANDLE pz = DAT_HANDLE_NULL;
  DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
  std::string ia_name = name;
  Must("dat_ia_open", dat_ia_open(ia_name.data(), 8, &async, &ia));
  Must("dat_pz_create", dat_pz_create(ia, &pz));
  Must("dat_evd_create", dat_evd_create(ia, kDepth, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG, &dto));
  Must("dat_evd_create", dat_evd_create(ia, 8, DAT_HANDLE_NULL, DAT_EVD_CONNECTION_FLAG, &connect));
  Must("dat_ep_create", dat_ep_create(ia, pz, dto, dto, connect, nullptr, &ep));
  DAT_LMR_CONTEXT context = 0;
  Must("dat_lmr_create", CreateRegion(ia, pz, &context));
  sockaddr_in peer{};
  peer.sin_family = AF_INET;
  peer.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  Must("dat_ep_connect",
       dat_ep_connect(ep, reinterpret_cast<DAT_IA_ADDRESS_PTR>(&peer), 5000, 10'000'000, 0, nullptr,
                      DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG));
  DAT_EVENT event;
  DAT_COUNT more = 0;
  Must("dat_evd_wait", dat_evd_wait(connect, 10'000'000, 1, &event, &more));
  if (event.event_number != DAT_CONNECTION_EVENT_ESTABLISHED)
    Fail("connecting: event", event.event_number);
  const DAT_COMPLETION_FLAGS flags =
      reap ? DAT_COMPLETION_DEFAULT_FLAG : DAT_COMPLETION_SUPPRESS_FLAG;
  std::raise(SIGTRAP);
  for (long i = 0; i < operations; ++i) {
    DAT_LMR_TRIPLET local{};
    local.virtual_address = reinterpret_cast<uintptr_t>(g_memory);
    local.segment_length = 8;
    local.lmr_context = context;
    const DAT_RMR_TRIPLET remote = Remote(0x1000);
    DAT_DTO_COOKIE cookie;
    cookie.as_64 = static_cast<uint64_t>(i);
    const DAT_RETURN posted = dat_ep_post_rdma_write(ep, 1, &local, cookie, &remote, flags);
    if (posted != DAT_SUCCESS) Fail("dat_ep_post_rdma_write", posted);
    if (!reap) continue;
    while (dat_evd_dequeue(dto, &event) != DAT_SUCCESS) {
    }
    const DAT_DTO_COMPLETION_EVENT_DATA& done = event.event_data.dto_completion_event_data;
    if (done.status != DAT_DTO_SUCCESS || done.user_cookie.as_64 != cookie.as_64)
      Fail("the completion: status", done.status);
  }
  std::raise(SIGTRAP);
}

}  // namespace

int main(int argc, char** argv) {
  const bool reap = argc == 3;
  if (!reap && (argc != 4 || std::strcmp(argv[3], "posts") != 0)) {
    std::fputs("usage: subject IA OPERATIONS [posts] (IA -: verbs)\n", stderr);
    return 2;
  }
  std::signal(SIGTRAP, SIG_IGN);
  const long operations = std::atol(argv[2]);
  if (std::strcmp(argv[1], "-") == 0) {
    RunBare(operations);
  } else {
    RunDat(argv[1], operations, reap);
  }
  std::_Exit(0);  // the count must not include what follows
}
