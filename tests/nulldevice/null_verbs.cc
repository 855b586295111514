// SPDX-License-Identifier: BSD-3-Clause
// A test double of libibverbs and (null_cm.cc) librdmacm, which is loaded in front of both. It is
// one device, "null0", on every interface. Its queues complete at once and move nothing, so the
// rest of an operation is the cost of the library above it. Connections are those of an active side
// without a peer: every address accepts.
#include "tests/nulldevice/null_verbs.h"

#include <errno.h>
#include <infiniband/verbs.h>
#include <netinet/in.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <utility>

#include "tests/nulldevice/null_parts.h"

// The headers have inline wrappers under these names.
#undef ibv_reg_mr
#undef ibv_reg_mr_iova
#undef ibv_query_port

namespace {

using softdat::nulldevice::Context;
using softdat::nulldevice::Get;
using softdat::nulldevice::Locked;
using softdat::nulldevice::NullChannel;
using softdat::nulldevice::NullPair;
using softdat::nulldevice::NullQueue;
using softdat::nulldevice::NullRegion;
using softdat::nulldevice::TheNullDevice;

constexpr uint64_t kGuid = 0x0200000000000001;
constexpr int kMost = 1 << 16;

std::mutex g_mutex;  // protects the next five
std::vector<NullRegion> g_regions;
uint32_t g_pages = 0;
std::deque<ibv_async_event> g_events;  // raised and not read yet
ibv_srq* g_shared_queue = nullptr;     // the newest one
NullPair* g_pair = nullptr;            // the newest one

// What an iWARP adapter decides about the sink of a read.
ibv_wc_status JudgeSink(const ibv_send_wr& wr) {
  constexpr unsigned kNeeded = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
  const std::lock_guard<std::mutex> lock(g_mutex);
  for (int i = 0; i < wr.num_sge; ++i) {
    const ibv_sge& sge = wr.sg_list[i];
    bool good = false;
    for (const NullRegion& region : g_regions) {
      const uint64_t offset = sge.addr - reinterpret_cast<uintptr_t>(region.address);
      good |= region.key == sge.lkey && (region.access & kNeeded) == kNeeded &&
              offset <= region.length && sge.length <= region.length - offset;
    }
    if (!good) return IBV_WC_LOC_PROT_ERR;
  }
  return IBV_WC_SUCCESS;
}

template <bool kIwarp>
void Complete(NullPair* pair, const ibv_send_wr& wr) {
  auto* queue = reinterpret_cast<NullQueue*>(pair->base.send_cq);
  const Locked lock(queue);
  ibv_wc& wc = queue->ring[queue->tail++ & queue->mask];
  wc.wr_id = wr.wr_id;
  wc.status = IBV_WC_SUCCESS;
  wc.opcode = wr.opcode == IBV_WR_SEND ? IBV_WC_SEND : IBV_WC_RDMA_WRITE;
  if (kIwarp && wr.opcode == IBV_WR_RDMA_READ) {
    wc.status = JudgeSink(wr);
    wc.opcode = IBV_WC_RDMA_READ;
  }
  wc.byte_len = 0;
  wc.qp_num = pair->base.qp_num;
  wc.wc_flags = 0;
  if (queue->armed && queue->base.channel != nullptr) {
    queue->armed = false;
    reinterpret_cast<NullChannel*>(queue->base.channel)->pipe.Put(queue);
  }
}

int PostSend(ibv_qp* qp, ibv_send_wr* wr, ibv_send_wr**) {
  auto* pair = reinterpret_cast<NullPair*>(qp);
  for (; wr != nullptr; wr = wr->next) {
    if (pair->signal_all || (wr->send_flags & IBV_SEND_SIGNALED) != 0) Complete<false>(pair, *wr);
  }
  return 0;
}

int PostSendIwarp(ibv_qp* qp, ibv_send_wr* first, ibv_send_wr** bad) {
  auto* pair = reinterpret_cast<NullPair*>(qp);
  for (ibv_send_wr* wr = first; wr != nullptr; wr = wr->next) {
    if (wr->opcode == IBV_WR_RDMA_READ && wr->num_sge > 1) {
      *bad = wr;
      return EINVAL;
    }
    if (pair->signal_all || (wr->send_flags & IBV_SEND_SIGNALED) != 0) Complete<true>(pair, *wr);
  }
  return 0;
}

// The sizes with which soft-iWARP lays out its queues, each with a power of two of entries.
constexpr uint32_t kPage = 4096, kSendEntry = 120, kReceiveEntry = 112, kCompletionEntry = 48;

uint32_t PagesOf(uint32_t entries, uint32_t entry_size) {
  if (entries == 0) return 0;
  uint32_t size = 1;
  while (size < entries) size *= 2;
  return (size * entry_size + kPage - 1) / kPage;
}

bool TakePages(uint32_t pages) {
  const std::lock_guard<std::mutex> lock(g_mutex);
  const uint32_t limit = TheNullDevice().queue_pages;
  if (limit != 0 && g_pages + pages > limit) {
    if (const int error = TheNullDevice().no_pages_error; error != 0) errno = error;
    return false;
  }
  g_pages += pages;
  return true;
}

void GivePages(uint32_t pages) {
  const std::lock_guard<std::mutex> lock(g_mutex);
  g_pages -= pages;
}

// Nothing ever arrives.
int PostRecv(ibv_qp*, ibv_recv_wr*, ibv_recv_wr**) { return 0; }
int PostSharedRecv(ibv_srq*, ibv_recv_wr*, ibv_recv_wr**) { return 0; }

int PollCq(ibv_cq* cq, int most, ibv_wc* out) {
  auto* queue = reinterpret_cast<NullQueue*>(cq);
  const Locked lock(queue);
  int count = 0;
  while (count < most && queue->head != queue->tail)
    out[count++] = queue->ring[queue->head++ & queue->mask];
  return count;
}

int RequestNotify(ibv_cq* cq, int solicited_only) {
  auto* queue = reinterpret_cast<NullQueue*>(cq);
  const Locked lock(queue);
  // A request for all completions stays one if solicited ones are asked for next (IBTA vol. 1
  // §11.4.2.2).
  if (solicited_only == 0) queue->armed = true;
  return 0;
}

uint32_t NextNumber() {
  static std::atomic<uint32_t> last{0x100};
  return ++last;
}

ibv_mw* AllocMw(ibv_pd* pd, ibv_mw_type type) {
  if (!TheNullDevice().windows) {
    errno = ENOTSUP;
    return nullptr;
  }
  auto* mw = new ibv_mw{};
  mw->context = pd->context;
  mw->pd = pd;
  mw->rkey = NextNumber() << 8;
  mw->type = type;
  return mw;
}

int DeallocMw(ibv_mw* mw) {
  delete mw;
  return 0;
}

// Chooses the key by the rule of ibv_inc_rkey.
int BindMw(ibv_qp*, ibv_mw* mw, ibv_mw_bind*) {
  mw->rkey = ibv_inc_rkey(mw->rkey);
  return 0;
}

ibv_device g_device;
ibv_context g_context;

ibv_context* MakeContext() {
  static ibv_context* const context = [] {
    g_device.node_type = IBV_NODE_CA;
    g_device.transport_type = IBV_TRANSPORT_IB;
    std::strcpy(g_device.name, "null0");
    std::strcpy(g_device.dev_name, "null0");
    g_context.device = &g_device;
    g_context.ops.post_send = PostSend;
    g_context.ops.post_recv = PostRecv;
    g_context.ops.poll_cq = PollCq;
    g_context.ops.req_notify_cq = RequestNotify;
    g_context.ops.alloc_mw = AllocMw;
    g_context.ops.dealloc_mw = DeallocMw;
    g_context.ops.bind_mw = BindMw;
    g_context.async_fd = eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE);  // counts g_events
    g_context.ops.post_srq_recv = PostSharedRecv;
    g_context.cmd_fd = -1;
    g_context.num_comp_vectors = 1;
    return &g_context;
  }();
  if (TheNullDevice().iwarp) {
    g_device.node_type = IBV_NODE_RNIC;
    g_device.transport_type = IBV_TRANSPORT_IWARP;
    g_context.ops.post_send = PostSendIwarp;
  }
  if (TheNullDevice().holds) {
    g_context.ops.post_send = softdat::nulldevice::PostSendHeld;
    g_context.ops.post_recv = softdat::nulldevice::PostRecvHeld;
  }
  return context;
}

