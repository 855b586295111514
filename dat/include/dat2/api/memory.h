/* SPDX-License-Identifier: BSD-3-Clause */
/* dat2/api/memory.h: protection zones, local memory regions, remote memory regions (windows)
 * (DAT 2.0, memory). Include dat2/udat.h, not this file. */
#ifndef SOFTDAT_DAT2_API_MEMORY_H_
#define SOFTDAT_DAT2_API_MEMORY_H_

#include <dat2/api/attributes.h>
#include <dat2/api/types.h>

SOFTDAT_BEGIN_DECLS

/* ---- protection zone ---- */

typedef enum dat_pz_param_mask {
  DAT_PZ_FIELD_IA_HANDLE = 0x1,
  DAT_PZ_FIELD_ALL = 0x1
} DAT_PZ_PARAM_MASK;

typedef struct dat_pz_param {
  DAT_IA_HANDLE ia_handle;
} DAT_PZ_PARAM;

/* Makes a protection zone (PZ). An EP reaches only memory of its own zone, locally and for its
 * peer.
 *
 * @param pz_handle [out] the zone.
 * @return DAT_SUCCESS; DAT_INVALID_PARAMETER (ARG2: NULL); DAT_INVALID_HANDLE
 *     (INVALID_HANDLE_IA); DAT_INSUFFICIENT_RESOURCES (RESOURCE_PROTECTION_DOMAIN)
 *
 * Does not block. Any thread. DAT 2.0, PZ create.
 */
DAT_EXPORT DAT_RETURN DAT_API dat_pz_create(DAT_IA_HANDLE ia_handle, DAT_PZ_HANDLE* pz_handle);

/* Reads the parameters of a zone.
 *
 * @param pz_param_mask DAT_PZ_FIELD_* that are wanted.
 * @param pz_param [out] the parameters.
 * @return DAT_SUCCESS; DAT_INVALID_PARAMETER (ARG2: mask; ARG3: NULL); DAT_INVALID_HANDLE
 *
 * Does not block. Any thread. DAT 2.0, PZ query.
 */
DAT_EXPORT DAT_RETURN DAT_API dat_pz_query(DAT_PZ_HANDLE pz_handle, DAT_PZ_PARAM_MASK pz_param_mask,
                                           DAT_PZ_PARAM* pz_param);

/* Destroys a zone.
 *
 * @return DAT_SUCCESS; DAT_INVALID_STATE (INVALID_STATE_PZ_IN_USE: an EP, LMR, RMR or SRQ
 *     belongs to it)
 *
 * Does not block. Any thread. DAT 2.0, PZ free.
 */
DAT_EXPORT DAT_RETURN DAT_API dat_pz_free(DAT_PZ_HANDLE pz_handle);

/* ---- local memory region ---- */

#define DAT_LMR_COOKIE_SIZE 40 /* bytes */

/* Names a registration that several processes share; all bytes count, it is not a text. */
typedef char (*DAT_LMR_COOKIE)[DAT_LMR_COOKIE_SIZE];

typedef struct dat_shared_memory {
  DAT_PVOID virtual_address;
  DAT_LMR_COOKIE shared_memory_id;
} DAT_SHARED_MEMORY;

/* What to register; which member counts says DAT_MEM_TYPE. */
typedef union dat_region_description {
  DAT_PVOID for_va;                    /* DAT_MEM_TYPE_VIRTUAL: its address */
  DAT_LMR_HANDLE for_lmr_handle;       /* DAT_MEM_TYPE_LMR */
  DAT_SHARED_MEMORY for_shared_memory; /* DAT_MEM_TYPE_SHARED_VIRTUAL */
} DAT_REGION_DESCRIPTION;

typedef enum dat_lmr_param_mask {
  DAT_LMR_FIELD_IA_HANDLE = 0x1,
  DAT_LMR_FIELD_MEM_TYPE = 0x2,
  DAT_LMR_FIELD_REGION_DESC = 0x4,
  DAT_LMR_FIELD_LENGTH = 0x8,
  DAT_LMR_FIELD_PZ_HANDLE = 0x10,
  DAT_LMR_FIELD_MEM_PRIV = 0x20,
  DAT_LMR_FIELD_VA_TYPE = 0x40,
  DAT_LMR_FIELD_LMR_CONTEXT = 0x80,
  DAT_LMR_FIELD_RMR_CONTEXT = 0x100,
  DAT_LMR_FIELD_REGISTERED_SIZE = 0x200,
  DAT_LMR_FIELD_REGISTERED_ADDRESS = 0x400,
  DAT_LMR_FIELD_ALL = 0x7ff
} DAT_LMR_PARAM_MASK;

