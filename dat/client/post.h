// SPDX-License-Identifier: BSD-3-Clause
// Posts transfers: receives, sends, RDMA, and those of the InfiniBand extension.
#ifndef SOFTDAT_DAT_CLIENT_POST_H_
#define SOFTDAT_DAT_CLIENT_POST_H_

#include <netinet/in.h>  // needed by OFA's dat_ib_extensions.h

#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "dat/client/result.h"
#include "dat2/dat_ib_extensions.h"
#include "dat2/udat.h"

namespace softdat::client {

// The local segments of one post: none ({}), one, or several. It only refers to them, so it must
// not outlive the call that takes it.
class Segments {
 public:
  Segments(const DAT_LMR_TRIPLET& one) : data_(&one), count_(1) {}
  Segments(std::initializer_list<DAT_LMR_TRIPLET> list) : Segments(list.begin(), list.size()) {}
  Segments(const DAT_LMR_TRIPLET* data, size_t count)
      : data_(data), count_(static_cast<DAT_COUNT>(count)) {}

  DAT_COUNT count() const { return count_; }
  // The calls copy the triplets and never write them, although the type of their argument allows
  // it.
  DAT_LMR_TRIPLET* data() const { return const_cast<DAT_LMR_TRIPLET*>(data_); }

 private:
  const DAT_LMR_TRIPLET* data_;
  DAT_COUNT count_;
};

inline DAT_DTO_COOKIE Cookie(uint64_t value) {
  DAT_DTO_COOKIE cookie{};
  cookie.as_64 = value;
  return cookie;
}

// Each is one DAT call, fails like that call, and does not block. The memory must not change until
// the completion, which returns `cookie`. `flags`: DAT_COMPLETION_*_FLAG, or-ed. (semantics 10.1,
// 10.2)

inline Result PostReceive(DAT_EP_HANDLE ep, const Segments& local, uint64_t cookie,
                          DAT_COMPLETION_FLAGS flags = DAT_COMPLETION_DEFAULT_FLAG) {
  return {"dat_ep_post_recv",
          dat_ep_post_recv(ep, local.count(), local.data(), Cookie(cookie), flags)};
}

// Posts to a shared receive queue.
inline Result PostSharedReceive(DAT_SRQ_HANDLE srq, const Segments& local, uint64_t cookie) {
  return {"dat_srq_post_recv", dat_srq_post_recv(srq, local.count(), local.data(), Cookie(cookie))};
}

inline Result PostSend(DAT_EP_HANDLE ep, const Segments& local, uint64_t cookie,
                       DAT_COMPLETION_FLAGS flags = DAT_COMPLETION_DEFAULT_FLAG) {
  return {"dat_ep_post_send",
          dat_ep_post_send(ep, local.count(), local.data(), Cookie(cookie), flags)};
}

inline Result PostWrite(DAT_EP_HANDLE ep, const Segments& local, const DAT_RMR_TRIPLET& remote,
                        uint64_t cookie, DAT_COMPLETION_FLAGS flags = DAT_COMPLETION_DEFAULT_FLAG) {
  return {"dat_ep_post_rdma_write",
          dat_ep_post_rdma_write(ep, local.count(), local.data(), Cookie(cookie), &remote, flags)};
}

inline Result PostRead(DAT_EP_HANDLE ep, const Segments& local, const DAT_RMR_TRIPLET& remote,
                       uint64_t cookie, DAT_COMPLETION_FLAGS flags = DAT_COMPLETION_DEFAULT_FLAG) {
  return {"dat_ep_post_rdma_read",
          dat_ep_post_rdma_read(ep, local.count(), local.data(), Cookie(cookie), &remote, flags)};
}

// These complete as DAT_IB_DTO_EVENT. DAT_NOT_IMPLEMENTED if the provider has no extension.
// (semantics 15.2)

// `immediate` takes a receive of the peer once the data are in the peer's memory.
inline Result PostWriteImmediate(DAT_EP_HANDLE ep, const Segments& local, DAT_RMR_TRIPLET remote,
                                 uint32_t immediate, uint64_t cookie,
                                 DAT_COMPLETION_FLAGS flags = DAT_COMPLETION_DEFAULT_FLAG) {
  return {"dat_ib_post_rdma_write_immed",
          dat_ib_post_rdma_write_immed(ep, local.count(), local.data(), Cookie(cookie), &remote,
                                       immediate, flags)};
}

// An atomic on 8 bytes. The old value arrives in `local`.
inline Result PostFetchAndAdd(DAT_EP_HANDLE ep, const Segments& local, DAT_RMR_TRIPLET remote,
                              uint64_t add, uint64_t cookie,
                              DAT_COMPLETION_FLAGS flags = DAT_COMPLETION_DEFAULT_FLAG) {
  return {"dat_ib_post_fetch_and_add",
          dat_ib_post_fetch_and_add(ep, add, local.data(), Cookie(cookie), &remote, flags)};
}

// Stores `swap` if the old value equals `compare`.
inline Result PostCompareAndSwap(DAT_EP_HANDLE ep, const Segments& local, DAT_RMR_TRIPLET remote,
                                 uint64_t compare, uint64_t swap, uint64_t cookie,
                                 DAT_COMPLETION_FLAGS flags = DAT_COMPLETION_DEFAULT_FLAG) {
  return {"dat_ib_post_cmp_and_swap", dat_ib_post_cmp_and_swap(ep, compare, swap, local.data(),
                                                               Cookie(cookie), &remote, flags)};
}

}  // namespace softdat::client

#endif  // SOFTDAT_DAT_CLIENT_POST_H_