void Raise(const ibv_async_event& event) {
  {
    const std::lock_guard<std::mutex> lock(g_mutex);
    g_events.push_back(event);
  }
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t n = write(Context()->async_fd, &one, sizeof one);
}

}  // namespace

namespace softdat::nulldevice {

NullDevice& TheNullDevice() {
  static NullDevice device;
  return device;
}

ibv_context* Context() { return MakeContext(); }

NullPair* LastPair() {
  const std::lock_guard<std::mutex> lock(g_mutex);
  return g_pair;
}

void PushCompletion(ibv_cq* cq, const ibv_wc& wc) {
  auto* queue = reinterpret_cast<NullQueue*>(cq);
  const Locked lock(queue);
  queue->ring[queue->tail++ & queue->mask] = wc;
  if (!queue->armed || cq->channel == nullptr) return;
  queue->armed = false;
  reinterpret_cast<NullChannel*>(cq->channel)->pipe.Put(queue);
}

std::vector<NullRegion> NullRegions() {
  const std::lock_guard<std::mutex> lock(g_mutex);
  return g_regions;
}

uint32_t QueuePagesInUse() {
  const std::lock_guard<std::mutex> lock(g_mutex);
  return g_pages;
}

void RaiseNullPortError(int port) {
  ibv_async_event event{};
  event.event_type = IBV_EVENT_PORT_ERR;
  event.element.port_num = port;
  Raise(event);
}

void RaiseNullSharedQueueError() {
  ibv_async_event event{};
  event.event_type = IBV_EVENT_SRQ_ERR;
  {
    const std::lock_guard<std::mutex> lock(g_mutex);
    event.element.srq = g_shared_queue;
  }
  Raise(event);
}

void RaiseNullPairError() {
  ibv_async_event event{};
  event.event_type = IBV_EVENT_QP_FATAL;
  {
    const std::lock_guard<std::mutex> lock(g_mutex);
    event.element.qp = &g_pair->base;
  }
  Raise(event);
}

}  // namespace softdat::nulldevice