/* What dat_lmr_query() answers. */
typedef struct dat_lmr_param {
  DAT_IA_HANDLE ia_handle;
  DAT_MEM_TYPE mem_type;
  DAT_REGION_DESCRIPTION region_desc;
  DAT_VLEN length; /* bytes asked for */
  DAT_PZ_HANDLE pz_handle;
  DAT_MEM_PRIV_FLAGS mem_priv;
  DAT_VA_TYPE va_type;
  DAT_LMR_CONTEXT lmr_context;
  DAT_RMR_CONTEXT rmr_context;
  DAT_VLEN registered_size; /* bytes that are really registered */
  DAT_VADDR registered_address;
} DAT_LMR_PARAM;

/* Registers memory, so that data can be sent from it, received into it, and reached by peers.
 *
 * The memory must stay mapped until the region is freed; any address and length will do. A
 * region that is freed while transfers use it makes them fail.
 *
 * @param mem_type which kind of memory; says which member of the next parameter counts.
 * @param region_description where it is: an address; an existing region (its memory with
 *     another zone or other privileges); or an address and a cookie of DAT_LMR_COOKIE_SIZE
 *     bytes: all processes that give the same cookie share one registration.
 * @param length bytes, not 0; ignored for DAT_MEM_TYPE_LMR.
 * @param pz_handle zone that it will belong to.
 * @param privileges what may be done with it; bits. Local read is always granted.
 * @param va_type do addresses in triplets count from 0 of the address space, or of the
 *     region?
 * @param lmr_handle [out] the region.
 * @param lmr_context [out] for local segments; may be NULL.
 * @param rmr_context [out] for the peer, to reach the whole region; 0 if privileges has no
 *     remote one; may be NULL.
 * @param registered_size [out] bytes that are registered, at least length; may be NULL.
 * @param registered_address [out] where they start, at or before the region; may be NULL.
 * @return DAT_SUCCESS
 *     DAT_INVALID_HANDLE (INVALID_HANDLE_IA, INVALID_HANDLE_PZ, INVALID_HANDLE_LMR)
 *     DAT_INVALID_PARAMETER (ARG2: type; ARG3: a range that wraps, or NULL cookie; ARG6:
 *         privileges; ARG7: va_type or lmr_handle is NULL)
 *     DAT_LENGTH_ERROR (length is 0)
 *     DAT_INVALID_ADDRESS (a page of it is not mapped, or lies behind the end of its file)
 *     DAT_PRIVILEGES_VIOLATION (a page of it may not be read, or not be written while privileges
 *         has a right to write; the protection of pages is that of mmap and mprotect)
 *     DAT_INVALID_STATE (shared type: the memory is not shared between processes)
 *     DAT_MODEL_NOT_SUPPORTED (type or va_type that this provider does not have; see its
 *         attributes)
 *     DAT_INSUFFICIENT_RESOURCES (RESOURCE_MEMORY_REGION)
 *
 * May block: hardware providers pin the pages. Any thread. DAT 2.0, LMR create.
 */
DAT_EXPORT DAT_RETURN DAT_API dat_lmr_create(
    DAT_IA_HANDLE ia_handle, DAT_MEM_TYPE mem_type, DAT_REGION_DESCRIPTION region_description,
    DAT_VLEN length, DAT_PZ_HANDLE pz_handle, DAT_MEM_PRIV_FLAGS privileges, DAT_VA_TYPE va_type,
    DAT_LMR_HANDLE* lmr_handle, DAT_LMR_CONTEXT* lmr_context, DAT_RMR_CONTEXT* rmr_context,
    DAT_VLEN* registered_size, DAT_VADDR* registered_address);

/* Reads the parameters of a region.
 *
 * @param lmr_param_mask DAT_LMR_FIELD_* that are wanted.
 * @param lmr_param [out] the parameters.
 * @return DAT_SUCCESS; DAT_INVALID_PARAMETER (ARG2: mask; ARG3: NULL); DAT_INVALID_HANDLE
 *
 * Does not block. Any thread. DAT 2.0, LMR query.
 */
