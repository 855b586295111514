/* SPDX-License-Identifier: BSD-3-Clause */
/* dat/api/memory.h: protection zones, local memory regions, remote memory regions (windows)
 * (DAT 1.2, memory). Include dat/udat.h, not this file.
 *
 * Each call works as the 2.0 call of the same name; dat2/api/memory.h has the full text:
 * parameters, return values, threads, clauses. The words are 1.2's (dat/dat_error.h).
 * dat_lmr_create() and dat_rmr_bind() have no va_type: addresses are virtual ones. dat_rmr_bind()
 * has no lmr_handle: the context in its triplet says which region it is. */
#ifndef SOFTDAT_DAT_API_MEMORY_H_
#define SOFTDAT_DAT_API_MEMORY_H_

#include <dat/api/attributes.h>
#include <dat/api/types.h>

SOFTDAT_BEGIN_DECLS

/* ---- protection zone ---- */

typedef enum dat_pz_param_mask {
  DAT_PZ_FIELD_IA_HANDLE = 0x1,
  DAT_PZ_FIELD_ALL = 0x1
} DAT_PZ_PARAM_MASK;

typedef struct dat_pz_param {
  DAT_IA_HANDLE ia_handle;
} DAT_PZ_PARAM;

DAT_EXPORT DAT_RETURN DAT_API dat_pz_create(DAT_IA_HANDLE ia_handle, DAT_PZ_HANDLE* pz_handle);

DAT_EXPORT DAT_RETURN DAT_API dat_pz_query(DAT_PZ_HANDLE pz_handle, DAT_PZ_PARAM_MASK pz_param_mask,
                                           DAT_PZ_PARAM* pz_param);

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
  DAT_LMR_FIELD_LMR_CONTEXT = 0x40,
  DAT_LMR_FIELD_RMR_CONTEXT = 0x80,
  DAT_LMR_FIELD_REGISTERED_SIZE = 0x100,
  DAT_LMR_FIELD_REGISTERED_ADDRESS = 0x200,
  DAT_LMR_FIELD_ALL = 0x3ff
} DAT_LMR_PARAM_MASK;

/* What dat_lmr_query() answers. */
typedef struct dat_lmr_param {
  DAT_IA_HANDLE ia_handle;
  DAT_MEM_TYPE mem_type;
  DAT_REGION_DESCRIPTION region_desc;
  DAT_VLEN length; /* bytes asked for */
  DAT_PZ_HANDLE pz_handle;
  DAT_MEM_PRIV_FLAGS mem_priv;
  DAT_LMR_CONTEXT lmr_context;
  DAT_RMR_CONTEXT rmr_context;
  DAT_VLEN registered_size; /* bytes that are really registered */
  DAT_VADDR registered_address;
} DAT_LMR_PARAM;

DAT_EXPORT DAT_RETURN DAT_API dat_lmr_create(
    DAT_IA_HANDLE ia_handle, DAT_MEM_TYPE mem_type, DAT_REGION_DESCRIPTION region_description,
    DAT_VLEN length, DAT_PZ_HANDLE pz_handle, DAT_MEM_PRIV_FLAGS privileges,
    DAT_LMR_HANDLE* lmr_handle, DAT_LMR_CONTEXT* lmr_context, DAT_RMR_CONTEXT* rmr_context,
    DAT_VLEN* registered_size, DAT_VADDR* registered_address);

DAT_EXPORT DAT_RETURN DAT_API dat_lmr_query(DAT_LMR_HANDLE lmr_handle,
                                            DAT_LMR_PARAM_MASK lmr_param_mask,
                                            DAT_LMR_PARAM* lmr_param);

DAT_EXPORT DAT_RETURN DAT_API dat_lmr_free(DAT_LMR_HANDLE lmr_handle);

DAT_EXPORT DAT_RETURN DAT_API dat_lmr_sync_rdma_read(DAT_IA_HANDLE ia_handle,
                                                     const DAT_LMR_TRIPLET* local_segments,
                                                     DAT_VLEN num_segments);

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
  DAT_RMR_FIELD_ALL = 0x1f
} DAT_RMR_PARAM_MASK;

/* What dat_rmr_query() answers; the triplet means nothing while the window is unbound. */
typedef struct dat_rmr_param {
  DAT_IA_HANDLE ia_handle;
  DAT_PZ_HANDLE pz_handle;
  DAT_LMR_TRIPLET lmr_triplet;
  DAT_MEM_PRIV_FLAGS mem_priv;
  DAT_RMR_CONTEXT rmr_context;
} DAT_RMR_PARAM;

DAT_EXPORT DAT_RETURN DAT_API dat_rmr_create(DAT_PZ_HANDLE pz_handle, DAT_RMR_HANDLE* rmr_handle);

DAT_EXPORT DAT_RETURN DAT_API dat_rmr_query(DAT_RMR_HANDLE rmr_handle,
                                            DAT_RMR_PARAM_MASK rmr_param_mask,
                                            DAT_RMR_PARAM* rmr_param);

DAT_EXPORT DAT_RETURN DAT_API dat_rmr_bind(DAT_RMR_HANDLE rmr_handle,
                                           const DAT_LMR_TRIPLET* lmr_triplet,
                                           DAT_MEM_PRIV_FLAGS mem_privileges,
                                           DAT_EP_HANDLE ep_handle, DAT_RMR_COOKIE user_cookie,
                                           DAT_COMPLETION_FLAGS completion_flags,
                                           DAT_RMR_CONTEXT* rmr_context);

DAT_EXPORT DAT_RETURN DAT_API dat_rmr_free(DAT_RMR_HANDLE rmr_handle);

SOFTDAT_END_DECLS

#endif /* SOFTDAT_DAT_API_MEMORY_H_ */
