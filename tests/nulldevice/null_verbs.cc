// SPDX-License-Identifier: BSD-3-Clause
// A test double of libibverbs and librdmacm, loaded in front of both: one device, "null0", on every
// interface, whose queues complete at once and move nothing. What is left of an operation is what
// the library above it costs. Connections are those of an active side without a peer: whatever
// address is asked for accepts.
#include <errno.h>
#include <infiniband/verbs.h>
#include <netinet/in.h>
#include <rdma/rdma_cma.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <iterator>
#include <memory>

// The headers have inline wrappers under these names.
#undef ibv_reg_mr
#undef ibv_reg_mr_iova
#undef ibv_query_port

namespace {

constexpr uint64_t kGuid = 0x0200000000000001;
constexpr int kMost = 1 << 16;

// What the library asks for in bursts comes back through a pipe of pointers, so that its
// descriptor can be polled.
struct Pipe {
  int ends[2] = {-1, -1};
  bool Open() { return pipe(ends) == 0; }
  void Close() {
    close(ends[0]);
    close(ends[1]);
  }
  void Put(void* item) { [[maybe_unused]] const ssize_t n = write(ends[1], &item, sizeof item); }
};

bool Get(int fd, void** item) { return read(fd, item, sizeof *item) == sizeof *item; }

struct NullChannel {
  ibv_comp_channel base;  // first: the library has a pointer to it
  Pipe pipe;
};

struct NullQueue {
  ibv_cq base;
  std::atomic_flag lock = ATOMIC_FLAG_INIT;  // guards the rest
  bool armed = false;  // for every completion; solicited ones and failures never come here
  uint32_t head = 0, tail = 0, mask = 0;
  std::unique_ptr<ibv_wc[]> ring;
};

struct NullPair {
  ibv_qp base;
  bool signal_all = false;
};

struct NullCmChannel {
  rdma_event_channel base;
  Pipe pipe;
};

class Locked {
 public:
  explicit Locked(NullQueue* queue) : queue_(queue) {
    while (queue_->lock.test_and_set(std::memory_order_acquire)) {
    }
  }
  ~Locked() { queue_->lock.clear(std::memory_order_release); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  NullQueue* const queue_;
};

void Complete(NullPair* pair, const ibv_send_wr& wr) {
  auto* queue = reinterpret_cast<NullQueue*>(pair->base.send_cq);
  const Locked lock(queue);
  ibv_wc& wc = queue->ring[queue->tail++ & queue->mask];
  wc.wr_id = wr.wr_id;
  wc.status = IBV_WC_SUCCESS;
  wc.opcode = wr.opcode == IBV_WR_SEND ? IBV_WC_SEND : IBV_WC_RDMA_WRITE;
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
    if (pair->signal_all || (wr->send_flags & IBV_SEND_SIGNALED) != 0) Complete(pair, *wr);
  }
  return 0;
}

// Nothing ever arrives.
int PostRecv(ibv_qp*, ibv_recv_wr*, ibv_recv_wr**) { return 0; }

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
  // A request for all stays one when solicited ones are asked for next (IBTA vol. 1 §11.4.2.2).
  if (solicited_only == 0) queue->armed = true;
  return 0;
}

ibv_mw* AllocMw(ibv_pd*, ibv_mw_type) {
  errno = ENOTSUP;
  return nullptr;
}

ibv_device g_device;
ibv_context g_context;

ibv_context* Context() {
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
    g_context.async_fd = eventfd(0, EFD_CLOEXEC);
    g_context.cmd_fd = -1;
    g_context.num_comp_vectors = 1;
    return &g_context;
  }();
  return context;
}

uint32_t NextNumber() {
  static std::atomic<uint32_t> last{0x100};
  return ++last;
}

void Tell(rdma_cm_id* id, rdma_cm_event_type type) {
  auto* event = new rdma_cm_event{};
  event->id = id;
  event->event = type;
  reinterpret_cast<NullCmChannel*>(id->channel)->pipe.Put(event);
}

void SetAddress(sockaddr* to, const sockaddr* from) {
  if (from == nullptr) return;
  std::memcpy(to, from, from->sa_family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in));
}

}  // namespace