DAT_EXPORT DAT_RETURN DAT_API dat_lmr_query(DAT_LMR_HANDLE lmr_handle,
                                            DAT_LMR_PARAM_MASK lmr_param_mask,
                                            DAT_LMR_PARAM* lmr_param);

/* Destroys a region; its contexts are refused from now on. Transfers that still use it fail,
 * and their connection breaks.
 *
 * @return DAT_SUCCESS; DAT_INVALID_STATE (INVALID_STATE_LMR_IN_USE: a window is bound to
 *     it)
 *
 * May block as long as a thread of the provider is copying from or to it. Any thread. DAT 2.0,
 * LMR free.
 */
DAT_EXPORT DAT_RETURN DAT_API dat_lmr_free(DAT_LMR_HANDLE lmr_handle);

/* Makes what the program wrote visible to RDMA reads of the peer. Needed only where the
 * attribute lmr_sync_req is true; elsewhere it checks its arguments.
 *
 * @param local_segments pieces of regions.
 * @param num_segments how many; 0 is allowed, and so are segments of 0 bytes.
 * @return DAT_SUCCESS; DAT_INVALID_PARAMETER (ARG2: NULL, unknown context or out of bounds;
 *     ARG3: count); DAT_INVALID_HANDLE (INVALID_HANDLE_IA)
 *
 * Does not block. Any thread. DAT 2.0, LMR sync RDMA read.
 */
DAT_EXPORT DAT_RETURN DAT_API dat_lmr_sync_rdma_read(DAT_IA_HANDLE ia_handle,
                                                     const DAT_LMR_TRIPLET* local_segments,
                                                     DAT_VLEN num_segments);

/* Makes what RDMA writes of the peer put there visible to the program. Otherwise as
 * dat_lmr_sync_rdma_read().
 *
 * @param local_segments pieces of regions.
 * @param num_segments how many; 0 is allowed, and so are segments of 0 bytes.
 * @return DAT_SUCCESS; DAT_INVALID_PARAMETER (ARG2: NULL, unknown context or out of bounds;
 *     ARG3: count); DAT_INVALID_HANDLE (INVALID_HANDLE_IA)
 *
 * Does not block. Any thread. DAT 2.0, LMR sync RDMA write.
 */
DAT_EXPORT DAT_RETURN DAT_API dat_lmr_sync_rdma_write(DAT_IA_HANDLE ia_handle,
                                                      const DAT_LMR_TRIPLET* local_segments,
                                                      DAT_VLEN num_segments);

/* ---- remote memory region (memory window) ---- */

typedef enum dat_rmr_param_mask {
  DAT_RMR_FIELD_IA_HANDLE = 0x1,
  DAT_RMR_FIELD_PZ_HANDLE = 0x2,
  DAT_RMR_FIELD_LMR_TRIPLET = 0x4,
  DAT_RMR_FIELD_MEM_PRIV = 0x8,
  DAT_RMR_FIELD_RMR_CONTEXT = 0x10,
  DAT_RMR_FIELD_RMR_SCOPE = 0x20,
  DAT_RMR_FIELD_VA_TYPE = 0x40,
  DAT_RMR_FIELD_ALL = 0x7f
} DAT_RMR_PARAM_MASK;

/* What dat_rmr_query() answers; the triplet means nothing while the window is unbound. */
typedef struct dat_rmr_param {
  DAT_IA_HANDLE ia_handle;
  DAT_PZ_HANDLE pz_handle;
  DAT_LMR_TRIPLET lmr_triplet;
  DAT_MEM_PRIV_FLAGS mem_priv;
  DAT_RMR_CONTEXT rmr_context;
  DAT_RMR_SCOPE rmr_scope;
  DAT_VA_TYPE va_type;
} DAT_RMR_PARAM;

/* Makes a memory window (RMR), not bound to any memory: a cheap way to show a part of a region
 * to a peer for a while.
 *
 * @param rmr_handle [out] the window, good over any EP of the zone (scope PZ).
 * @return DAT_SUCCESS; DAT_INVALID_PARAMETER (ARG2: NULL); DAT_INVALID_HANDLE
 *     (INVALID_HANDLE_PZ); DAT_INSUFFICIENT_RESOURCES
 *
 * Does not block. Any thread. DAT 2.0, RMR create.
 */
