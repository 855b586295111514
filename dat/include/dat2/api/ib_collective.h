/* SPDX-License-Identifier: BSD-3-Clause */
/* dat2/api/ib_collective.h: offloaded collective operations of the InfiniBand extension. Included
 * by dat2/dat_ib_extensions.h. */
#ifndef SOFTDAT_DAT2_API_IB_COLLECTIVE_H_
#define SOFTDAT_DAT2_API_IB_COLLECTIVE_H_

#include <dat2/dat_ib_extensions.h>

SOFTDAT_BEGIN_DECLS

/* Names of provider attributes, one per operation. */
#define DAT_IB_COLL_SET_CLOCK "DAT_COLL_SET_CLOCK"
#define DAT_IB_COLL_READ_CLOCK "DAT_COLL_READ_CLOCK"
#define DAT_IB_COLL_BROADCAST "DAT_COLL_BROADCAST"
#define DAT_IB_COLL_BARRIER "DAT_COLL_BARRIER"
#define DAT_IB_COLL_SCATTER "DAT_COLL_SCATTER"
#define DAT_IB_COLL_SCATTERV "DAT_COLL_SCATTERV"
#define DAT_IB_COLL_GATHER "DAT_COLL_GATHER"
#define DAT_IB_COLL_GATHERV "DAT_COLL_GATHERV"
#define DAT_IB_COLL_ALLGATHER "DAT_COLL_ALLGATHER"
#define DAT_IB_COLL_ALLGATHERV "DAT_COLL_ALLGATHERV"
#define DAT_IB_COLL_ALLTOALL "DAT_COLL_ALLTOALL"
#define DAT_IB_COLL_ALLTOALLV "DAT_COLL_ALLTOALLV"
#define DAT_IB_COLL_REDUCE "DAT_COLL_REDUCE"
#define DAT_IB_COLL_ALLREDUCE "DAT_COLL_ALLREDUCE"
#define DAT_IB_COLL_REDUCE_SCATTER "DAT_COLL_REDUCE_SCATTER"
#define DAT_IB_COLL_SCAN "DAT_COLL_SCAN"

/* Types of elements that a reduction works on. */
typedef enum dat_ib_collective_data_type {
  DAT_IB_COLLECTIVE_TYPE_INT8 = 0x0,
  DAT_IB_COLLECTIVE_TYPE_UINT8 = 0x1,
  DAT_IB_COLLECTIVE_TYPE_INT16 = 0x2,
  DAT_IB_COLLECTIVE_TYPE_UINT16 = 0x3,
  DAT_IB_COLLECTIVE_TYPE_INT32 = 0x4,
  DAT_IB_COLLECTIVE_TYPE_UINT32 = 0x5,
  DAT_IB_COLLECTIVE_TYPE_INT64 = 0x6,
  DAT_IB_COLLECTIVE_TYPE_UINT64 = 0x7,
  DAT_IB_COLLECTIVE_TYPE_FLOAT = 0x8,
  DAT_IB_COLLECTIVE_TYPE_DOUBLE = 0x9,
  DAT_IB_COLLECTIVE_TYPE_LONG_DOUBLE = 0xa,
  DAT_IB_COLLECTIVE_TYPE_SHORT_INT = 0xb,
  DAT_IB_COLLECTIVE_TYPE_2INT = 0xc,
  DAT_IB_COLLECTIVE_TYPE_FLOAT_INT = 0xd,
  DAT_IB_COLLECTIVE_TYPE_LONG_INT = 0xe,
  DAT_IB_COLLECTIVE_TYPE_DOUBLE_INT = 0xf
} DAT_IB_COLLECTIVE_DATA_TYPE;

/* What a reduction computes. */
typedef enum dat_ib_collective_reduce_data_op {
  DAT_IB_COLLECTIVE_REDUCE_OP_MAX = 0x0,
  DAT_IB_COLLECTIVE_REDUCE_OP_MIN = 0x1,
  DAT_IB_COLLECTIVE_REDUCE_OP_SUM = 0x2,
  DAT_IB_COLLECTIVE_REDUCE_OP_PROD = 0x3,
  DAT_IB_COLLECTIVE_REDUCE_OP_LAND = 0x4,
  DAT_IB_COLLECTIVE_REDUCE_OP_BAND = 0x5,
  DAT_IB_COLLECTIVE_REDUCE_OP_LOR = 0x6,
  DAT_IB_COLLECTIVE_REDUCE_OP_BOR = 0x7,
  DAT_IB_COLLECTIVE_REDUCE_OP_LXOR = 0x8,
  DAT_IB_COLLECTIVE_REDUCE_OP_BXOR = 0x9,
  DAT_IB_COLLECTIVE_REDUCE_OP_MAXLOC = 0xa,
  DAT_IB_COLLECTIVE_REDUCE_OP_MINLOC = 0xb
} DAT_IB_COLLECTIVE_REDUCE_DATA_OP;