extern "C" {

// ---- devices ----

ibv_device** ibv_get_device_list(int* count) {
  const softdat::nulldevice::LibraryLock library;
  if (count != nullptr) *count = 1;
  auto** list = new ibv_device* [2] {};
  list[0] = Context()->device;
  return list;
}
void ibv_free_device_list(ibv_device** list) { delete[] list; }
const char* ibv_get_device_name(ibv_device* device) { return device->name; }
__be64 ibv_get_device_guid(ibv_device*) { return htobe64(kGuid); }
ibv_context* ibv_open_device(ibv_device*) { return Context(); }
int ibv_close_device(ibv_context*) { return 0; }
int ibv_fork_init(void) { return 0; }

int ibv_query_device(ibv_context*, ibv_device_attr* a) {
  *a = ibv_device_attr{};
  std::strcpy(a->fw_ver, "0");
  a->node_guid = a->sys_image_guid = htobe64(kGuid);
  a->max_mr_size = UINT64_MAX;
  a->max_qp = a->max_cq = a->max_mr = a->max_pd = a->max_srq = kMost;
  a->max_qp_wr = a->max_srq_wr = kMost / 4;
  a->max_cqe = kMost;
  a->max_sge = a->max_sge_rd = a->max_srq_sge = 16;
  a->vendor_id = TheNullDevice().vendor_id;
  if (TheNullDevice().iwarp) a->max_sge_rd = 1;
  a->max_qp_rd_atom = a->max_qp_init_rd_atom = 16;
  a->max_res_rd_atom = kMost;
  a->atomic_cap = IBV_ATOMIC_HCA;
  a->phys_port_cnt = 1;
  a->max_pkeys = 1;
  return 0;
}

int ibv_query_port(ibv_context*, uint8_t, _compat_ibv_port_attr* compat) {
  auto* a = reinterpret_cast<ibv_port_attr*>(compat);
  a->state = IBV_PORT_ACTIVE;
  a->max_mtu = a->active_mtu = IBV_MTU_4096;
  a->gid_tbl_len = 2;
  a->pkey_tbl_len = 1;
  a->max_msg_sz = 1u << 31;
  a->lid = 1;
  a->link_layer = IBV_LINK_LAYER_ETHERNET;
  return 0;
}

int ibv_query_gid(ibv_context*, uint8_t, int, ibv_gid* gid) {
  *gid = ibv_gid{};
  gid->global.subnet_prefix = htobe64(0xfe80000000000000);
  gid->global.interface_id = htobe64(kGuid);
  return 0;
}
int ibv_query_pkey(ibv_context*, uint8_t, int, __be16* pkey) {
  *pkey = htobe16(0xffff);
  return 0;
}
int ibv_get_async_event(ibv_context* context, ibv_async_event* event) {
  uint64_t count = 0;
  // This blocks if nothing has happened, or fails with EAGAIN if the descriptor does not block.
  if (read(context->async_fd, &count, sizeof count) != sizeof count) return -1;
  const std::lock_guard<std::mutex> lock(g_mutex);
  *event = g_events.front();
  g_events.pop_front();
  return 0;
}
void ibv_ack_async_event(ibv_async_event*) {}

// ---- objects ----

ibv_pd* ibv_alloc_pd(ibv_context* context) {
  auto* pd = new ibv_pd{};
  pd->context = context;
  return pd;
}
int ibv_dealloc_pd(ibv_pd* pd) {
  delete pd;
  return 0;
}
ibv_mr* ibv_reg_mr_iova2(ibv_pd* pd, void* address, size_t length, uint64_t, unsigned access) {
  auto* mr = new ibv_mr{};
  mr->context = pd->context;
  mr->pd = pd;
  mr->addr = address;
  mr->length = length;
  mr->lkey = mr->rkey = NextNumber() << 8;
  const std::lock_guard<std::mutex> lock(g_mutex);
  g_regions.push_back({mr->lkey, address, length, access});
  return mr;
}
ibv_mr* ibv_reg_mr(ibv_pd* pd, void* address, size_t length, int access) {
  return ibv_reg_mr_iova2(pd, address, length, 0, static_cast<unsigned>(access));
}
ibv_mr* ibv_reg_mr_iova(ibv_pd* pd, void* address, size_t length, uint64_t iova, int access) {
  return ibv_reg_mr_iova2(pd, address, length, iova, static_cast<unsigned>(access));
}
int ibv_dereg_mr(ibv_mr* mr) {
  {
    const std::lock_guard<std::mutex> lock(g_mutex);
    std::erase_if(g_regions, [mr](const NullRegion& region) { return region.key == mr->lkey; });
  }
  delete mr;
  return 0;
}

ibv_comp_channel* ibv_create_comp_channel(ibv_context* context) {
  auto* channel = new NullChannel{};
  if (!channel->pipe.Open()) return nullptr;
  channel->base.context = context;
  channel->base.fd = channel->pipe.ends[0];
  return &channel->base;
}
int ibv_destroy_comp_channel(ibv_comp_channel* base) {
  auto* channel = reinterpret_cast<NullChannel*>(base);
  channel->pipe.Close();
  delete channel;
  return 0;
}
int ibv_get_cq_event(ibv_comp_channel* channel, ibv_cq** cq, void** cq_context) {
  void* item = nullptr;
  if (!Get(channel->fd, &item)) return -1;
  *cq = static_cast<ibv_cq*>(item);
  *cq_context = (*cq)->cq_context;
  return 0;
}
void ibv_ack_cq_events(ibv_cq*, unsigned) {}

ibv_cq* ibv_create_cq(ibv_context* context, int entries, void* cq_context,
                      ibv_comp_channel* channel, int) {
  const uint32_t pages = PagesOf(static_cast<uint32_t>(entries), kCompletionEntry);
  if (!TakePages(pages)) return nullptr;
  auto* queue = new NullQueue{};
  queue->pages = pages;
  uint32_t size = 1;
  while (size < static_cast<uint32_t>(entries)) size *= 2;
  queue->ring = std::make_unique<ibv_wc[]>(size);
  queue->mask = size - 1;
  queue->base.context = context;
  queue->base.cq_context = cq_context;
  queue->base.channel = channel;
  queue->base.cqe = static_cast<int>(size);
  return &queue->base;
}
int ibv_resize_cq(ibv_cq* cq, int entries) {
  if (TheNullDevice().iwarp) return EOPNOTSUPP;  // as soft-iWARP
  return entries <= cq->cqe ? 0 : ENOMEM;
}
int ibv_destroy_cq(ibv_cq* cq) {
  GivePages(reinterpret_cast<NullQueue*>(cq)->pages);
  delete reinterpret_cast<NullQueue*>(cq);
  return 0;
}

ibv_qp* ibv_create_qp(ibv_pd* pd, ibv_qp_init_attr* init) {
  const uint32_t pages =
      PagesOf(init->cap.max_send_wr, kSendEntry) + PagesOf(init->cap.max_recv_wr, kReceiveEntry);
  if (!TakePages(pages)) return nullptr;
  auto* pair = new NullPair{};
  pair->pages = pages;
  pair->base.context = pd->context;
  pair->base.qp_context = init->qp_context;
  pair->base.pd = pd;
  pair->base.send_cq = init->send_cq;
  pair->base.recv_cq = init->recv_cq;
  pair->base.srq = init->srq;
  pair->base.qp_num = NextNumber();
  pair->base.qp_type = init->qp_type;
  pair->signal_all = init->sq_sig_all != 0;
  const std::lock_guard<std::mutex> lock(g_mutex);
  g_pair = pair;
  return &pair->base;
}
int ibv_modify_qp(ibv_qp* qp, ibv_qp_attr* attr, int mask) {
  if ((mask & IBV_QP_STATE) == 0) return 0;
  qp->state = attr->qp_state;
  if (TheNullDevice().holds && qp->state == IBV_QPS_ERR)
    softdat::nulldevice::EnterErrorHeld(reinterpret_cast<NullPair*>(qp));
  return 0;
}
int ibv_query_qp(ibv_qp* qp, ibv_qp_attr* attr, int, ibv_qp_init_attr* init) {
  *attr = ibv_qp_attr{};
  *init = ibv_qp_init_attr{};
  attr->qp_state = qp->state;
  return 0;
}
int ibv_destroy_qp(ibv_qp* qp) {
  auto* pair = reinterpret_cast<NullPair*>(qp);
  GivePages(pair->pages);
  {
    const std::lock_guard<std::mutex> lock(g_mutex);
    if (g_pair == pair) g_pair = nullptr;
  }
  delete pair;
  return 0;
}
ibv_srq* ibv_create_srq(ibv_pd* pd, ibv_srq_init_attr*) {
  auto* srq = new ibv_srq{};
  srq->context = pd->context;
  srq->pd = pd;
  const std::lock_guard<std::mutex> lock(g_mutex);
  return g_shared_queue = srq;
}
int ibv_modify_srq(ibv_srq*, ibv_srq_attr*, int) { return ENOTSUP; }
int ibv_destroy_srq(ibv_srq* srq) {
  {
    const std::lock_guard<std::mutex> lock(g_mutex);
    if (g_shared_queue == srq) g_shared_queue = nullptr;
  }
  delete srq;
  return 0;
}

}  // extern "C"