DAT_EXPORT DAT_RETURN DAT_API dat_rmr_create(DAT_PZ_HANDLE pz_handle, DAT_RMR_HANDLE* rmr_handle);

/* As dat_rmr_create(), but the window is good only over the EP that it is bound on (scope EP).
 *
 * @param rmr_handle [out] the window.
 * @return as dat_rmr_create(); DAT_MODEL_NOT_SUPPORTED
 *
 * Does not block. Any thread. DAT 2.0, RMR create for EP.
 */
DAT_EXPORT DAT_RETURN DAT_API dat_rmr_create_for_ep(DAT_PZ_HANDLE pz_handle,
                                                    DAT_RMR_HANDLE* rmr_handle);

/* Reads the parameters of a window.
 *
 * @param rmr_param_mask DAT_RMR_FIELD_* that are wanted.
 * @param rmr_param [out] the parameters; the triplet means nothing while it is unbound.
 * @return DAT_SUCCESS; DAT_INVALID_PARAMETER (ARG2: mask; ARG3: NULL); DAT_INVALID_HANDLE
 *
 * Does not block. Any thread. DAT 2.0, RMR query.
 */
DAT_EXPORT DAT_RETURN DAT_API dat_rmr_query(DAT_RMR_HANDLE rmr_handle,
                                            DAT_RMR_PARAM_MASK rmr_param_mask,
                                            DAT_RMR_PARAM* rmr_param);

/* Posts a request that binds a window to a part of a region, or unbinds it (length 0). It takes
 * a place in the EP's request queue; its completion is a DAT_RMR_BIND_COMPLETION_EVENT on the
 * request EVD. No request that is posted later on this EP starts before it is done, so the new
 * context may be sent to the peer at once. Earlier contexts of the window are refused when it
 * is done. A bind that fails after it was posted breaks the connection.
 *
 * @param lmr_handle the region; until the next bind, unbind or free it can not be freed.
 * @param lmr_triplet the part of the region.
 * @param mem_privileges what the peer may do: remote read and remote write; the region must
 *     grant local read or local write for them.
 * @param va_type how the peer's addresses count in the window.
 * @param ep_handle EP on whose queue it goes: CONNECTED, or DISCONNECTED (then it is
 *     flushed).
 * @param user_cookie comes back in the completion.
 * @param completion_flags of the request.
 * @param rmr_context [out] the new context, different from all earlier ones; undefined for
 *     an unbind.
 * @return DAT_SUCCESS
 *     DAT_INVALID_HANDLE (INVALID_HANDLE_RMR, INVALID_HANDLE_LMR, INVALID_HANDLE_EP)
 *     DAT_INVALID_PARAMETER (ARG3: NULL, another context, or outside of the region; ARG4,
 *         ARG5, ARG8: flags; ARG9: NULL)
 *     DAT_INVALID_STATE (INVALID_STATE_EP_*)
 *     DAT_PRIVILEGES_VIOLATION (the region does not grant it)
 *     DAT_PROTECTION_VIOLATION (window, region and EP are not of one zone)
 *     DAT_INSUFFICIENT_RESOURCES (the request queue is full)
 *     DAT_MODEL_NOT_SUPPORTED
 *
 * Does not block. Any thread. DAT 2.0, RMR bind.
 */
DAT_EXPORT DAT_RETURN DAT_API dat_rmr_bind(DAT_RMR_HANDLE rmr_handle, DAT_LMR_HANDLE lmr_handle,
                                           const DAT_LMR_TRIPLET* lmr_triplet,
                                           DAT_MEM_PRIV_FLAGS mem_privileges, DAT_VA_TYPE va_type,
                                           DAT_EP_HANDLE ep_handle, DAT_RMR_COOKIE user_cookie,
                                           DAT_COMPLETION_FLAGS completion_flags,
                                           DAT_RMR_CONTEXT* rmr_context);

/* Destroys a window; if it is bound, the peer's accesses through it are refused from now on.
 *
 * @return DAT_SUCCESS; DAT_INVALID_HANDLE (INVALID_HANDLE_RMR)
 *
 * Does not block. Any thread. DAT 2.0, RMR free.
 */
DAT_EXPORT DAT_RETURN DAT_API dat_rmr_free(DAT_RMR_HANDLE rmr_handle);

SOFTDAT_END_DECLS

#endif /* SOFTDAT_DAT2_API_MEMORY_H_ */
