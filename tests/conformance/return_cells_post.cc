// SPDX-License-Identifier: BSD-3-Clause
// Actions of the return code table: posts and extended operations.
#include "tests/conformance/return_cells.h"

namespace softdat::conformance {
namespace {

// One post of any kind.
struct PostArguments {
  DAT_EP_HANDLE ep;
  DAT_COUNT count = 1;
  DAT_LMR_TRIPLET iov[8] = {};
  bool null_iov = false;
  DAT_RMR_TRIPLET remote{};
  bool null_remote = false;
  int flags = DAT_COMPLETION_DEFAULT_FLAG;
};
using Poster = DAT_RETURN (*)(PostArguments&);

DAT_LMR_TRIPLET* Iov(PostArguments& p) { return p.null_iov ? nullptr : p.iov; }
const DAT_RMR_TRIPLET* Remote(PostArguments& p) { return p.null_remote ? nullptr : &p.remote; }
DAT_COMPLETION_FLAGS Flags(const PostArguments& p) {
  return static_cast<DAT_COMPLETION_FLAGS>(p.flags);
}
DAT_RETURN Send(PostArguments& p) {
  return dat_ep_post_send(p.ep, p.count, Iov(p), Cookie(1), Flags(p));
}
DAT_RETURN Invalidate(PostArguments& p) {
  return dat_ep_post_send_with_invalidate(p.ep, p.count, Iov(p), Cookie(1), Flags(p), DAT_FALSE, 0);
}
DAT_RETURN Recv(PostArguments& p) {
  return dat_ep_post_recv(p.ep, p.count, Iov(p), Cookie(1), Flags(p));
}
DAT_RETURN Read(PostArguments& p) {
  return dat_ep_post_rdma_read(p.ep, p.count, Iov(p), Cookie(1), Remote(p), Flags(p));
}
DAT_RETURN Write(PostArguments& p) {
  return dat_ep_post_rdma_write(p.ep, p.count, Iov(p), Cookie(1), Remote(p), Flags(p));
}
DAT_RETURN ReadToRmr(PostArguments& p) {
  const DAT_RMR_TRIPLET sink{p.iov[0].virtual_address, p.iov[0].segment_length,
                             p.iov[0].lmr_context};
  return dat_ep_post_rdma_read_to_rmr(p.ep, p.null_iov ? nullptr : &sink, Cookie(1), Remote(p),
                                      Flags(p));
}

PostArguments Good(World& w) {
  PostArguments good{w.ep()};
  for (DAT_LMR_TRIPLET& part : good.iov) part = w.memory().local(0, 64);
  good.remote = w.target().remote(0, 64);
  return good;
}
DAT_RETURN On(World& w, Poster post, void (*change)(World&, PostArguments*), bool connect = true) {
  if (connect) w.Connected();
  PostArguments p = Good(w);
  if (change != nullptr) change(w, &p);
  return post(p);
}
DAT_RETURN EachBadEp(World& w, Poster post) {
  PostArguments p = Good(w);
  return w.EachBad([&p, post](DAT_HANDLE h) {
    p.ep = h;
    return post(p);
  });
}
// Posts more than the queue holds. A peer without receives holds sends back.
DAT_RETURN Overfill(World& w, Poster post) {
  EXPECT_OK(On(w, post, nullptr));
  return w.FirstFailure([&w, post] {
    PostArguments p = Good(w);
    return post(p);
  });
}
void WithForeign(World& w, PostArguments* p) {
  DAT_PZ_HANDLE pz = w.OtherPz();
  auto foreign = std::make_shared<Buffer>(w.a().ia, pz, 64);
  p->iov[0] = foreign->local();
  w.Later([foreign] { EXPECT_OK(foreign->Free()); });
}
void WithReadOnly(World& w, PostArguments* p) {
  std::shared_ptr<Buffer> read_only = w.a().MakeBuffer(64, 0, DAT_MEM_PRIV_LOCAL_READ_FLAG);
  p->iov[0] = read_only->local();
  w.Later([read_only] { EXPECT_OK(read_only->Free()); });
}
void Outside(World& w, PostArguments* p) { p->iov[0] = w.memory().local(4090, 64); }
void TooMany(World&, PostArguments* p) { p->count = 5; }  // default EPs have 4
void Negative(World&, PostArguments* p) { p->count = -1; }
void NullIov(World&, PostArguments* p) { p->null_iov = true; }
void NullRemote(World&, PostArguments* p) { p->null_remote = true; }
void OddFlags(World&, PostArguments* p) { p->flags = 0x400; }
void ShortRemote(World&, PostArguments* p) { p->remote.segment_length = 63; }
// One byte more than the IA moves in one operation.
void TooLong(World& w, PostArguments* p) {
  DAT_IA_ATTR ia{};
  EXPECT_OK(
      dat_ia_query(w.a().ia, nullptr, DAT_IA_FIELD_ALL, &ia, DAT_PROVIDER_FIELD_NONE, nullptr));
  p->iov[0].segment_length = ia.max_message_size + 1;
  p->remote.segment_length = p->iov[0].segment_length;
}
void LongRemote(World&, PostArguments* p) { p->remote.segment_length = 65; }

// A bound window over side a's memory, on a's connected EP.
DAT_RMR_CONTEXT Window(World& w) {
  const DAT_LMR_TRIPLET whole = w.memory().local();
  DAT_RMR_CONTEXT context = 0;
  EXPECT_OK(dat_rmr_bind(w.Rmr(), w.memory().lmr(), &whole, DAT_MEM_PRIV_REMOTE_WRITE_FLAG,
                         DAT_VA_TYPE_VA, w.ep(), Cookie(2), DAT_COMPLETION_DEFAULT_FLAG, &context));
  w.a().Expect(w.a().request_evd, DAT_RMR_BIND_COMPLETION_EVENT);
  return context;
}

}  // namespace

// Arguments that every post with a local vector refuses.
#define POST_ACTIONS(function, post, flags_argument)                                    \
  ACTION(function, SUCCESS, NO_SUBTYPE) { return On(w, post, nullptr); }                \
  ACTION(function, INVALID_HANDLE, INVALID_HANDLE_EP) { return EachBadEp(w, post); }    \
  ACTION(function, INVALID_PARAMETER, INVALID_ARG2) {                                   \
    EXPECT_RETURN(On(w, post, Negative), BadArgument(2));                               \
    return On(w, post, TooMany, false);                                                 \
  }                                                                                     \
  ACTION(function, INVALID_PARAMETER, INVALID_ARG3) { return On(w, post, NullIov); }    \
  ACTION(function, INVALID_PARAMETER, flags_argument) { return On(w, post, OddFlags); } \
  ACTION(function, INVALID_PARAMETER, NO_SUBTYPE) { return On(w, post, Outside); }      \
  ACTION(function, PROTECTION_VIOLATION, NO_SUBTYPE) { return On(w, post, WithForeign); }
#define REQUEST_ACTIONS(function, post)                           \
  ACTION(function, INVALID_STATE, INVALID_STATE_EP_UNCONNECTED) { \
    return On(w, post, nullptr, false);                           \
  }
POST_ACTIONS(dat_ep_post_send, Send, INVALID_ARG5)
REQUEST_ACTIONS(dat_ep_post_send, Send)
ACTION(dat_ep_post_send, LENGTH_ERROR, NO_SUBTYPE) { return On(w, Send, TooLong); }
ACTION(dat_ep_post_send, INSUFFICIENT_RESOURCES, RESOURCE_TEP) { return Overfill(w, Send); }
POST_ACTIONS(dat_ep_post_send_with_invalidate, Invalidate, INVALID_ARG5)
REQUEST_ACTIONS(dat_ep_post_send_with_invalidate, Invalidate)
ACTION(dat_ep_post_send_with_invalidate, LENGTH_ERROR, NO_SUBTYPE) {
  return On(w, Invalidate, TooLong);
}
ACTION(dat_ep_post_send_with_invalidate, INSUFFICIENT_RESOURCES, RESOURCE_TEP) {
  return Overfill(w, Invalidate);
}
ACTION(dat_ep_post_send_with_invalidate, INVALID_PARAMETER, INVALID_ARG6) {
  return dat_ep_post_send_with_invalidate(
      w.ep(), 0, nullptr, Cookie(1), DAT_COMPLETION_DEFAULT_FLAG, static_cast<DAT_BOOLEAN>(7), 0);
}
POST_ACTIONS(dat_ep_post_recv, Recv, INVALID_ARG5)
ACTION(dat_ep_post_recv, INSUFFICIENT_RESOURCES, RESOURCE_TEP) { return Overfill(w, Recv); }
ACTION(dat_ep_post_recv, PRIVILEGES_VIOLATION, NO_SUBTYPE) { return On(w, Recv, WithReadOnly); }
ACTION(dat_ep_post_recv, INVALID_STATE, INVALID_STATE_SRQ_IN_USE) {
  PostArguments p = Good(w);
  p.ep = w.SrqEp();
  return Recv(p);
}
POST_ACTIONS(dat_ep_post_rdma_read, Read, INVALID_ARG6)
REQUEST_ACTIONS(dat_ep_post_rdma_read, Read)
ACTION(dat_ep_post_rdma_read, INVALID_PARAMETER, INVALID_ARG5) { return On(w, Read, NullRemote); }
ACTION(dat_ep_post_rdma_read, PRIVILEGES_VIOLATION, NO_SUBTYPE) {
  return On(w, Read, WithReadOnly);
}
ACTION(dat_ep_post_rdma_read, LENGTH_ERROR, NO_SUBTYPE) {
  EXPECT_RETURN(On(w, Read, TooLong), Error(DAT_LENGTH_ERROR));
  return On(w, Read, LongRemote, false);
}
ACTION(dat_ep_post_rdma_read, INSUFFICIENT_RESOURCES, RESOURCE_TEP) {
  w.Connected();
  PostArguments first = Good(w);
  EXPECT_OK(Send(first));
  return w.FirstFailure([&w] {
    PostArguments p = Good(w);
    return Read(p);
  });
}
POST_ACTIONS(dat_ep_post_rdma_write, Write, INVALID_ARG6)
REQUEST_ACTIONS(dat_ep_post_rdma_write, Write)
ACTION(dat_ep_post_rdma_write, INVALID_PARAMETER, INVALID_ARG5) { return On(w, Write, NullRemote); }
ACTION(dat_ep_post_rdma_write, LENGTH_ERROR, NO_SUBTYPE) {
  EXPECT_RETURN(On(w, Write, TooLong), Error(DAT_LENGTH_ERROR));
  return On(w, Write, ShortRemote, false);
}
ACTION(dat_ep_post_rdma_write, INSUFFICIENT_RESOURCES, RESOURCE_TEP) {
  w.Connected();
  PostArguments first = Good(w);
  EXPECT_OK(Send(first));
  return w.FirstFailure([&w] {
    PostArguments p = Good(w);
    return Write(p);
  });
}

ACTION(dat_ep_post_rdma_read_to_rmr, SUCCESS, NO_SUBTYPE) {
  w.Connected();
  PostArguments p = Good(w);
  p.iov[0].lmr_context = Window(w);
  const DAT_RETURN ret = ReadToRmr(p);
  w.a().ExpectDto(w.a().request_evd, w.ep(), 1);
  return ret;
}
ACTION(dat_ep_post_rdma_read_to_rmr, INVALID_HANDLE, INVALID_HANDLE_EP) {
  return EachBadEp(w, ReadToRmr);
}
ACTION(dat_ep_post_rdma_read_to_rmr, INVALID_PARAMETER, INVALID_ARG2) {
  return On(w, ReadToRmr, NullIov);
}
ACTION(dat_ep_post_rdma_read_to_rmr, INVALID_PARAMETER, INVALID_ARG4) {
  return On(w, ReadToRmr, NullRemote);
}
ACTION(dat_ep_post_rdma_read_to_rmr, INVALID_PARAMETER, INVALID_ARG5) {
  return On(w, ReadToRmr, OddFlags);
}
REQUEST_ACTIONS(dat_ep_post_rdma_read_to_rmr, ReadToRmr)
ACTION(dat_ep_post_rdma_read_to_rmr, PROTECTION_VIOLATION, NO_SUBTYPE) {
  w.Connected();
  PostArguments p = Good(w);
  p.iov[0].lmr_context = Window(w) ^ 0xff;  // a context that no bind gave
  const DAT_RETURN ret = ReadToRmr(p);
  if (ret != DAT_SUCCESS) return ret;
  // The check may also wait until the work is done (semantics 10.1).
  w.a().ExpectDto(w.a().request_evd, w.ep(), 1, DAT_DTO_ERR_LOCAL_PROTECTION);
  return Error(DAT_PROTECTION_VIOLATION);
}
ACTION(dat_ep_post_rdma_read_to_rmr, LENGTH_ERROR, NO_SUBTYPE) {
  w.Connected();
  PostArguments p = Good(w);
  p.iov[0].lmr_context = Window(w);
  p.remote.segment_length = 65;
  return ReadToRmr(p);
}

ACTION(dat_extension_op, SUCCESS, NO_SUBTYPE) {
  w.Connected();
  PostArguments p = Good(w);
  EXPECT_OK(PostRecv(w.b().ep, {}, 9));
  return dat_ib_post_rdma_write_immed(w.ep(), 1, p.iov, Cookie(1), &p.remote, 7,
                                      DAT_COMPLETION_DEFAULT_FLAG);
}
ACTION(dat_extension_op, NOT_IMPLEMENTED, NO_SUBTYPE) {
  EXPECT_RETURN(
      dat_extension_op(w.ep(), static_cast<DAT_EXTENDED_OP>(DAT_IB_COLLECTIVE_BARRIER_OP)),
      Error(DAT_NOT_IMPLEMENTED));
  return dat_extension_op(w.ep(), static_cast<DAT_EXTENDED_OP>(0x123));
}
ACTION(dat_extension_op, INVALID_HANDLE, INVALID_HANDLE1) {
  const auto unknown = static_cast<DAT_EXTENDED_OP>(0x123);
  DAT_PZ_HANDLE stale = DAT_HANDLE_NULL;
  EXPECT_OK(dat_pz_create(w.a().ia, &stale));
  EXPECT_OK(dat_pz_free(stale));
  EXPECT_RETURN(dat_extension_op(stale, unknown), BadHandle(DAT_INVALID_HANDLE1));
  DAT_UINT64 value = 0;
  EXPECT_RETURN(dat_query_counters(stale, 0, &value, 0), BadHandle(DAT_INVALID_HANDLE1));
  EXPECT_RETURN(dat_query_counters(w.a().pz, 0, &value, 0), BadHandle(DAT_INVALID_HANDLE1));
  EXPECT_RETURN(dat_print_counters(DAT_HANDLE_NULL, 0, 0), BadHandle(DAT_INVALID_HANDLE1));
  return dat_extension_op(DAT_HANDLE_NULL, unknown);
}
ACTION(dat_extension_op, INVALID_HANDLE, INVALID_HANDLE_IA) {
  EXPECT_RETURN(dat_ib_stop_counter(w.ep(), DCNT_IA_CM), BadHandle(DAT_INVALID_HANDLE_IA));
  return dat_ib_start_counter(w.a().pz, DCNT_IA_CM);
}
ACTION(dat_extension_op, INVALID_PARAMETER, INVALID_ARG2) {
  DAT_UINT64 value = 0;
  EXPECT_RETURN(dat_query_counters(w.a().ia, DCNT_IA_ALL_COUNTERS + 1, &value, 0), BadArgument(2));
  EXPECT_RETURN(dat_print_counters(w.a().recv_evd, -1, 0), BadArgument(2));
  EXPECT_RETURN(dat_ib_start_counter(w.a().ia, 3), BadArgument(2));
  return dat_query_counters(w.ep(), DCNT_EP_ALL_COUNTERS + 1, &value, 0);
}
ACTION(dat_extension_op, INVALID_PARAMETER, INVALID_ARG3) {
  return dat_query_counters(w.ep(), DCNT_EP_CONNECT, nullptr, 0);
}
ACTION(dat_extension_op, INVALID_HANDLE, INVALID_HANDLE_EP) {
  PostArguments p = Good(w);
  return dat_ib_post_rdma_write_immed(w.a().pz, 1, p.iov, Cookie(1), &p.remote, 7,
                                      DAT_COMPLETION_DEFAULT_FLAG);
}
ACTION(dat_extension_op, INVALID_PARAMETER, INVALID_ARG5) {
  PostArguments p = Good(w);
  EXPECT_RETURN(
      dat_ib_post_fetch_and_add(w.ep(), 1, p.iov, Cookie(1), nullptr, DAT_COMPLETION_DEFAULT_FLAG),
      BadArgument(5));
  return dat_ib_post_rdma_write_immed(w.ep(), 1, p.iov, Cookie(1), nullptr, 7,
                                      DAT_COMPLETION_DEFAULT_FLAG);
}
ACTION(dat_extension_op, INVALID_STATE, INVALID_STATE_EP_UNCONNECTED) {
  PostArguments p = Good(w);
  return dat_ib_post_rdma_write_immed(w.ep(), 1, p.iov, Cookie(1), &p.remote, 7,
                                      DAT_COMPLETION_DEFAULT_FLAG);
}
ACTION(dat_extension_op, LENGTH_ERROR, NO_SUBTYPE) {
  w.Connected();
  PostArguments p = Good(w);
  p.iov[0].segment_length = 7;
  return dat_ib_post_cmp_and_swap(w.ep(), 1, 2, p.iov, Cookie(1), &p.remote,
                                  DAT_COMPLETION_DEFAULT_FLAG);
}

}  // namespace softdat::conformance