typedef unsigned int DAT_IB_COLLECTIVE_RANK; /* number of a process in its group */
typedef unsigned int DAT_IB_COLLECTIVE_ID;   /* names a group */
typedef void* DAT_IB_COLLECTIVE_MEMBER;      /* address of a process, to be given to the others */

/* How the processes of a group lie on hosts. */
typedef struct dat_ib_collective_group {
  int local_size;
  int local_rank;
  int* local_ranks;
  int external_size;
  int external_rank;
  int* external_ranks;
  int* intranode_table;
  int* internode_table;
  int is_comm_world;
} DAT_IB_COLLECTIVE_GROUP;

SOFTDAT_END_DECLS

/* ---- groups ---- */

/* Return DAT_SUCCESS, DAT_INVALID_PARAMETER, DAT_INVALID_HANDLE, DAT_NOT_IMPLEMENTED (no
 * collectives in this provider). create_member makes the address of this process, to be exchanged
 * by other means; create_group joins the processes whose addresses are in `members`, and reports by
 * a DAT_IB_COLLECTIVE_EVENT on the EVD with the handle of the group. */
#define dat_ib_collective_create_member(ia_handle, progress_func, member, member_size) \
  dat_extension_op((DAT_IA_HANDLE)(ia_handle), DAT_IB_COLLECTIVE_CREATE_MEMBER_OP,     \
                   (void*)(progress_func), (DAT_IB_COLLECTIVE_MEMBER*)(member),        \
                   (DAT_UINT32*)(member_size))
#define dat_ib_collective_free_member(ia_handle, member)                         \
  dat_extension_op((DAT_IA_HANDLE)(ia_handle), DAT_IB_COLLECTIVE_FREE_MEMBER_OP, \
                   (DAT_IB_COLLECTIVE_MEMBER)(member))
#define dat_ib_collective_create_group(members, group_size, self, group_id, group_info, evd, pd, \
                                       user_context)                                             \
  dat_extension_op((DAT_EVD_HANDLE)(evd), DAT_IB_COLLECTIVE_CREATE_GROUP_OP,                     \
                   (DAT_IB_COLLECTIVE_MEMBER*)(members), (DAT_COUNT)(group_size),                \
                   (DAT_IB_COLLECTIVE_RANK)(self), (DAT_IB_COLLECTIVE_ID)(group_id),             \
                   (DAT_IB_COLLECTIVE_GROUP*)(group_info), (DAT_PZ_HANDLE)(pd), (user_context))
#define dat_ib_collective_free_group(coll_handle) \
  dat_extension_op((DAT_IB_COLLECTIVE_HANDLE)(coll_handle), DAT_IB_COLLECTIVE_FREE_GROUP_OP)
#define dat_ib_collective_set_clock(coll_handle, clock_value, user_context)                 \
  dat_extension_op((DAT_IB_COLLECTIVE_HANDLE)(coll_handle), DAT_IB_COLLECTIVE_SET_CLOCK_OP, \
                   (DAT_UINT64)(clock_value), (user_context))
#define dat_ib_collective_read_clock(coll_handle, clock_value)                               \
  dat_extension_op((DAT_IB_COLLECTIVE_HANDLE)(coll_handle), DAT_IB_COLLECTIVE_READ_CLOCK_OP, \
                   (DAT_UINT64*)(clock_value))

/* ---- operations ---- */

/* Each is called by all processes of the group, in the same order, and does not block; it ends with
 * a DAT_IB_COLLECTIVE_EVENT with user_context. Sizes and displacements are bytes. They return as
 * above. */
#define dat_ib_collective_scatter(coll_handle, sendbuf, sendsize, recvbuf, recvsize, root, \
                                  user_context, flags)                                     \
  dat_extension_op((DAT_IB_COLLECTIVE_HANDLE)(coll_handle), DAT_IB_COLLECTIVE_SCATTER_OP,  \
                   (DAT_PVOID)(sendbuf), (DAT_COUNT)(sendsize), (DAT_PVOID)(recvbuf),      \
                   (DAT_COUNT)(recvsize), (DAT_IB_COLLECTIVE_RANK)(root), (user_context),  \
                   (DAT_COMPLETION_FLAGS)(flags))