extern "C" {

// ---- devices ----

ibv_device** ibv_get_device_list(int* count) {
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
  a->gid_tbl_len = a->pkey_tbl_len = 1;
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
int ibv_get_async_event(ibv_context* context, ibv_async_event*) {
  uint64_t count = 0;
  // Nothing ever happens: blocks, or fails with EAGAIN, as the descriptor is.
  [[maybe_unused]] const ssize_t n = read(context->async_fd, &count, sizeof count);
  return -1;
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
ibv_mr* ibv_reg_mr_iova2(ibv_pd* pd, void* address, size_t length, uint64_t, unsigned) {
  auto* mr = new ibv_mr{};
  mr->context = pd->context;
  mr->pd = pd;
  mr->addr = address;
  mr->length = length;
  mr->lkey = mr->rkey = NextNumber() << 8;
  return mr;
}
ibv_mr* ibv_reg_mr(ibv_pd* pd, void* address, size_t length, int access) {
  return ibv_reg_mr_iova2(pd, address, length, 0, static_cast<unsigned>(access));
}
ibv_mr* ibv_reg_mr_iova(ibv_pd* pd, void* address, size_t length, uint64_t iova, int access) {
  return ibv_reg_mr_iova2(pd, address, length, iova, static_cast<unsigned>(access));
}
int ibv_dereg_mr(ibv_mr* mr) {
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
  auto* queue = new NullQueue{};
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
int ibv_resize_cq(ibv_cq* cq, int entries) { return entries <= cq->cqe ? 0 : ENOMEM; }
int ibv_destroy_cq(ibv_cq* cq) {
  delete reinterpret_cast<NullQueue*>(cq);
  return 0;
}

ibv_qp* ibv_create_qp(ibv_pd* pd, ibv_qp_init_attr* init) {
  auto* pair = new NullPair{};
  pair->base.context = pd->context;
  pair->base.qp_context = init->qp_context;
  pair->base.pd = pd;
  pair->base.send_cq = init->send_cq;
  pair->base.recv_cq = init->recv_cq;
  pair->base.srq = init->srq;
  pair->base.qp_num = NextNumber();
  pair->base.qp_type = init->qp_type;
  pair->signal_all = init->sq_sig_all != 0;
  return &pair->base;
}
int ibv_modify_qp(ibv_qp* qp, ibv_qp_attr* attr, int mask) {
  if ((mask & IBV_QP_STATE) != 0) qp->state = attr->qp_state;
  return 0;
}
int ibv_query_qp(ibv_qp* qp, ibv_qp_attr* attr, int, ibv_qp_init_attr* init) {
  *attr = ibv_qp_attr{};
  *init = ibv_qp_init_attr{};
  attr->qp_state = qp->state;
  return 0;
}
int ibv_destroy_qp(ibv_qp* qp) {
  delete reinterpret_cast<NullPair*>(qp);
  return 0;
}
ibv_srq* ibv_create_srq(ibv_pd*, ibv_srq_init_attr*) {
  errno = ENOTSUP;
  return nullptr;
}
int ibv_modify_srq(ibv_srq*, ibv_srq_attr*, int) { return ENOTSUP; }
int ibv_destroy_srq(ibv_srq*) { return 0; }
ibv_ah* ibv_create_ah(ibv_pd*, ibv_ah_attr*) {
  errno = ENOTSUP;
  return nullptr;
}
int ibv_destroy_ah(ibv_ah*) { return 0; }

// ---- connections ----

rdma_event_channel* rdma_create_event_channel(void) {
  auto* channel = new NullCmChannel{};
  if (!channel->pipe.Open()) return nullptr;
  channel->base.fd = channel->pipe.ends[0];
  return &channel->base;
}
void rdma_destroy_event_channel(rdma_event_channel* base) {
  auto* channel = reinterpret_cast<NullCmChannel*>(base);
  channel->pipe.Close();
  delete channel;
}
int rdma_get_cm_event(rdma_event_channel* channel, rdma_cm_event** event) {
  void* item = nullptr;
  if (!Get(channel->fd, &item)) return -1;
  *event = static_cast<rdma_cm_event*>(item);
  return 0;
}
int rdma_ack_cm_event(rdma_cm_event* event) {
  delete event;
  return 0;
}
int rdma_create_id(rdma_event_channel* channel, rdma_cm_id** id, void* context,
                   rdma_port_space space) {
  auto* made = new rdma_cm_id{};
  made->channel = channel;
  made->context = context;
  made->ps = space;
  *id = made;
  return 0;
}
int rdma_destroy_id(rdma_cm_id* id) {
  delete id;
  return 0;
}
int rdma_set_option(rdma_cm_id*, int, int, void*, size_t) { return 0; }
int rdma_bind_addr(rdma_cm_id* id, sockaddr* address) {
  SetAddress(rdma_get_local_addr(id), address);
  id->verbs = Context();
  id->port_num = 1;
  return 0;
}
int rdma_listen(rdma_cm_id*, int) { return 0; }
int rdma_resolve_addr(rdma_cm_id* id, sockaddr* from, sockaddr* to, int) {
  SetAddress(rdma_get_local_addr(id), from);
  SetAddress(rdma_get_peer_addr(id), to);
  id->verbs = Context();
  id->port_num = 1;
  Tell(id, RDMA_CM_EVENT_ADDR_RESOLVED);
  return 0;
}
int rdma_resolve_route(rdma_cm_id* id, int) {
  Tell(id, RDMA_CM_EVENT_ROUTE_RESOLVED);
  return 0;
}
int rdma_create_qp(rdma_cm_id* id, ibv_pd* pd, ibv_qp_init_attr* init) {
  id->qp = ibv_create_qp(pd, init);
  id->pd = pd;
  return 0;
}
void rdma_destroy_qp(rdma_cm_id* id) {
  ibv_destroy_qp(id->qp);
  id->qp = nullptr;
}
int rdma_init_qp_attr(rdma_cm_id*, ibv_qp_attr* attr, int* mask) {
  attr->port_num = 1;
  *mask = IBV_QP_STATE;
  return 0;
}
int rdma_connect(rdma_cm_id* id, rdma_conn_param*) {
  Tell(id, id->qp != nullptr ? RDMA_CM_EVENT_ESTABLISHED : RDMA_CM_EVENT_CONNECT_RESPONSE);
  return 0;
}
int rdma_establish(rdma_cm_id*) { return 0; }
int rdma_accept(rdma_cm_id*, rdma_conn_param*) { return 0; }
int rdma_reject(rdma_cm_id*, const void*, uint8_t) { return 0; }
int rdma_notify(rdma_cm_id*, ibv_event_type) { return 0; }
int rdma_disconnect(rdma_cm_id* id) {
  Tell(id, RDMA_CM_EVENT_DISCONNECTED);
  return 0;
}
__be16 rdma_get_src_port(rdma_cm_id* id) { return id->route.addr.src_sin.sin_port; }
__be16 rdma_get_dst_port(rdma_cm_id* id) { return id->route.addr.dst_sin.sin_port; }
const char* rdma_event_str(rdma_cm_event_type) { return "event"; }

}  // extern "C"