#define dat_ib_collective_scatterv(coll_handle, sendbuf, sendsizes, displs, recvbuf, recvsize,  \
                                   root, user_context, flags)                                   \
  dat_extension_op((DAT_IB_COLLECTIVE_HANDLE)(coll_handle), DAT_IB_COLLECTIVE_SCATTERV_OP,      \
                   (DAT_PVOID)(sendbuf), (DAT_COUNT*)(sendsizes), (DAT_COUNT*)(displs),         \
                   (DAT_PVOID)(recvbuf), (DAT_COUNT)(recvsize), (DAT_IB_COLLECTIVE_RANK)(root), \
                   (user_context), (DAT_COMPLETION_FLAGS)(flags))
#define dat_ib_collective_gather(coll_handle, sendbuf, sendsize, recvbuf, recvsize, root, \
                                 user_context, flags)                                     \
  dat_extension_op((DAT_IB_COLLECTIVE_HANDLE)(coll_handle), DAT_IB_COLLECTIVE_GATHER_OP,  \
                   (DAT_PVOID)(sendbuf), (DAT_COUNT)(sendsize), (DAT_PVOID)(recvbuf),     \
                   (DAT_COUNT)(recvsize), (DAT_IB_COLLECTIVE_RANK)(root), (user_context), \
                   (DAT_COMPLETION_FLAGS)(flags))
#define dat_ib_collective_gatherv(coll_handle, sendbuf, sendsize, recvbuf, recvsizes, displs,     \
                                  root, user_context, flags)                                      \
  dat_extension_op((DAT_IB_COLLECTIVE_HANDLE)(coll_handle), DAT_IB_COLLECTIVE_GATHERV_OP,         \
                   (DAT_PVOID)(sendbuf), (DAT_COUNT)(sendsize), (DAT_PVOID)(recvbuf),             \
                   (DAT_COUNT*)(recvsizes), (DAT_COUNT*)(displs), (DAT_IB_COLLECTIVE_RANK)(root), \
                   (user_context), (DAT_COMPLETION_FLAGS)(flags))
#define dat_ib_collective_allgather(coll_handle, sendbuf, sendsize, recvbuf, recvsize,      \
                                    user_context, flags)                                    \
  dat_extension_op((DAT_IB_COLLECTIVE_HANDLE)(coll_handle), DAT_IB_COLLECTIVE_ALLGATHER_OP, \
                   (DAT_PVOID)(sendbuf), (DAT_COUNT)(sendsize), (DAT_PVOID)(recvbuf),       \
                   (DAT_COUNT)(recvsize), (user_context), (DAT_COMPLETION_FLAGS)(flags))
#define dat_ib_collective_allgatherv(coll_handle, sendbuf, sendsize, recvbuf, recvsizes, displs, \
                                     user_context, flags)                                        \
  dat_extension_op((DAT_IB_COLLECTIVE_HANDLE)(coll_handle), DAT_IB_COLLECTIVE_ALLGATHERV_OP,     \
                   (DAT_PVOID)(sendbuf), (DAT_COUNT)(sendsize), (DAT_PVOID)(recvbuf),            \
                   (DAT_COUNT*)(recvsizes), (DAT_COUNT*)(displs), (user_context),                \
                   (DAT_COMPLETION_FLAGS)(flags))
#define dat_ib_collective_alltoall(coll_handle, sendbuf, sendsize, recvbuf, recvsize,      \
                                   user_context, flags)                                    \
  dat_extension_op((DAT_IB_COLLECTIVE_HANDLE)(coll_handle), DAT_IB_COLLECTIVE_ALLTOALL_OP, \
                   (DAT_PVOID)(sendbuf), (DAT_COUNT)(sendsize), (DAT_PVOID)(recvbuf),      \
                   (DAT_COUNT)(recvsize), (user_context), (DAT_COMPLETION_FLAGS)(flags))
#define dat_ib_collective_alltoallv(coll_handle, sendbuf, sendsizes, senddispls, recvbuf,   \
                                    recvsizes, recvdispls, user_context, flags)             \
  dat_extension_op((DAT_IB_COLLECTIVE_HANDLE)(coll_handle), DAT_IB_COLLECTIVE_ALLTOALLV_OP, \
                   (DAT_PVOID)(sendbuf), (DAT_COUNT*)(sendsizes), (DAT_COUNT*)(senddispls), \
                   (DAT_PVOID)(recvbuf), (DAT_COUNT*)(recvsizes), (DAT_COUNT*)(recvdispls), \
                   (user_context), (DAT_COMPLETION_FLAGS)(flags))
#define dat_ib_collective_reduce(coll_handle, sendbuf, sendsize, recvbuf, recvsize, op, type, \
                                 root, user_context, flags)                                   \
  dat_extension_op((DAT_IB_COLLECTIVE_HANDLE)(coll_handle), DAT_IB_COLLECTIVE_REDUCE_OP,      \
                   (DAT_PVOID)(sendbuf), (DAT_COUNT)(sendsize), (DAT_PVOID)(recvbuf),         \
                   (DAT_COUNT)(recvsize), (DAT_IB_COLLECTIVE_REDUCE_DATA_OP)(op),             \
                   (DAT_IB_COLLECTIVE_DATA_TYPE)(type), (DAT_IB_COLLECTIVE_RANK)(root),       \
                   (user_context), (DAT_COMPLETION_FLAGS)(flags))
#define dat_ib_collective_allreduce(coll_handle, sendbuf, sendsize, recvbuf, recvsize, op, type, \
                                    user_context, flags)                                         \
  dat_extension_op((DAT_IB_COLLECTIVE_HANDLE)(coll_handle), DAT_IB_COLLECTIVE_ALLREDUCE_OP,      \
                   (DAT_PVOID)(sendbuf), (DAT_COUNT)(sendsize), (DAT_PVOID)(recvbuf),            \
                   (DAT_COUNT)(recvsize), (DAT_IB_COLLECTIVE_REDUCE_DATA_OP)(op),                \
                   (DAT_IB_COLLECTIVE_DATA_TYPE)(type), (user_context),                          \
                   (DAT_COMPLETION_FLAGS)(flags))
#define dat_ib_collective_reduce_scatter(coll_handle, sendbuf, sendsize, recvbuf, recvsizes, op, \
                                         type, user_context, flags)                              \
  dat_extension_op((DAT_IB_COLLECTIVE_HANDLE)(coll_handle), DAT_IB_COLLECTIVE_REDUCE_SCATTER_OP, \
                   (DAT_PVOID)(sendbuf), (DAT_COUNT)(sendsize), (DAT_PVOID)(recvbuf),            \
                   (DAT_COUNT*)(recvsizes), (DAT_IB_COLLECTIVE_REDUCE_DATA_OP)(op),              \
                   (DAT_IB_COLLECTIVE_DATA_TYPE)(type), (user_context),                          \
                   (DAT_COMPLETION_FLAGS)(flags))
#define dat_ib_collective_scan(coll_handle, sendbuf, sendsize, recvbuf, recvsize, op, type, \
                               user_context, flags)                                         \
  dat_extension_op((DAT_IB_COLLECTIVE_HANDLE)(coll_handle), DAT_IB_COLLECTIVE_SCAN_OP,      \
                   (DAT_PVOID)(sendbuf), (DAT_COUNT)(sendsize), (DAT_PVOID)(recvbuf),       \
                   (DAT_COUNT)(recvsize), (DAT_IB_COLLECTIVE_REDUCE_DATA_OP)(op),           \
                   (DAT_IB_COLLECTIVE_DATA_TYPE)(type), (user_context),                     \
                   (DAT_COMPLETION_FLAGS)(flags))
#define dat_ib_collective_broadcast(coll_handle, buf, size, root, user_context, flags)      \
  dat_extension_op((DAT_IB_COLLECTIVE_HANDLE)(coll_handle), DAT_IB_COLLECTIVE_BROADCAST_OP, \
                   (DAT_PVOID)(buf), (DAT_COUNT)(size), (DAT_IB_COLLECTIVE_RANK)(root),     \
                   (user_context), (DAT_COMPLETION_FLAGS)(flags))
#define dat_ib_collective_barrier(coll_handle, user_context, flags)                       \
  dat_extension_op((DAT_IB_COLLECTIVE_HANDLE)(coll_handle), DAT_IB_COLLECTIVE_BARRIER_OP, \
                   (user_context), (DAT_COMPLETION_FLAGS)(flags))

#endif /* SOFTDAT_DAT2_API_IB_COLLECTIVE_H_ */
